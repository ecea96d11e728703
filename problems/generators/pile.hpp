#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "problems/contact_detection.hpp"

namespace ccp {

/// How well one time step of a simulation is to be solved.
struct StepAccuracy {
  double error = 1e-3;       ///< the papers' max(cost, feas), SI units
  int max_iterations = 1000; ///< outer iterations
};

/// Solves the contact problem of one time step. A generator gets it injected: problems/ knows no solver.
class StepSolver {
 public:
  virtual ~StepSolver() = default;
  /// @param gamma  [n][3] N s; in: guess, out: impulses
  virtual void solve(const ContactProblem& problem, const StepAccuracy& accuracy,
                     std::vector<double>& gamma) = 0;
};

}  // namespace ccp
