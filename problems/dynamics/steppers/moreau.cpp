#include "problems/dynamics/steppers/moreau.hpp"

#include <algorithm>
#include <utility>

namespace ccp {
namespace {

Bodies in_the_middle(const Bodies& bodies, double dt) {
  Bodies middle = bodies;
  drift(middle, dt / 2);
  return middle;
}

}  // namespace

ContactProblem MoreauStepper::problem(const Bodies& bodies) const {
  const Bodies middle = in_the_middle(bodies, model().dt);
  PosedStep posed = pose_step(middle, find_body_contacts(middle, 0, 0), free(middle).velocity,
                              model(), bodies.time, model().dt);
  if (model().restitution > 0) {
    add_restitution(model(), approach_of(posed, middle), posed.problem);
  }
  add_guess(posed.problem);
  return std::move(posed.problem);
}

double MoreauStepper::finish(Bodies& bodies, const ContactProblem& problem,
                             const std::vector<double>& gamma) {
  remember(problem, gamma);
  bodies = in_the_middle(bodies, model().dt);
  FreeMotion rest = free(bodies);
  rest.dt = model().dt / 2;  // the velocity is the end's, and moves the second half of the step
  const std::vector<double> change = changes_of(bodies, problem, gamma);
  end_motion(bodies, rest, change);
  return fastest(bodies);
}

}  // namespace ccp
