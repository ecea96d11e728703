#include "problems/dynamics/step_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/model/constraint_math.hpp"
#include "problems/model/impulses.hpp"

namespace ccp {
namespace {

/// A servo wall has the inverse mass e e^T / m. Contact problems have none of that shape, but
/// inverse inertias: with a unit vector a across e, (a a^T) / m and the arm e x a (of one metre) at
/// every contact, an impulse p turns the wall by a (a . (arm x p)) / m = a (e . p) / m, and a turn
/// of w a is the velocity w a x arm = w e.
struct WallLever {
  Vec3 turn, arm;
};
WallLever lever_of_wall(const Bodies& bodies, std::size_t i) {
  double frame[9] = {bodies.axis[3 * i], bodies.axis[3 * i + 1], bodies.axis[3 * i + 2]};
  complete_frame(frame);
  const Vec3 axis{frame[0], frame[1], frame[2]}, turn{frame[3], frame[4], frame[5]};
  return {turn, cross(axis, turn)};
}

/// Velocities of bodies in the degrees of freedom that the problem has, [m][6].
std::vector<double> in_problem(const Bodies& bodies, std::vector<double> velocity) {
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    if (bodies.kind[i] != BodyKind::wall) continue;
    const double along = dot(triple(bodies.axis, i), triple(velocity, 2 * i));
    set_triple(velocity, 2 * i, {});
    set_triple(velocity, 2 * i + 1, along * lever_of_wall(bodies, i).turn);
  }
  return velocity;
}

/// [m][3][3]
std::vector<double> inverse_inertias(const Bodies& bodies) {
  std::vector<double> inverse(9 * bodies.count(), 0.0);
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    double* to = &inverse[9 * i];
    const double* own = &bodies.inertia[3 * i];
    if (bodies.kind[i] == BodyKind::wall) {
      const Vec3 a = lever_of_wall(bodies, i).turn;
      const double axis[3] = {a.x, a.y, a.z};
      for (int k = 0; k < 9; ++k) to[k] = axis[k / 3] * axis[k % 3] / bodies.mass[i];
    } else if (bodies.kind[i] == BodyKind::rigid && own[0] == own[1] && own[1] == own[2]) {
      for (int k = 0; k < 3; ++k) to[4 * k] = 1 / own[k];
    } else {
      const Quaternion q = bodies.turned(i);
      const Vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
      for (int k = 0; k < 3; ++k) {
        const Vec3 column = spin_from(bodies, i, q, unit[k]);
        for (int j = 0; j < 3; ++j) {
          // Half from either side of the diagonal: symmetric to the last digit.
          const double entry = 0.5 * dot(unit[j], column);
          to[3 * k + j] += entry;
          to[3 * j + k] += entry;
        }
      }
    }
  }
  return inverse;
}

/// Arms are needed where impulses turn bodies, and for walls.
bool has_arms(const Bodies& bodies) {
  return bodies.rotate() ||
         std::find(bodies.kind.begin(), bodies.kind.end(), BodyKind::wall) != bodies.kind.end();
}

Vec3 arm_to(const Bodies& bodies, std::int32_t body, const Vec3& point) {
  if (body < 0) return {};
  const auto i = static_cast<std::size_t>(body);
  if (bodies.kind[i] == BodyKind::wall) return lever_of_wall(bodies, i).arm;
  return point - bodies.placed_at(i);
}

/// n, t1, t2; with bodies in the plane y = 0: t1 in the plane and t2 = y.
void make_frame(const Bodies& bodies, const BodyContact& contact, double* frame) {
  const Vec3& n = contact.normal;
  frame[0] = n.x, frame[1] = n.y, frame[2] = n.z;
  const auto planar = [&](std::int32_t i) {
    return i >= 0 && bodies.kind[static_cast<std::size_t>(i)] == BodyKind::planar;
  };
  if (planar(contact.a) || planar(contact.b)) {
    const double in_plane[6] = {n.z, 0, -n.x, 0, 1, 0};
    std::copy(in_plane, in_plane + 6, frame + 3);
  } else {
    complete_frame(frame);
  }
}

