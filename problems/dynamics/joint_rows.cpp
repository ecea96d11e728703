#include "problems/dynamics/joint_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

/// Where a side is.
Pose pose_of(const Bodies& bodies, const JointSide& side) {
  if (side.body >= 0) {
    const auto i = static_cast<std::size_t>(side.body);
    return {bodies.placed_at(i), bodies.turned(i)};
  }
  if (side.obstacle < 0) return {};
  return bodies.obstacles[static_cast<std::size_t>(side.obstacle)].at(bodies.time);
}

/// A side in the world; t1 and t2 are across its axis and turn with it.
struct PlacedSide {
  Vec3 arm, point, axis, t1, t2;
  Quaternion orientation;
};
PlacedSide placed(const Bodies& bodies, const JointSide& side) {
  const Pose pose = pose_of(bodies, side);
  const Quaternion& q = pose.orientation;
  double frame[9] = {side.axis.x, side.axis.y, side.axis.z};
  complete_frame(frame);
  const Vec3 arm = rotate(q, side.point);
  return {arm,
          pose.position + arm,
          rotate(q, side.axis),
          rotate(q, {frame[3], frame[4], frame[5]}),
          rotate(q, {frame[6], frame[7], frame[8]}),
          q};
}

/// Rows of one joint as they are filled.
class Rows {
 public:
  Rows(std::size_t joint, const PlacedSide& a, const PlacedSide& b) : a_(a), b_(b) {
    rows_.joint = joint;
  }
  /// t . d with t fixed to A (turning with it) or in the world.
  void offset(const Vec3& t, double theta, bool turns_with_a) {
    const Vec3 d = turns_with_a ? b_.point - a_.point : Vec3{};
    put(-1.0 * t, -1.0 * cross(a_.arm + d, t), t, cross(b_.arm, t), theta);
  }
  /// Relative angular velocity along t.
  void turn(const Vec3& t, double theta, double speed = 0) {
    rows_.speed[static_cast<std::size_t>(rows_.rows)] = speed;
    put({}, -1.0 * t, {}, t, theta);
  }
  const JointRows& get() const { return rows_; }

 private:
  void put(const Vec3& la, const Vec3& wa, const Vec3& lb, const Vec3& wb, double theta) {
    const auto row = static_cast<std::size_t>(rows_.rows++);
    const double a[6] = {la.x, la.y, la.z, wa.x, wa.y, wa.z};
    const double b[6] = {lb.x, lb.y, lb.z, wb.x, wb.y, wb.z};
    std::copy(a, a + 6, rows_.jacobian_a.begin() + static_cast<std::ptrdiff_t>(6 * row));
    std::copy(b, b + 6, rows_.jacobian_b.begin() + static_cast<std::ptrdiff_t>(6 * row));
    rows_.theta[row] = theta;
  }
  PlacedSide a_, b_;
  JointRows rows_;
};

constexpr Vec3 world_axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

JointRows ball_rows(std::size_t number, const PlacedSide& a, const PlacedSide& b) {
  Rows rows(number, a, b);
  const Vec3 d = b.point - a.point;
  const double theta[3] = {d.x, d.y, d.z};
  for (int k = 0; k < 3; ++k) rows.offset(world_axes[k], theta[k], false);
  return rows.get();
}

/// t1 . e_B and t2 . e_B: d/dt (t . e_B) = (w_B - w_A) . (e_B x t).
JointRows hinge_rows(std::size_t number, const PlacedSide& a, const PlacedSide& b) {
  Rows rows(number, a, b);
  for (const Vec3& t : {a.t1, a.t2}) rows.turn(cross(b.axis, t), dot(t, b.axis));
  return rows.get();
}

/// t1 . d and t2 . d, with t fixed to A.
JointRows guide_rows(std::size_t number, const PlacedSide& a, const PlacedSide& b) {
  Rows rows(number, a, b);
  const Vec3 d = b.point - a.point;
  for (const Vec3& t : {a.t1, a.t2}) rows.offset(t, dot(t, d), true);
  return rows.get();
}

/// The turn of B against A from `turn`, as a rotation vector; its rate is w_B - w_A to first order.
JointRows turn_rows(std::size_t number, const PlacedSide& a, const PlacedSide& b,
                    const Quaternion& turn) {
  Rows rows(number, a, b);
  const Vec3 angle = rotation_vector(b.orientation * conjugate(a.orientation * turn));
  const double theta[3] = {angle.x, angle.y, angle.z};
  for (int k = 0; k < 3; ++k) rows.turn(world_axes[k], theta[k]);
  return rows.get();
}

