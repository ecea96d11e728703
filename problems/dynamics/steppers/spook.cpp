#include "problems/dynamics/steppers/spook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

/// The radius that Hertz's law sees: that of a sphere, 0 for what is flat.
double hertz_radius(const Shape& shape) {
  return shape.kind == "sphere" ? shape.size[0] : 0;
}

/// Mean of the diagonal of N.
double mean_mobility(const ContactProblem& problem) {
  double trace = 0;
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = problem.contact_bodies[2 * c + side];
      if (body < 0) continue;
      trace += 3 * problem.inverse_mass[static_cast<std::size_t>(body)];
      for (int row = 0; row < 3; ++row) {
        const double* axis = &problem.frame[9 * c + 3 * row];
        const Vec3 lever = cross(arm_of(problem, c, side), {axis[0], axis[1], axis[2]});
        trace += dot(lever, spin_of(problem, static_cast<std::size_t>(body), lever));
      }
    }
  }
  return trace / (3 * static_cast<double>(std::max<std::size_t>(problem.contacts(), 1)));
}

}  // namespace

SpookStepper::SpookStepper(const StepModel& model) : RigidStepper(model) {
  if (!(model.hertz.young > 0)) {
    throw InputError("stepper spook", "Young's modulus", "a value > 0, for elastic contacts",
                     fmt::format("{}", model.hertz.young));
  }
}

std::vector<BodyContact> SpookStepper::touching(const Bodies& bodies) const {
  return find_body_contacts(bodies, model().hertz.smallest_overlap, 0);
}

ContactProblem SpookStepper::problem(const Bodies& bodies) const {
  const double dt = model().dt;
  const std::vector<BodyContact> contacts = touching(bodies);
  PosedStep posed = pose_step(bodies, contacts, free(bodies).velocity, model(), bodies.time, dt);
  ContactProblem& problem = posed.problem;
  const std::vector<double> approach = approach_of(posed, bodies);
  problem.compliance.resize(2 * contacts.size());
  std::vector<double> hertz;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const BodyContact& contact = contacts[c];
    const Shape& side_a = contact.obstacle >= 0
                              ? bodies.obstacles[static_cast<std::size_t>(contact.obstacle)].shape
                              : bodies.shape[static_cast<std::size_t>(contact.a)];
    double radius[2] = {hertz_radius(side_a),
                        hertz_radius(bodies.shape[static_cast<std::size_t>(contact.b)])};
    if (radius[1] == 0) std::swap(radius[0], radius[1]);
    if (radius[1] == 0) {
      throw InputError("stepper spook", fmt::format("contact of body {}", contact.b),
                       "a sphere on one side at least", "two flat shapes");
    }
    const double stiffness = hertz_stiffness(model().hertz, radius[0], radius[1]);
    const double overlap = std::max(-contact.gap, 0.0);
    make_elastic(model().hertz, dt, stiffness, -contact.gap, problem.r[3 * c], approach[c],
                 &problem.compliance[2 * c], problem.r[3 * c]);
    hertz.push_back(dt * stiffness * overlap *
                    std::sqrt(std::max(overlap, model().hertz.smallest_overlap)));
    hertz.insert(hertz.end(), {0, 0});
  }
  make_elastic_pools(bodies, posed);
  hertz.resize(3 * problem.triples(), 0.0);
  add_model_guess(bodies, posed, hertz);
  problem.guesses["hertz"] = {std::move(hertz), "Hertz's law, without friction"};
  add_guess(problem);
  return std::move(posed.problem);
}

/// Wang 2016 eq. 9 to 11: Hertz's law, and friction and rolling resistance as viscous forces
/// -u / Sigma of the velocities before the step, clamped.
void SpookStepper::add_model_guess(const Bodies& bodies, PosedStep& posed,
                                   const std::vector<double>& hertz) {
  ContactProblem& problem = posed.problem;
  std::vector<double> gamma = hertz;
  const std::vector<double> u = relative_velocities(posed, bodies);
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    for (std::size_t k = 1; k < 3; ++k) {
      gamma[3 * c + k] = -u[3 * c + k] / problem.compliance[2 * c + 1];
    }
  }
  const std::vector<double> spins = relative_spins(posed, bodies);
  for (std::size_t i = 0; i < spins.size(); ++i) {
    gamma[3 * problem.contacts() + i] = -spins[i] / problem.rolling.compliance[2 * (i / 3) + 1];
  }
  clamp_into_cones(problem, gamma);
  problem.guesses["model"] = {std::move(gamma), "Hertz's law, viscous friction and rolling"};
}

/// Sigma of rolling rows, and the regularised rows of joints with tau = 2 h.
void SpookStepper::make_elastic_pools(const Bodies& bodies, PosedStep& posed) const {
  constexpr double softness = 1e-10;  // eps of Wang 2016
  constexpr double rolling = 1e-6;
  const double dt = model().dt, damped = 1.0 / 9;  // 1 / (1 + 4 tau / h)
  ContactProblem& problem = posed.problem;
  problem.rolling.compliance.assign(2 * problem.rolling.size(), rolling / dt);
  for (std::size_t k = 0; k < problem.rolling.size(); ++k) {
    if (!problem.rolling.twists(k)) problem.rolling.compliance[2 * k] = 0;
  }
  if (posed.joints.empty()) return;
  EqualityPool& pool = problem.equality;
  pool.compliance.resize(3 * pool.size(), 0.0);
  posed.add_joint_errors(bodies, 4 / dt * damped);
  const std::vector<Vec3> rates = joint_rates(posed, bodies);
  for (std::size_t k = 0; k < pool.size(); ++k) {
    if (!holds_position(bodies.joints[posed.joints[k].joint])) continue;
    set_triple(pool.r, k, triple(pool.r, k) - damped * rates[k]);
    for (std::int32_t row = 0; row < pool.rows[k]; ++row) {
      pool.compliance[3 * k + static_cast<std::size_t>(row)] = 4 / (dt * dt) * softness * damped;
    }
  }
}

ContactProblem SpookStepper::impacts(const Bodies& bodies) const {
  PosedStep posed = pose_step(bodies, touching(bodies), velocities_of(bodies), model(), bodies.time,
                              model().dt, JointStage::velocities);
  const std::vector<double> approach = approach_of(posed, bodies);
  const bool any = std::any_of(approach.begin(), approach.end(),
                               [&](double u) { return u < -model().impact_speed; });
  if (!any) return {};
  add_restitution(model(), approach, posed.problem);
  const double slight = 1e-10 * mean_mobility(posed.problem);  // every solver wants it regular
  posed.problem.compliance.assign(2 * approach.size(), 0.0);
  for (std::size_t c = 0; c < approach.size(); ++c) posed.problem.compliance[2 * c] = slight;
  return std::move(posed.problem);
}

Step SpookStepper::step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                        const StepStart& start) {
  check_deforms(bodies);
  Step impact;
  impact.obstacle_impulse.assign(3 * bodies.obstacles.size(), 0.0);
  const ContactProblem first = impacts(bodies);
  if (first.contacts() > 0) {
    add_change(bodies,
               changes_of(bodies, first, solve_stage(bodies, first, solver, accuracy, impact)));
  }
  Step made = RigidStepper::step(bodies, solver, accuracy, start);
  for (std::size_t i = 0; i < impact.obstacle_impulse.size(); ++i) {
    made.obstacle_impulse[i] += impact.obstacle_impulse[i];
  }
  return made;
}

}  // namespace ccp
