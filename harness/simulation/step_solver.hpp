#pragma once

#include <memory>
#include <string>

#include "problems/dynamics/step_solver.hpp"
#include "solvers/core/solver.hpp"

namespace ccp {

/// A registered solver as the step solver of a scene. It ends a step when the referee measures
/// the accuracy asked for, or at the limit of iterations; it looks at fixed iterations, not at
/// times, so that a simulation is the same on every run. Where both bounds are infinite nobody
/// looks. Kokkos must be running.
class RegisteredStepSolver : public StepSolver {
 public:
  /// @param spec  id[option=value,...]; @throws InputError
  explicit RegisteredStepSolver(const std::string& spec);

  /// @throws InputError if the solver does not take such problems, and, with accuracy.converged, if
  ///         it did not converge: the residual, by its law, that it has reached
  void solve(const ContactProblem& host, const StepAccuracy& accuracy,
             std::vector<double>& gamma) override;

 private:
  SolverSpec spec_;
  std::unique_ptr<Solver> solver_;
};

}  // namespace ccp
