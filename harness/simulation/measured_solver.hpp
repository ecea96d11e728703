#pragma once

#include <memory>
#include <string>

#include "problems/dynamics/step_solver.hpp"
#include "solvers/registry.hpp"

namespace ccp {

/// What the solves of a step took, and what the referee found.
struct SolveTally {
  long solves = 0, outer = 0, krylov = 0;
  double seconds = 0;   ///< set-up and solve, without the referee's looks
  double residual = 0;  ///< the worst, of the solver's law; NaN for impulses that are not finite
  double error = 0;     ///< the papers' measure, the worst; NaN where there is none
  std::string status;   ///< the solver's words, of the solve with the worst residual
  std::string message;  ///< and what it said beside that; may be empty
};

/// A registered solver under the referee, as the solver of the steps of a simulation. A solve ends
/// when the referee measures accuracy.residual by the solver's law and accuracy.error, or at
/// accuracy.max_iterations; the referee looks at outer iterations that are fixed beforehand (1, 2,
/// 3, ..., then ever a fifth further), never at times, so that a simulation is the same on every
/// run. Kokkos must be running.
class MeasuredStepSolver : public StepSolver {
 public:
  /// @param spec  id[option=value,...]; @throws InputError
  explicit MeasuredStepSolver(const std::string& spec);
  ~MeasuredStepSolver() override;

  /// @throws InputError if the solver does not take such problems
  void solve(const ContactProblem& host, const StepAccuracy& accuracy,
             std::vector<double>& gamma) override;

  Law law() const { return solver_->law(); }
  /// Called at every outer iteration that the solver shows, off the clock, with the iterations
  /// made; empty: nobody looks.
  using Watch =
      std::function<void(const ContactProblem&, long outer, const std::vector<double>& gamma)>;
  void set_watch(Watch watch) { watch_ = std::move(watch); }

  /// Of the solves since reset().
  const SolveTally& tally() const { return tally_; }
  void reset() { tally_ = {}; }

 private:
  SolverSpec spec_;
  std::unique_ptr<Solver> solver_;
  SolveTally tally_;
  Watch watch_;
};

}  // namespace ccp
