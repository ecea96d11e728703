#pragma once

#include <map>
#include <memory>

#include "solvers/core/limited_on_ranks.hpp"
#include "solvers/core/solver.hpp"
#include "solvers/ipm/newton_matrix.hpp"
#include "solvers/preconditioners/linear_solver.hpp"

namespace ccp {

/// Defaults are the values of Kleinert 2014 where it gives one. Units are those of `units`: "si",
/// or "problem" with q = rms(r) [m/s] and s = trace(N)/3n [1/kg].
struct IpmOptions {
  std::string method = "cg";       ///< one of linear_methods(), Krylov or direct
  KrylovOptions krylov;            ///< cap of 500 iterations per direction, restart of gmres
  double krylov_tolerance = 1e-3;  ///< in (0, 1], on |b - A dgamma| / |b|; not given in the papers
  std::string preconditioner = "block_diagonal";  ///< one of contact_preconditioner_ids()
  std::string apply = "matrix_free";              ///< products with A: one of linear_operators()
  std::string strategy = "path_following";  ///< or "potential_reduction": sets the three betas
  /// in [0, 1]: alpha = beta (x.y + s) / 2(n + 1) with beta_cen if f_cen <= alpha_cen, beta_1 if
  /// f_cen <= alpha_1, beta_bd otherwise; 0: the strategy's value (Sect. 5.2.3)
  double beta_cen = 0, beta_1 = 0, beta_bd = 0;
  double alpha_cen = 0.1, alpha_1 = 1;  ///< >= 0, bounds on f_cen
  double start = 0.1;                   ///< > 0: x_i = (start, 0, 0), N s or q/s (Sect. 5.1)
  double step_fraction = 0.99;  ///< in (0, 1]: theta = min(1, this * the longest step inside)
  double min_step = 1e-8;       ///< in [0, 1]: a shorter theta ends the solve as stagnated
  int max_outer = 100;          ///< >= 1 (Sect. 5.2.2)
  /// elastic: R = 1/(dt^2 k), k the contact stiffnesses (eqs. 32-33); relative; none; auto: the
  /// first of these that is possible, relative at most 1e-8 beside rolling triples and joints
  std::string regularization = "auto";
  double stiffness_factor = 1;            ///< > 0: multiplies k
  double relative_regularization = 1e-7;  ///< >= 0: R = this * trace(N)/3n, for "relative"
  std::string units = "si";               ///< N s, m/s, J; or "problem": q/s, q and q^2/s
  double tol_infeasibility = 1e-10;       ///< >= 0, m/s or q: tol1 of Algorithm 1, on s |d|_inf
  double tol_cost = 1e-13;  ///< >= 0, J or q^2/s: tol2 of Algorithm 1, on |x.(y - s d)| / n
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
/// Law: convex. Forms: both. Warm start: no. Any Kokkos back end. On several ranks: matrix-free.
/// See README.md beside this file.
class IpmSolver : public Solver, public SystemSource, public LimitedOnRanks {
 public:
  IpmSolver();
  OptionList options() override;
  void check_options(const std::vector<std::string>& given) const override;
  std::string why_not_on_ranks() const override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

 private:
  DeviceArray<double* [2]> regularization(const Problem& problem) const;
  double relative_regularization(const Problem& problem) const;

  IpmOptions options_;
  const Problem* problem_ = nullptr;
  Teuchos::RCP<NewtonSystem> system_;
  /// One of each kind, so that options can be set before the choice is known.
  std::map<std::string, std::shared_ptr<Preconditioner>> preconditioners_;
  std::unique_ptr<NewtonEquations> equations_;
  std::unique_ptr<LinearSolver> newton_;
};

}  // namespace ccp
