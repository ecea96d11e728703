#pragma once

#include "problems/base/enum_text.hpp"
#include "problems/base/quaternion.hpp"
#include "problems/base/vec3.hpp"

namespace ccp {

/// How two sides hold each other; Theta is what must be zero. With the points p and axes e of the
/// sides in the world, d = p_B - p_A and two unit vectors t1, t2 across e_A:
///
///     ball      d                                       3 rows, m
///     hinge     d, and t1 . e_B, t2 . e_B               3 + 2 rows, m and 1
///     slider    t1 . d, t2 . d, and the turn of B       2 + 3 rows, m and rad
///               against A from what it was at the start
///     distance  |d| - length                            1 row, m
///     spring    |d| - length = stretch, no constraint:  1 row
///               force -stiffness stretch - damping d/dt stretch, linearly implicit
///     motor     e_A . (w_B - w_A) - speed               1 row, rad/s
enum class JointKind { ball, hinge, slider, distance, spring, motor };
template <>
struct EnumTable<JointKind> {
  static constexpr EnumText<JointKind> rows[] = {
      {JointKind::ball, "ball"},     {JointKind::hinge, "hinge"},
      {JointKind::slider, "slider"}, {JointKind::distance, "distance"},
      {JointKind::spring, "spring"}, {JointKind::motor, "motor"}};
};

/// One side of a joint: a body, an obstacle or, if neither, the world.
struct JointSide {
  int body = -1, obstacle = -1;
  Vec3 point;          ///< m, in axes of the body or obstacle, from its position
  Vec3 axis{0, 0, 1};  ///< unit, in the same axes
};

/// A joint. Bodies that one holds together do not touch each other unless `collide` is set.
struct Joint {
  JointKind kind = JointKind::ball;
  JointSide a, b;
  double length = 0;     ///< m, of a distance or spring, > 0
  double stiffness = 0;  ///< N/m, of a spring
  double damping = 0;    ///< N s/m, of a spring
  double speed = 0;      ///< rad/s, of a motor
  Quaternion turn;       ///< of a slider: that of B against A at the start, conj(Q_A) Q_B
  bool collide = false;
};

}  // namespace ccp