JointRows length_rows(std::size_t number, const PlacedSide& a, const PlacedSide& b, double length) {
  Rows rows(number, a, b);
  const Vec3 d = b.point - a.point;
  const double size = norm(d);
  // Points that agree have no direction: any will do until they part.
  rows.offset(size > 0 ? 1 / size * d : world_axes[2], size - length, false);
  return rows.get();
}

void add_rows(const Bodies& bodies, std::size_t number, std::vector<JointRows>& all) {
  const Joint& joint = bodies.joints[number];
  const PlacedSide a = placed(bodies, joint.a), b = placed(bodies, joint.b);
  switch (joint.kind) {
    case JointKind::ball:
      all.push_back(ball_rows(number, a, b));
      break;
    case JointKind::hinge:
      all.push_back(ball_rows(number, a, b));
      all.push_back(hinge_rows(number, a, b));
      break;
    case JointKind::slider:
      all.push_back(guide_rows(number, a, b));
      all.push_back(turn_rows(number, a, b, joint.turn));
      break;
    case JointKind::distance:
    case JointKind::spring:
      all.push_back(length_rows(number, a, b, joint.length));
      break;
    case JointKind::motor: {
      Rows rows(number, a, b);
      rows.turn(a.axis, 0, joint.speed);
      all.push_back(rows.get());
    }
  }
}

}  // namespace

std::vector<JointRows> joint_rows(const Bodies& bodies) {
  std::vector<JointRows> all;
  for (std::size_t j = 0; j < bodies.joints.size(); ++j) add_rows(bodies, j, all);
  return all;
}

int row_sets(JointKind kind) {
  return kind == JointKind::hinge || kind == JointKind::slider ? 2 : 1;
}

bool holds_position(const Joint& joint) {
  return joint.kind != JointKind::spring && joint.kind != JointKind::motor;
}

double joint_error(const Bodies& bodies) {
  double most = 0;
  for (const JointRows& rows : joint_rows(bodies)) {
    if (!holds_position(bodies.joints[rows.joint])) continue;
    most = std::max(most, norm(Vec3{rows.theta[0], rows.theta[1], rows.theta[2]}));
  }
  return most;
}

double spring_energy(const Bodies& bodies) {
  double energy = 0;
  for (const Joint& joint : bodies.joints) {
    if (joint.kind != JointKind::spring) continue;
    const double stretch =
        norm(placed(bodies, joint.b).point - placed(bodies, joint.a).point) - joint.length;
    energy += 0.5 * joint.stiffness * stretch * stretch;
  }
  return energy;
}

namespace {

/// Bodies and obstacles that there are.
void check_numbers(const Bodies& bodies, const Joint& joint, const std::string& where,
                   std::size_t number) {
  const auto check = [&](const char* one, const char* all, int side, std::size_t count) {
    if (side < static_cast<int>(count)) return;
    throw InputError(where, fmt::format("joint {} ({})", number, to_string(joint.kind)),
                     fmt::format("one of {} {}", count, all), fmt::format("{} {}", one, side));
  };
  for (const JointSide* side : {&joint.a, &joint.b}) {
    check("body", "bodies", side->body, bodies.count());
    check("obstacle", "obstacles", side->obstacle, bodies.obstacles.size());
  }
}

}  // namespace

std::size_t add_joint(Bodies& bodies, Joint joint, const Vec3& point_a, const Vec3& point_b,
                      const Vec3& axis) {
  check_numbers(bodies, joint, "joints", bodies.joints.size());
  const Pose a = pose_of(bodies, joint.a), b = pose_of(bodies, joint.b);
  const Vec3 unit = 1 / norm(axis) * axis;
  const auto own = [&](const Pose& pose, const Vec3& point, JointSide& side) {
    side.point = rotate(conjugate(pose.orientation), point - pose.position);
    side.axis = rotate(conjugate(pose.orientation), unit);
  };
  own(a, point_a, joint.a);
  own(b, point_b, joint.b);
  const bool has_length = joint.kind == JointKind::distance || joint.kind == JointKind::spring;
  if (has_length && joint.length == 0) joint.length = norm(point_b - point_a);
  joint.turn = conjugate(a.orientation) * b.orientation;
  bodies.joints.push_back(joint);
  return bodies.joints.size() - 1;
}

// ---- checks -------------------------------------------------------------------------------------