double friction_of(const Bodies& bodies, const BodyContact& contact, double mu) {
  const double side_a = contact.obstacle >= 0
                            ? bodies.obstacles[static_cast<std::size_t>(contact.obstacle)].mu
                            : bodies.mu[static_cast<std::size_t>(contact.a)];
  return std::min({mu, side_a, bodies.mu[static_cast<std::size_t>(contact.b)]});
}

/// The radius that rolls, m: of spheres and discs; 0 of other shapes.
double rolling_radius(const Shape& shape) {
  const bool round =
      shape.kind == "sphere" || (shape.kind == "ellipse" && shape.size[0] == shape.size[1]);
  return round ? shape.size[0] : 0;
}

bool can_turn(const Bodies& bodies, std::int32_t body) {
  if (body < 0) return false;
  const BodyKind kind = bodies.kind[static_cast<std::size_t>(body)];
  return kind == BodyKind::rigid || kind == BodyKind::planar;
}

/// The limit rho = mu_r r* of a contact's moment over its normal impulse, m; 0: there is none.
double rolling_limit(const Bodies& bodies, const BodyContact& contact, double coefficient) {
  const auto b = static_cast<std::size_t>(contact.b);
  const bool obstacle = contact.obstacle >= 0;
  const auto a = static_cast<std::size_t>(obstacle ? contact.obstacle : contact.a);
  if (!can_turn(bodies, contact.b) && !can_turn(bodies, contact.a)) return 0;
  // A servo wall stands for a turn of its own in the problem, which no moment may touch.
  if (bodies.kind[b] == BodyKind::wall || (!obstacle && bodies.kind[a] == BodyKind::wall)) return 0;
  const double mu_r = std::min(
      {coefficient, obstacle ? bodies.obstacles[a].rolling : bodies.rolling[a], bodies.rolling[b]});
  if (!std::isfinite(mu_r)) return 0;
  const double r_a = rolling_radius(obstacle ? bodies.obstacles[a].shape : bodies.shape[a]);
  const double r_b = rolling_radius(bodies.shape[b]);
  if (r_a == 0 || r_b == 0) return mu_r * std::max(r_a, r_b);
  return mu_r * (r_a * r_b / (r_a + r_b));
}

/// What the bodies are, and v* as velocity + dt g.
ContactProblem problem_of_bodies(const Bodies& bodies, const std::vector<double>& free,
                                 const StepModel& model) {
  ContactProblem problem;
  problem.dt = model.dt;
  problem.gravity = {model.gravity.x, model.gravity.y, model.gravity.z};
  problem.position = bodies.position;
  problem.orientation = bodies.orientation;
  problem.velocity = in_problem(bodies, free);
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    const bool wall = bodies.kind[i] == BodyKind::wall;
    problem.inverse_mass.push_back(wall ? 0 : 1 / bodies.mass[i]);
    set_triple(problem.velocity, 2 * i, triple(problem.velocity, 2 * i) - model.dt * model.gravity);
    if (bodies.shape[i].kind == "sphere") problem.radius.push_back(bodies.shape[i].size[0]);
  }
  if (problem.radius.size() != bodies.count()) problem.radius.clear();
  if (has_arms(bodies)) problem.inverse_inertia = inverse_inertias(bodies);
  return problem;
}

/// Angular velocity of B against A at a rolling triple, contact axes.
Vec3 relative_spin(const ContactProblem& problem, std::size_t contact,
                   const std::vector<double>& velocity, const Vec3& obstacle) {
  Vec3 sum = -1.0 * obstacle;
  for (int side = 0; side < 2; ++side) {
    const std::int32_t body = problem.contact_bodies[2 * contact + side];
    if (body < 0) continue;
    sum = sum + side_sign(side) * triple(velocity, 2 * static_cast<std::size_t>(body) + 1);
  }
  return to_contact_axes(&problem.frame[9 * contact], sum);
}

