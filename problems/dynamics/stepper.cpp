#include "problems/dynamics/stepper.hpp"

#include <utility>

#include "problems/base/error.hpp"

namespace ccp {

std::vector<double> Stepper::own_start(const ContactProblem& problem) const {
  return std::vector<double>(3 * problem.triples(), 0.0);
}

void Stepper::check_deforms(const Bodies& bodies) const {
  if (!bodies.deforms() || deforms()) return;
  throw InputError("stepper", "", "one that moves pseudo-rigid bodies (moreau)", "another one");
}

std::vector<double> Stepper::start_of(const ContactProblem& problem, const StepStart& start) const {
  std::vector<double> gamma = guessed(problem, start);
  if (start.normals_only) {
    for (std::size_t i = 0; i < gamma.size(); ++i) {
      if (i % 3 != 0 || i >= 3 * problem.contacts()) gamma[i] = 0;
    }
  }
  return gamma;
}

std::vector<double> Stepper::guessed(const ContactProblem& problem, const StepStart& start) const {
  if (start.guess.empty()) return own_start(problem);
  const auto guess = problem.guesses.find(start.guess);
  if (guess == problem.guesses.end()) {
    throw InputError("start of a step", "guess", "one that the step's problem carries",
                     "'" + start.guess + "'");
  }
  std::vector<double> gamma = guess->second.gamma;
  for (double& g : gamma) g *= start.factor;
  return gamma;
}

Step Stepper::step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                   const StepStart& start) {
  check_deforms(bodies);
  Step made;
  made.problem = problem(bodies);
  made.gamma = start_of(made.problem, start);
  if (made.problem.triples() > 0) solver.solve(made.problem, accuracy, made.gamma);
  made.speed = finish(bodies, made.problem, made.gamma);
  return made;
}

}  // namespace ccp
