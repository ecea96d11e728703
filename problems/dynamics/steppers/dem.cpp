#include "problems/dynamics/steppers/dem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

constexpr double step_share = 0.2;  // of sqrt(m / k)

double radius_of(const Shape& shape) {
  return shape.kind == "plane" ? 0 : shape.size[0];
}

const Shape& shape_of_side_a(const Bodies& bodies, const ContactProblem& problem, std::size_t c) {
  const std::int32_t a = problem.contact_bodies[2 * c];
  return a >= 0
             ? bodies.shape[static_cast<std::size_t>(a)]
             : bodies.obstacles[static_cast<std::size_t>(obstacle_of(problem.identity[c]))].shape;
}

double reduced_mass(const Bodies& bodies, const ContactProblem& problem, std::size_t c) {
  const double b = bodies.mass[static_cast<std::size_t>(problem.contact_bodies[2 * c + 1])];
  const std::int32_t side_a = problem.contact_bodies[2 * c];
  if (side_a < 0) return b;
  const double a = bodies.mass[static_cast<std::size_t>(side_a)];
  return a * b / (a + b);
}

}  // namespace

DemStepper::DemStepper(const StepModel& model, const DemOptions& options)
    : RigidStepper(model), options_(options) {
  if (!(model.hertz.young > 0)) {
    throw InputError("stepper dem", "Young's modulus", "a value > 0, for contacts that give",
                     fmt::format("{}", model.hertz.young));
  }
  if (model.rolling > 0 && std::isfinite(model.rolling)) {
    throw InputError("stepper dem", "rolling resistance", "none: it has no such force",
                     fmt::format("a coefficient of {}", model.rolling));
  }
}

ContactProblem DemStepper::problem(const Bodies& bodies) const {
  PosedStep posed = pose_step(bodies, find_body_contacts(bodies, 0, 0), velocities_of(bodies),
                              model(), bodies.time, model().dt);
  return std::move(posed.problem);
}

std::vector<double> DemStepper::penalty(const Bodies& bodies, const ContactProblem& problem,
                                        const std::vector<double>& approach) {
  const double dt = model().dt;
  const double e = std::max(model().restitution, 1e-6), log_e = std::log(e);
  const double zeta = -log_e / std::sqrt(pi * pi + log_e * log_e);
  std::vector<double> gamma(3 * problem.contacts(), 0.0);
  std::vector<std::pair<std::int64_t, Vec3>> springs;
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const double delta = std::max(-problem.gap[c], 0.0);
    double r_a = radius_of(shape_of_side_a(bodies, problem, c));
    double r_b =
        radius_of(bodies.shape[static_cast<std::size_t>(problem.contact_bodies[2 * c + 1])]);
    const double mass = reduced_mass(bodies, problem, c);
    double force = 0, tangent = 0;  // f_n, k_n
    if (options_.hertz) {
      const double k = hertz_stiffness(model().hertz, r_a, r_b);
      force = k * delta * std::sqrt(delta);
      tangent = 1.5 * k * std::sqrt(delta);
    } else {
      tangent = pi / 4 * model().hertz.young * (r_a > 0 ? r_a + r_b : 2 * r_b);
      force = tangent * delta;
    }
    const double limit = step_share * std::sqrt(mass / std::max(tangent, 1e-300));
    if (dt > limit) {
      throw InputError("stepper dem",
                       fmt::format("time step, contact of body {} at {:.6g} s",
                                   problem.contact_bodies[2 * c + 1], bodies.time),
                       fmt::format("at most {:.3g} s, a fifth of sqrt(m / k)", limit),
                       fmt::format("{:.3g} s", dt));
    }
    const double damping = 2 * zeta * std::sqrt(mass * tangent);
    force = std::max(0.0, force - damping * approach[c]);
    // The spring, carried in world axes and turned into the tangent plane.
    const double* frame = &problem.frame[9 * c];
    const auto old = std::lower_bound(identity_.begin(), identity_.end(), problem.identity[c]);
    Vec3 xi;
    if (old != identity_.end() && *old == problem.identity[c]) {
      xi = to_contact_axes(frame,
                           triple(spring_, static_cast<std::size_t>(old - identity_.begin())));
    }
    const Vec3 slip = triple(problem.r, c);  // F (V_B - V_A), as the bodies move
    xi = {0, xi.y + dt * slip.y, xi.z + dt * slip.z};
    const double k_t = options_.tangential * tangent;
    const double c_t = damping * std::sqrt(options_.tangential);
    Vec3 friction = (-k_t) * xi - c_t * Vec3{0, slip.y, slip.z};
    const double most = problem.mu[c] * force, held = norm(friction);
    if (held > most) {
      friction = most / held * friction;
      xi = k_t > 0 ? -1 / k_t * (friction + c_t * Vec3{0, slip.y, slip.z}) : Vec3{};
    }
    gamma[3 * c] = dt * force;
    gamma[3 * c + 1] = dt * friction.y;
    gamma[3 * c + 2] = dt * friction.z;
    springs.emplace_back(problem.identity[c], to_world_axes(frame, xi));
  }
  std::sort(springs.begin(), springs.end(),
            [](const auto& x, const auto& y) { return x.first < y.first; });
  identity_.clear();
  spring_.clear();
  for (const auto& [identity, xi] : springs) {
    identity_.push_back(identity);
    spring_.insert(spring_.end(), {xi.x, xi.y, xi.z});
  }
  return gamma;
}

double DemStepper::finish(Bodies& bodies, const ContactProblem& problem,
                          const std::vector<double>& gamma) {
  const std::vector<double> change = changes_of(bodies, problem, gamma);
  end_motion(bodies, free(bodies), change);
  return fastest(bodies);
}

Step DemStepper::step(Bodies& bodies, StepSolver&, const StepAccuracy&, const StepStart&) {
  check_deforms(bodies);
  if (!bodies.joints.empty()) {
    throw InputError("stepper dem", "joints", "none: it has penalty forces for contacts only",
                     fmt::format("{}", bodies.joints.size()));
  }
  Step made;
  made.problem = problem(bodies);
  std::vector<double> approach(made.problem.contacts());
  for (std::size_t c = 0; c < approach.size(); ++c) approach[c] = made.problem.r[3 * c];
  made.gamma = penalty(bodies, made.problem, approach);
  made.obstacle_impulse = attracted(bodies);
  add_obstacle_impulses(bodies, made.problem, made.gamma, JointStage::step, made.obstacle_impulse);
  made.speed = finish(bodies, made.problem, made.gamma);
  return made;
}

StepperMemory DemStepper::save() const {
  StepperMemory memory;
  memory.identities["springs"] = identity_;
  memory.numbers["springs"] = spring_;
  return memory;
}

void DemStepper::restore(const StepperMemory& memory) {
  identity_ = memory.identities.at("springs");
  spring_ = memory.numbers.at("springs");
}

}  // namespace ccp