/// Row of a Jacobian [3][6] times a velocity and an angular velocity.
double row_product(const std::array<double, 18>& jacobian, std::size_t row, const Vec3& v,
                   const Vec3& w) {
  const double* j = &jacobian[6 * row];
  return j[0] * v.x + j[1] * v.y + j[2] * v.z + j[3] * w.x + j[4] * w.y + j[5] * w.z;
}

/// J v of one side for a body's or obstacle's velocities, about its position.
Vec3 side_rate(const JointRows& rows, int side, const Vec3& v, const Vec3& w) {
  const auto& jacobian = side == 0 ? rows.jacobian_a : rows.jacobian_b;
  return {row_product(jacobian, 0, v, w), row_product(jacobian, 1, v, w),
          row_product(jacobian, 2, v, w)};
}

/// J v of the bodies of joint rows.
Vec3 joint_rate(const Joint& joint, const JointRows& rows, const std::vector<double>& velocity) {
  Vec3 sum;
  for (int side = 0; side < 2; ++side) {
    const int body = (side == 0 ? joint.a : joint.b).body;
    if (body < 0) continue;
    const auto at = 2 * static_cast<std::size_t>(body);
    sum = sum + side_rate(rows, side, triple(velocity, at), triple(velocity, at + 1));
  }
  return sum;
}

bool acts(JointKind kind, JointStage stage) {
  if (kind == JointKind::spring) return stage == JointStage::step;
  return kind != JointKind::motor || stage != JointStage::positions;
}

/// The equality rows of joints. @param ahead  s, from the bodies' time to the end of the step
void add_joints(const Bodies& bodies, const std::vector<ObstacleMotion>& motions,
                const std::vector<double>& velocity, JointStage stage, double dt, double ahead,
                PosedStep& posed) {
  EqualityPool& pool = posed.problem.equality;
  bool compliant = false;
  for (const JointRows& rows : joint_rows(bodies)) {
    const Joint& joint = bodies.joints[rows.joint];
    if (!acts(joint.kind, stage)) continue;
    Vec3 given{-rows.speed[0], -rows.speed[1], -rows.speed[2]};
    for (int side = 0; side < 2; ++side) {
      const int number = (side == 0 ? joint.a : joint.b).obstacle;
      if (number < 0) continue;
      const auto o = static_cast<std::size_t>(number);
      const Vec3 moves = motions[o].velocity - bodies.obstacles[o].belt;
      given = given + side_rate(rows, side, moves, motions[o].spin);
    }
    Vec3 r = joint_rate(joint, rows, velocity) + given;
    double sigma = 0;
    if (joint.kind == JointKind::spring) {
      const double resistance = joint.damping + ahead * joint.stiffness;
      r.x += joint.stiffness / resistance * rows.theta[0];
      sigma = 1 / (dt * resistance);
      compliant = true;
    }
    pool.bodies.insert(pool.bodies.end(), {joint.a.body, joint.b.body});
    pool.rows.push_back(rows.rows);
    pool.jacobian_a.insert(pool.jacobian_a.end(), rows.jacobian_a.begin(), rows.jacobian_a.end());
    pool.jacobian_b.insert(pool.jacobian_b.end(), rows.jacobian_b.begin(), rows.jacobian_b.end());
    pool.r.insert(pool.r.end(), {r.x, r.y, r.z});
    pool.compliance.insert(pool.compliance.end(), {sigma, 0, 0});
    posed.joints.push_back(rows);
    posed.joint_given.push_back(given);
  }
  if (!compliant) pool.compliance.clear();
}

