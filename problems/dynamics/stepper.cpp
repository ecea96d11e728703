#include "problems/dynamics/stepper.hpp"

#include <utility>

#include "problems/base/error.hpp"

namespace ccp {

std::vector<double> Stepper::own_start(const ContactProblem& problem) const {
  return std::vector<double>(3 * problem.contacts(), 0.0);
}

Step Stepper::step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                   const StepStart& start) {
  Step made;
  made.problem = problem(bodies);
  if (start.guess.empty()) {
    made.gamma = own_start(made.problem);
  } else {
    const auto guess = made.problem.guesses.find(start.guess);
    if (guess == made.problem.guesses.end()) {
      throw InputError("start of a step", "guess", "one that the step's problem carries",
                       "'" + start.guess + "'");
    }
    made.gamma = guess->second.gamma;
    for (double& g : made.gamma) g *= start.factor;
  }
  if (made.problem.contacts() > 0) solver.solve(made.problem, accuracy, made.gamma);
  made.speed = finish(bodies, made.problem, made.gamma);
  return made;
}

}  // namespace ccp
