#pragma once

#include <limits>
#include <string>
#include <vector>

#include "problems/base/options.hpp"
#include "problems/dynamics/stepper.hpp"

namespace ccp {

/// What of a simulation becomes a sequence.
struct SequenceOptions {
  std::string name = "sequence";
  std::uint64_t steps = 5;
  double from = -1;  ///< s, simulated time of the first step; negative: when all is at rest
  StepAccuracy accuracy{std::numeric_limits<double>::infinity(), 300, 1e-10, 1};

  OptionList list();
};

/// Steps until no body is faster than `speed` m/s. @return the number of steps
/// @throws InputError if that takes more than `most` steps, or the solver diverges
int come_to_rest(Stepper& stepper, Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                 double speed, int most);

/// Solves `steps` steps accurately, each from what the step before gives, and keeps them with their
/// solutions as references, named NAME-0000, NAME-0001, ...
/// @throws InputError if the solver diverges
std::vector<ContactProblem> record_steps(Stepper& stepper, Bodies& bodies, StepSolver& solver,
                                         const StepAccuracy& accuracy, std::size_t steps,
                                         const std::string& name);

}  // namespace ccp
