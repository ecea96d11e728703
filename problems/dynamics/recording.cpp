#include "problems/dynamics/recording.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "problems/base/error.hpp"

namespace ccp {
namespace {

/// @throws InputError if the solver diverged
Step checked_step(Stepper& stepper, Bodies& bodies, StepSolver& solver,
                  const StepAccuracy& accuracy, const std::string& where) {
  Step step = stepper.step(bodies, solver, accuracy);
  if (!std::isfinite(step.speed)) throw InputError(where + ": the step solver diverged");
  return step;
}

}  // namespace

OptionList SequenceOptions::list() {
  return OptionList("of steps", "sequence")
      .integer("steps", steps, {1, 10000}, "Number of time steps in the sequence")
      .number("from", from, {},
              "Simulated time of the first step (negative: when all is at rest), s")
      .number("residual", accuracy.residual, OptionList::Range::positive(),
              "Residual of the solutions of its steps");
}

int come_to_rest(Stepper& stepper, Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                 double speed, int most) {
  double fastest = 0;
  for (int steps = 1; steps <= most; ++steps) {
    fastest = checked_step(stepper, bodies, solver, accuracy,
                           fmt::format("coming to rest, step {}", steps))
                  .speed;
    if (fastest < speed) return steps;
  }
  throw InputError(
      fmt::format("not at rest after {} steps: fastest sphere {:.3g} m/s, asked for {:g}", most,
                  fastest, speed));
}

std::vector<ContactProblem> record_steps(Stepper& stepper, Bodies& bodies, StepSolver& solver,
                                         const StepAccuracy& accuracy, std::size_t steps,
                                         const std::string& name) {
  std::vector<ContactProblem> recorded;
  for (std::size_t k = 0; k < steps; ++k) {
    Step step =
        checked_step(stepper, bodies, solver, accuracy, fmt::format("{}, step {}", name, k));
    ContactProblem& problem = step.problem;
    problem.name = fmt::format("{}-{:04}", name, k);
    problem.reference = Reference{std::move(step.gamma), {}, {}, ""};
    problem.source.kind = "generated";
    problem.source.licence = "BSD-3-Clause";
    recorded.push_back(std::move(problem));
  }
  return recorded;
}

}  // namespace ccp
