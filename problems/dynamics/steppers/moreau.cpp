#include "problems/dynamics/steppers/moreau.hpp"

#include <algorithm>
#include <utility>

#include "problems/dynamics/deformable_step.hpp"

namespace ccp {
namespace {

Bodies in_the_middle(const Bodies& bodies, double dt) {
  Bodies middle = bodies;
  drift(middle, dt / 2);
  return middle;
}

/// [n] n.v of the bodies as they are, m/s.
std::vector<double> approach(const Bodies& middle, const PosedStep& posed) {
  if (!middle.deforms()) return approach_of(posed, middle);
  Bodies centres = middle;  // what turns pseudo-rigid bodies is in dF/dt
  for (std::size_t i = 0; i < middle.count(); ++i) {
    if (middle.deforms(i)) std::fill_n(&centres.angular_velocity[3 * i], 3, 0.0);
  }
  std::vector<double> n = approach_of(posed, centres);
  const std::vector<double> deforming =
      deforming_velocities(middle, posed.problem, middle.deformation_rate);
  for (std::size_t c = 0; c < n.size(); ++c) n[c] += deforming[3 * c];
  return n;
}

}  // namespace

ContactProblem MoreauStepper::problem(const Bodies& bodies) const {
  const Bodies middle = in_the_middle(bodies, model().dt);
  PosedStep posed = pose_step(middle, find_body_contacts(middle, 0, 0), free(middle).velocity,
                              model(), bodies.time, model().dt);
  if (model().restitution > 0) {
    add_restitution(model(), approach(middle, posed), posed.problem);
  }
  if (middle.deforms()) {
    assemble_step(middle, free_deformation_rates(middle, model().dt), posed.problem);
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
  if (!bodies.deforms()) {
    end_motion(bodies, rest, changes_of(bodies, problem, gamma));
    return fastest(bodies);
  }
  const DeformableChange change = deformable_changes(bodies, problem, gamma);
  std::vector<double> rates = free_deformation_rates(bodies, model().dt);
  for (std::size_t k = 0; k < rates.size(); ++k) rates[k] += change.rate[k];
  end_motion(bodies, rest, change.velocity);
  end_deformation(bodies, rates, rest.dt);
  return fastest(bodies);
}

}  // namespace ccp
