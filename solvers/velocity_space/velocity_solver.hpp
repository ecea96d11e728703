#pragma once

#include <functional>
#include <memory>
#include <string>

#include "solvers/core/solver.hpp"
#include "solvers/linear/conjugate_gradients.hpp"
#include "solvers/velocity_space/machine_rates.hpp"
#include "solvers/velocity_space/thinned_factor.hpp"
#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

/// Solves with S: conjugate gradients with an incomplete factorisation as long as they cost less
/// than a sparse factorisation, then the factorisation. Both costs are counted, not timed
/// (MachineRates): equal problems are solved in the same way whatever the load.
///
/// What is factored is thinned (ThinnedFactor), and conjugate gradients on the whole of S,
/// preconditioned by that, do the rest. As S >= 1, that takes some iterations whatever the spectrum
/// of S.
class VelocitySolver {
 public:
  struct Options {
    std::string method = "auto";  ///< auto, cg, cholesky
    int max_iterations = 3000;
    MachineRates rates{};  ///< for auto
    /// Blocks of S below this norm [no unit, as S] are left out of the factor; 0: none
    double thinning = 0;
    /// Whether a matrix that rounding has left indefinite may be factored with its diagonal times
    /// 1 + 1e-15, 1e-14, ...; solutions are then approximate, as directions may be.
    bool shifts = true;
    std::string factor = "cholmod";  ///< who factors: one of factor_libraries()
  };
  enum class Outcome { solved, failed, out_of_time };
  /// How the method ends that has asked for a solve.
  struct End {
    Status status;
    std::string message;
  };

  VelocitySolver(const Options& options, VelocitySystem& system, Observer& observer, Info& info);

  /// To be called after every VelocitySystem::assemble.
  void matrix_changed();

  /// x = S^-1 b. @param x  in: initial guess
  /// @param speed  CG stops when no body's residual is worth more than this speed, m/s
  Outcome solve(const Teuchos::RCP<const Vector>& b, const Teuchos::RCP<Vector>& x, double speed);

  /// True once a factorisation is used.
  bool direct() const { return direct_; }
  /// How many solves cost as much as the factorisation in use: both counted, as for `auto`. 0 where
  /// there is none, or where the system is so small that starting kernels is what costs.
  double solves_per_factorisation() const;
  /// The end of a method whose solve did not succeed; past a limit the observer looks once more.
  End give_up(Outcome outcome, const std::function<void(Vector&)>& write_gamma);

 private:
  void leave_conjugate_gradients();
  Outcome solve_direct(const Teuchos::RCP<const Vector>& b, const Teuchos::RCP<Vector>& x,
                       double speed);
  Outcome solve_thinned(const Teuchos::RCP<const Vector>& b, const Teuchos::RCP<Vector>& x,
                        double speed);
  KrylovResult iterate(ConjugateGradients& cg, const Vector& b, Vector& x, double speed,
                       const std::function<bool(int)>& enough);
  bool too_many(long iterations);
  double cg_cost(long iterations) const;

  Options options_;
  VelocitySystem& system_;
  Observer& observer_;
  Info& info_;
  std::string message_;
  bool direct_ = false, late_ = false;
  bool factorised_ = false, preconditioned_ = false;
  long iterations_ = 0;  ///< of conjugate gradients on the present matrix
  std::unique_ptr<ConjugateGradients> cg_;
  ThinnedFactor factor_;
  std::unique_ptr<ConjugateGradients> thinned_cg_;
};

/// Adds both to the options of a solver that has VelocitySolver::Options::method and factor.
OptionList& list_linear_solver(OptionList& list, std::string& method, std::string& factor);

}  // namespace ccp
