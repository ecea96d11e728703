#pragma once

#include <functional>
#include <map>
#include <memory>

#include "solvers/core/solver.hpp"
#include "solvers/ipm/newton_solver.hpp"

namespace ccp {

/// Defaults are the values of Kleinert 2014 where it gives one.
struct IpmOptions {
  std::string method = "cg";       ///< one of newton_methods(), Krylov or direct
  KrylovOptions krylov;            ///< cap of 500 iterations per direction
  double krylov_tolerance = 1e-3;  ///< on the relative residual; not given in the papers
  std::string preconditioner = "block_diagonal";  ///< one of preconditioner_ids()
  std::string apply = "matrix_free";              ///< one of newton_operators()
  std::string strategy = "path_following";       ///< or "potential_reduction": sets the three betas
  double beta_cen = 0, beta_1 = 0, beta_bd = 0;  ///< 0: the strategy's value (Sect. 5.2.3)
  double alpha_cen = 0.1, alpha_1 = 1;           ///< bounds on f_cen that choose between the betas
  double start = 0.1;                            ///< x_i = (start, 0, 0), N s (Sect. 5.1)
  double step_fraction = 0.99;                   ///< of the largest step inside the cones
  double min_step = 1e-8;                        ///< a shorter one ends the solve as stagnated
  int max_outer = 100;                           ///< Sect. 5.2.2
  std::string regularization =
      "auto";                   ///< elastic (eqs. 32-33), relative, none; auto: the first possible
  double stiffness_factor = 1;  ///< multiplies the stored contact stiffnesses
  double relative_regularization = 1e-7;  ///< R = this * trace(N)/3n, for "relative"
  std::string units = "si";  ///< of start and the tolerances, or "problem": q/s, q and q^2/s
  double tol_infeasibility = 1e-10;  ///< m/s: tol1 of Algorithm 1, on s |d|_inf
  double tol_cost = 1e-13;           ///< J: tol2 of Algorithm 1, on |x.(y - s d)| / n
};

/// Interior-point method of Kleinert 2014 (Algorithm 1) in the matrix-free form of Kleinert 2017
/// Sect. 4: the CCP in self-dual cones  C ∋ x ⊥ y = N' x + r' ∈ C,  made feasible by an artificial
/// variable s,
///
///     y = N' x + r' + s d,   x o y -> alpha e,   alpha = beta (x.y + s) / 2(n + 1) -> 0,
///
/// with Nesterov-Todd scaling and inexact directions  (P(w) + N' + R) dx = alpha x^-1 - y - ds d.
/// or with exact ones by a direct method.
/// Own residual: max(|x.(y - s d)| / n, s |d|_inf), mixing J and m/s as the papers do.
/// Cost per outer iteration: one Krylov solve and two products with N.
/// Law: convex. Forms: both. Warm start: no. Any Kokkos back end. See README.md beside this file.
class IpmSolver : public Solver {
 public:
  IpmSolver();
  OptionList options() override;
  void check_options(const std::vector<std::string>& given) const override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

  /// A Newton system on its way to be solved.
  struct NewtonStep {
    const NewtonSystem& system;
    const Vector& b;     ///< T(alpha x^-1 - y - ds d), world axes
    long outer;          ///< outer iterations done before it
    double alpha, beta;  ///< alpha = beta x.y / 2n (or its extended form)
    double f_cen, s;     ///< centrality and artificial variable of the iterate
  };
  /// Called with every system before it is solved; may be empty.
  std::function<void(const NewtonStep&)> on_newton_step;

 private:
  double choose_beta(double f_cen) const;

  IpmOptions options_;
  const Problem* problem_ = nullptr;
  Teuchos::RCP<NewtonSystem> system_;
  /// One of each kind, so that options can be set before the choice is known.
  std::map<std::string, std::shared_ptr<Preconditioner>> preconditioners_;
  std::unique_ptr<NewtonSolver> newton_;
};

}  // namespace ccp
