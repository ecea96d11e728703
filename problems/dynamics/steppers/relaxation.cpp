#include "problems/dynamics/steppers/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ccp {

ContactProblem GapStepper::problem(const Bodies& bodies) const {
  const double dt = model().dt;
  std::vector<BodyContact> contacts = contacts_near(bodies);
  if (!options_.stabilised) {
    contacts.erase(std::remove_if(contacts.begin(), contacts.end(),
                                  [](const BodyContact& c) { return c.gap > 0; }),
                   contacts.end());
  }
  PosedStep posed = pose_step(bodies, contacts, free(bodies).velocity, model(), bodies.time, dt);
  ContactProblem& problem = posed.problem;
  const std::vector<double> before = relative_velocities(posed, bodies);
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    double b = options_.stabilised ? options_.theta * problem.gap[c] / dt : 0;
    const double approach = before[3 * c];
    const bool bounces = model().restitution > 0 && approach < -model().impact_speed &&
                         problem.gap[c] + dt * approach <= 0;
    if (bounces) b = std::min(b, model().restitution * approach);
    if (options_.lagged) b += problem.mu[c] * std::hypot(before[3 * c + 1], before[3 * c + 2]);
    problem.r[3 * c] += b;
  }
  if (options_.stabilised) posed.add_joint_errors(bodies, options_.theta / dt);
  add_guess(problem);
  return std::move(posed.problem);
}

void GapStepper::project(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy) const {
  constexpr double allowed = 1e-8;  // m
  const std::vector<double> at_rest(6 * bodies.count(), 0.0);
  for (int pass = 0; pass < 5; ++pass) {
    double deepest = 0;
    for (const BodyContact& c : find_body_contacts(bodies, 0, 0)) {
      deepest = std::max(deepest, -c.gap);
    }
    if (!(deepest > allowed) && !(joint_error(bodies) > allowed)) return;
    // What is pushed out of one contact must not be pushed into another one.
    PosedStep posed = pose_step(bodies, find_body_contacts(bodies, model().margin + 2 * deepest, 0),
                                at_rest, model(), bodies.time, model().dt, JointStage::positions);
    ContactProblem& problem = posed.problem;
    problem.mu.assign(problem.contacts(), 0.0);
    problem.r.assign(3 * problem.contacts(), 0.0);
    for (std::size_t c = 0; c < problem.contacts(); ++c) problem.r[3 * c] = problem.gap[c];
    problem.rolling = {};
    problem.equality.r.assign(3 * problem.equality.size(), 0.0);
    posed.add_joint_errors(bodies, 1);
    std::vector<double> lambda(3 * problem.triples(), 0.0);
    solver.solve(problem, accuracy, lambda);
    shift(bodies, changes_of(bodies, problem, lambda));
  }
}

Step GapStepper::step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                      const StepStart& start) {
  Step made = RigidStepper::step(bodies, solver, accuracy, start);
  if (options_.project && std::isfinite(made.speed)) project(bodies, solver, accuracy);
  return made;
}

}  // namespace ccp