namespace {

/// Faults that a joint has by itself.
void check_joint(const Bodies& bodies, const std::string& where, std::size_t number) {
  const Joint& joint = bodies.joints[number];
  const auto fail = [&](const std::string& expected, const std::string& found) {
    throw InputError(where, fmt::format("joint {} ({})", number, to_string(joint.kind)), expected,
                     found);
  };
  check_numbers(bodies, joint, where, number);
  for (const JointSide* side : {&joint.a, &joint.b}) {
    if (side->body >= 0 && bodies.kind[static_cast<std::size_t>(side->body)] == BodyKind::wall) {
      fail("bodies that are no servo walls", fmt::format("the wall {}", side->body));
    }
    if (!(std::abs(norm(side->axis) - 1) < 1e-6)) {
      fail("an axis of length 1", fmt::format("one of length {}", norm(side->axis)));
    }
    if (!std::isfinite(dot(side->point, side->point))) fail("points that are finite", "others");
  }
  if (joint.a.body < 0 && joint.b.body < 0) {
    fail("a body that can move on one side at least", "none on either side");
  }
  if (joint.a.body >= 0 && joint.a.body == joint.b.body) {
    fail("two different bodies", fmt::format("body {} on both sides", joint.a.body));
  }
  const bool spring = joint.kind == JointKind::spring;
  if ((spring || joint.kind == JointKind::distance) &&
      !(joint.length > 0 && std::isfinite(joint.length))) {
    fail("a length > 0 m", fmt::format("{} m", joint.length));
  }
  if (spring &&
      !(joint.stiffness >= 0 && joint.damping >= 0 && joint.stiffness + joint.damping > 0 &&
        std::isfinite(joint.stiffness + joint.damping))) {
    fail("a stiffness and a damping that are >= 0, one of them > 0",
         fmt::format("{} N/m and {} N s/m", joint.stiffness, joint.damping));
  }
  if (!std::isfinite(joint.speed)) fail("a finite speed", "another one");
}

/// What a unit impulse along a row does to its bodies, [12]: M^-1 J^T.
std::array<double, 12> response_of(const Bodies& bodies, const JointRows& rows, int row) {
  const Joint& joint = bodies.joints[rows.joint];
  std::array<double, 12> response{};
  for (int side = 0; side < 2; ++side) {
    const int body = (side == 0 ? joint.a : joint.b).body;
    if (body < 0) continue;
    const auto i = static_cast<std::size_t>(body);
    const auto& jacobian = side == 0 ? rows.jacobian_a : rows.jacobian_b;
    const double* j = &jacobian[std::size_t{6} * static_cast<std::size_t>(row)];
    const Vec3 spin = spin_from(bodies, i, bodies.turned(i), {j[3], j[4], j[5]});
    const double light = 1 / bodies.mass[i];
    const double entry[6] = {light * j[0], light * j[1], light * j[2], spin.x, spin.y, spin.z};
    std::copy(entry, entry + 6, response.begin() + 6 * side);
  }
  return response;
}

double dot12(const std::array<double, 12>& a, const std::array<double, 12>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < 12; ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace

void check_joints(const Bodies& bodies, const std::string& where) {
  for (std::size_t j = 0; j < bodies.joints.size(); ++j) check_joint(bodies, where, j);
  // Rows of each pair of sides, made orthogonal one after the other: what is left of a row that
  // others hold already is nothing.
  struct Direction {
    std::array<double, 12> unit;
    std::size_t joint;
  };
  std::map<std::pair<int, int>, std::vector<Direction>> held;
  constexpr double nothing = 1e-7;
  const auto code = [](const JointSide& side) { return side.body >= 0 ? side.body : -1; };
  for (const JointRows& rows : joint_rows(bodies)) {
    const Joint& joint = bodies.joints[rows.joint];
    if (joint.kind == JointKind::spring) continue;
    const std::string place = fmt::format("joint {} ({})", rows.joint, to_string(joint.kind));
    const bool turned = code(joint.a) > code(joint.b);
    auto& known = held[std::minmax(code(joint.a), code(joint.b))];
    for (int row = 0; row < rows.rows; ++row) {
      std::array<double, 12> left = response_of(bodies, rows, row);
      if (turned) std::rotate(left.begin(), left.begin() + 6, left.end());
      const double size = std::sqrt(dot12(left, left));
      if (!(size > 0)) {
        throw InputError(where, place, "bodies that can turn as it holds them",
                         "bodies that cannot (planar, or without rotation)");
      }
      std::size_t nearest = rows.joint;
      double most = 0;
      for (const Direction& direction : known) {
        const double part = dot12(direction.unit, left);
        if (std::abs(part) > most && direction.joint != rows.joint) {
          most = std::abs(part), nearest = direction.joint;
        }
        for (std::size_t k = 0; k < 12; ++k) left[k] -= part * direction.unit[k];
      }
      const double rest = std::sqrt(dot12(left, left));
      if (!(rest > nothing * size)) {
        throw InputError(where, place, "joints that do not overlap",
                         fmt::format("a motion that joint {} holds already", nearest));
      }
      for (double& value : left) value /= rest;
      known.push_back({left, rows.joint});
    }
  }
}

}  // namespace ccp