/// What joints do to obstacles: the linear half of J^T gamma.
void add_joint_impulses(const Bodies& bodies, const ContactProblem& problem,
                        const std::vector<double>& gamma, JointStage stage,
                        std::vector<double>& impulse) {
  const EqualityPool& pool = problem.equality;
  std::size_t k = 0;
  for (const Joint& joint : bodies.joints) {
    if (!acts(joint.kind, stage)) continue;
    for (int set = 0; set < row_sets(joint.kind); ++set, ++k) {
      const double* const g = &gamma[3 * (problem.contacts() + problem.rolling.size() + k)];
      for (int side = 0; side < 2; ++side) {
        const int obstacle = (side == 0 ? joint.a : joint.b).obstacle;
        if (obstacle < 0) continue;
        const double* const j = &(side == 0 ? pool.jacobian_a : pool.jacobian_b)[18 * k];
        const auto at = 3 * static_cast<std::size_t>(obstacle);
        for (std::size_t i = 0; i < 3; ++i) {
          impulse[at + i] += j[i] * g[0] + j[6 + i] * g[1] + j[12 + i] * g[2];
        }
      }
    }
  }
}

/// Velocity of B's surface against A's, contact axes.
Vec3 relative(const ContactProblem& problem, std::size_t c, const std::vector<double>& velocity,
              const Vec3& obstacle) {
  Vec3 sum = -1.0 * obstacle;
  for (int side = 0; side < 2; ++side) {
    const std::int32_t body = problem.contact_bodies[2 * c + side];
    if (body < 0) continue;
    const auto at = 2 * static_cast<std::size_t>(body);
    sum = sum + side_sign(side) * velocity_at(triple(velocity, at), triple(velocity, at + 1),
                                              arm_of(problem, c, side));
  }
  return to_contact_axes(&problem.frame[9 * c], sum);
}

}  // namespace

PosedStep pose_step(const Bodies& bodies, const std::vector<BodyContact>& contacts,
                    const std::vector<double>& free, const StepModel& model, double from, double dt,
                    JointStage stage) {
  PosedStep posed;
  ContactProblem& problem = posed.problem;
  problem = problem_of_bodies(bodies, free, model);
  const std::size_t n = contacts.size();
  problem.frame.resize(9 * n);
  std::vector<ObstacleMotion> motions;
  for (std::size_t o = 0; o < bodies.obstacles.size(); ++o) {
    motions.push_back(obstacle_motion(bodies, o, from, dt));
  }
  const std::vector<double> velocity = in_problem(bodies, free);
  for (std::size_t c = 0; c < n; ++c) {
    const BodyContact& contact = contacts[c];
    if (!std::isfinite(dot(contact.normal, contact.normal))) {
      throw InputError(
          fmt::format("bodies {} and {} have no contact normal", contact.a, contact.b));
    }
    make_frame(bodies, contact, &problem.frame[9 * c]);
    problem.contact_bodies.insert(problem.contact_bodies.end(), {contact.a, contact.b});
    problem.mu.push_back(friction_of(bodies, contact, model.mu));
    problem.gap.push_back(contact.gap);
    problem.identity.push_back(contact_identity(contact));
    if (problem.rotates()) {
      const Vec3 a = arm_to(bodies, contact.a, contact.point);
      const Vec3 b = arm_to(bodies, contact.b, contact.point);
      problem.arm_a.insert(problem.arm_a.end(), {a.x, a.y, a.z});
      problem.arm_b.insert(problem.arm_b.end(), {b.x, b.y, b.z});
    }
    const ObstacleMotion* const side_a =
        contact.obstacle < 0 ? nullptr : &motions[static_cast<std::size_t>(contact.obstacle)];
    posed.obstacle_velocity.push_back(side_a ? side_a->at(contact.point) : Vec3{});
    const Vec3 r = relative(problem, c, velocity, posed.obstacle_velocity.back());
    problem.r.insert(problem.r.end(), {r.x, r.y, r.z});
    const double rho = rolling_limit(bodies, contact, model.rolling);
    if (!(rho > 0)) continue;
    posed.obstacle_spin.push_back(side_a ? side_a->spin : Vec3{});
    Vec3 turning = relative_spin(problem, c, velocity, posed.obstacle_spin.back());
    if (!model.twisting) {
      problem.rolling.rows.push_back(2);
      turning.x = 0;
    }
    problem.rolling.contact.push_back(static_cast<std::int32_t>(c));
    problem.rolling.rho.push_back(rho);
    problem.rolling.r.insert(problem.rolling.r.end(), {turning.x, turning.y, turning.z});
  }
  add_joints(bodies, motions, velocity, stage, dt, from + dt - bodies.time, posed);
  return posed;
}

