#include "problems/dynamics/steppers/rattle.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ccp {

ContactProblem RattleStepper::problem(const Bodies& bodies) const {
  PosedStep posed = pose_step(bodies, contacts_near(bodies), free(bodies).velocity, model(),
                              bodies.time, model().dt);
  for (std::size_t c = 0; c < posed.problem.contacts(); ++c) {
    posed.problem.r[3 * c] += posed.problem.gap[c] / model().dt;
  }
  posed.add_joint_errors(bodies, 1 / model().dt);
  add_guess(posed.problem);
  return std::move(posed.problem);
}

Step RattleStepper::step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                         const StepStart& start) {
  const double dt = model().dt;
  const std::vector<double> linear = bodies.velocity, angular = bodies.angular_velocity;
  Step made = RigidStepper::step(bodies, solver, accuracy, start);
  if (!std::isfinite(made.speed)) return made;  // the caller says who diverged
  // Contacts at q_{j+1}; those that are open there take no impulse.
  const std::vector<BodyContact> closed =
      find_body_contacts(bodies, 1e-9 + 1e-6 * dt * made.speed, 0);
  PosedStep posed = pose_step(bodies, closed, velocities_of(bodies), model(), bodies.time, dt,
                              JointStage::velocities);
  if (model().restitution > 0) {
    Bodies before = bodies;
    before.velocity = linear;
    before.angular_velocity = angular;
    add_restitution(model(), approach_of(posed, before), posed.problem);
  }
  const std::vector<double> gamma = solve_stage(bodies, posed.problem, solver, accuracy, made);
  add_change(bodies, changes_of(bodies, posed.problem, gamma));
  made.speed = fastest(bodies);
  return made;
}

}  // namespace ccp
