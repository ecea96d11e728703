#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// How well the contact problem of one time step is to be solved: to both bounds.
struct StepAccuracy {
  double error = 1e-3;       ///< the papers' max(cost, feas), SI units
  int max_iterations = 100;  ///< outer iterations
  double residual = std::numeric_limits<double>::infinity();  ///< scale-free
  int interval = 20;       ///< outer iterations between looks at these
  bool converged = false;  ///< in place of the bounds: until the solver itself has converged

  bool bounded() const { return std::isfinite(error) || std::isfinite(residual); }
  /// Both bounds; what has none is not looked at, so it may be NaN.
  bool met(double error_found, double residual_found) const {
    return (std::isinf(error) || error_found <= error) &&
           (std::isinf(residual) || residual_found <= residual);
  }
};

/// Solves the contact problem of one time step. Whoever makes steps gets it injected: problems/
/// knows no solver. Must be deterministic, or the simulation is not.
class StepSolver {
 public:
  virtual ~StepSolver() = default;
  /// @param gamma  [n][3] N s; in: guess, out: impulses
  /// @throws InputError if the solver was to converge and did not
  virtual void solve(const ContactProblem& problem, const StepAccuracy& accuracy,
                     std::vector<double>& gamma) = 0;
};

}  // namespace ccp