void PosedStep::add_joint_errors(const Bodies& bodies, double factor) {
  for (std::size_t k = 0; k < joints.size(); ++k) {
    if (!holds_position(bodies.joints[joints[k].joint])) continue;
    for (std::size_t row = 0; row < 3; ++row) {
      problem.equality.r[3 * k + row] += factor * joints[k].theta[row];
    }
  }
}

std::vector<Vec3> joint_rates(const PosedStep& posed, const Bodies& bodies) {
  const std::vector<double> velocity = velocities_of(bodies);
  std::vector<Vec3> rates;
  for (std::size_t k = 0; k < posed.joints.size(); ++k) {
    const JointRows& rows = posed.joints[k];
    rates.push_back(joint_rate(bodies.joints[rows.joint], rows, velocity) + posed.joint_given[k]);
  }
  return rates;
}

std::vector<double> velocities_of(const Bodies& bodies) {
  std::vector<double> all(6 * bodies.count());
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    set_triple(all, 2 * i, triple(bodies.velocity, i));
    set_triple(all, 2 * i + 1, triple(bodies.angular_velocity, i));
  }
  return all;
}

std::vector<double> relative_velocities(const PosedStep& posed, const Bodies& bodies) {
  const std::vector<double> velocity = in_problem(bodies, velocities_of(bodies));
  std::vector<double> u(3 * posed.problem.contacts());
  for (std::size_t c = 0; c < posed.problem.contacts(); ++c) {
    set_triple(u, c, relative(posed.problem, c, velocity, posed.obstacle_velocity[c]));
  }
  return u;
}

std::vector<double> approach_of(const PosedStep& posed, const Bodies& bodies) {
  const std::vector<double> u = relative_velocities(posed, bodies);
  std::vector<double> approach;
  for (std::size_t c = 0; c < posed.problem.contacts(); ++c) approach.push_back(u[3 * c]);
  return approach;
}

std::vector<double> relative_spins(const PosedStep& posed, const Bodies& bodies) {
  const std::vector<double> velocity = velocities_of(bodies);
  const RollingPool& pool = posed.problem.rolling;
  std::vector<double> spins(3 * pool.size());
  for (std::size_t k = 0; k < pool.size(); ++k) {
    set_triple(spins, k,
               relative_spin(posed.problem, static_cast<std::size_t>(pool.contact[k]), velocity,
                             posed.obstacle_spin[k]));
    if (!pool.twists(k)) spins[3 * k] = 0;
  }
  return spins;
}

std::vector<double> changes_of(const Bodies& bodies, const ContactProblem& problem,
                               const std::vector<double>& gamma) {
  std::vector<double> change = body_velocity_changes(problem, gamma);
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    // What solvers leave across the plane is rounding, but contacts off the plane make more of it.
    if (bodies.kind[i] == BodyKind::planar) change[6 * i + 1] = 0;
    if (bodies.kind[i] != BodyKind::wall) continue;
    const double along = dot(lever_of_wall(bodies, i).turn, triple(change, 2 * i + 1));
    set_triple(change, 2 * i, along * triple(bodies.axis, i));
    set_triple(change, 2 * i + 1, {});
  }
  return change;
}

void add_obstacle_impulses(const Bodies& bodies, const ContactProblem& problem,
                           const std::vector<double>& gamma, JointStage stage,
                           std::vector<double>& impulse) {
  add_joint_impulses(bodies, problem, gamma, stage, impulse);
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const std::int32_t obstacle = obstacle_of(problem.identity[c]);
    if (obstacle < 0) continue;
    const auto at = static_cast<std::size_t>(obstacle);
    const Vec3 on_b = to_world_axes(&problem.frame[9 * c], triple(gamma, c));
    set_triple(impulse, at, triple(impulse, at) - on_b);
  }
}

}  // namespace ccp
