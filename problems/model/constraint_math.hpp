#pragma once

#include "problems/base/vec3.hpp"
#include "problems/model/contact_problem.hpp"
#include "problems/model/frame.hpp"

namespace ccp {

/// The physics of one contact, as hosts and kernels share it. Side A of a contact has the sign -1
/// and side B +1: with the velocities v, w of a body [m/s, rad/s] and the arm from its centre to
/// the contact [m], both in world axes,
///     u = F (sum over the sides of sign (v + w x arm)),
/// where the rows of the frame F are n, t1, t2; the impulse p = F^T gamma acts with sign p and
/// sign (arm x p) on the bodies.
CCP_FUNCTION double side_sign(int side) {
  return side == 0 ? -1 : 1;
}

/// Velocity of a body's point.
CCP_FUNCTION Vec3 velocity_at(const Vec3& v, const Vec3& w, const Vec3& arm) {
  return v + cross(w, arm);
}

/// Contact axes from world axes. @param frame  [3][3] rows n, t1, t2
CCP_FUNCTION Vec3 to_contact_axes(const double* frame, const Vec3& d) {
  return {frame[0] * d.x + frame[1] * d.y + frame[2] * d.z,
          frame[3] * d.x + frame[4] * d.y + frame[5] * d.z,
          frame[6] * d.x + frame[7] * d.y + frame[8] * d.z};
}
/// World axes from contact axes.
CCP_FUNCTION Vec3 to_world_axes(const double* frame, const Vec3& g) {
  return {frame[0] * g.x + frame[3] * g.y + frame[6] * g.z,
          frame[1] * g.x + frame[4] * g.y + frame[7] * g.z,
          frame[2] * g.x + frame[5] * g.y + frame[8] * g.z};
}

/// The row of the contact Jacobian that belongs to one axis and one side, [6]: what multiplies v,
/// and w.  axis . (w x arm) = w . (arm x axis)
CCP_FUNCTION void row_jacobian(const Vec3& axis, const Vec3& arm, int side, double row[6]) {
  const double sign = side_sign(side);
  const Vec3 lever = cross(arm, axis);
  row[0] = sign * axis.x, row[1] = sign * axis.y, row[2] = sign * axis.z;
  row[3] = sign * lever.x, row[4] = sign * lever.y, row[5] = sign * lever.z;
}

/// Row i: the torque of a unit impulse along axis i at an arm, arm x e_i.
struct Lever {
  double row[3][3];
};
CCP_FUNCTION Lever lever_of(const Vec3& arm) {
  return {{{0, arm.z, -arm.y}, {-arm.z, 0, arm.x}, {arm.y, -arm.x, 0}}};
}
/// The pair block of two contacts of one body is  sign_c sign_d (1/m I + turn):  entry (i, j) of
/// what rotation adds, the velocity along axis i at the first contact that a unit impulse along
/// axis j at the second one causes.  turn = L_c J^-1 L_d^T
template <class Inertia>
CCP_FUNCTION double turn(const Lever& c, const Inertia& inverse_inertia, const Lever& d, int i,
                         int j) {
  double sum = 0;
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q < 3; ++q) sum += c.row[i][p] * inverse_inertia(p, q) * d.row[j][q];
  }
  return sum;
}

/// Triple i of a flat array.
inline Vec3 triple(const std::vector<double>& data, std::size_t i) {
  return {data[3 * i], data[3 * i + 1], data[3 * i + 2]};
}
inline void set_triple(std::vector<double>& data, std::size_t i, const Vec3& v) {
  data[3 * i] = v.x, data[3 * i + 1] = v.y, data[3 * i + 2] = v.z;
}
/// The arm of a contact's side; zero where no body rotates.
inline Vec3 arm_of(const ContactProblem& problem, std::size_t contact, int side) {
  if (!problem.rotates()) return {};
  return triple(side == 0 ? problem.arm_a : problem.arm_b, contact);
}

/// J^-1 l, the angular velocity of an angular momentum; zero where no body rotates.
inline Vec3 spin_of(const ContactProblem& problem, std::size_t body, const Vec3& l) {
  if (!problem.rotates()) return {};
  const double* a = &problem.inverse_inertia[9 * body];
  return {a[0] * l.x + a[1] * l.y + a[2] * l.z, a[3] * l.x + a[4] * l.y + a[5] * l.z,
          a[6] * l.x + a[7] * l.y + a[8] * l.z};
}

/// Whether impulses can move a body: it has an inverse mass or inertia that is not zero. -1 is the
/// immovable body.
bool is_movable(const ContactProblem& problem, int body);

/// What r of a rigid contact is without its gap, contact axes [m/s]: the contact's velocity if its
/// bodies fall freely for a step,  F (sum of sign (v + dt g + w x arm)),  from `velocity`,
/// `gravity` and `dt` of the problem (bodies form; immovable bodies rest).
Vec3 free_velocity(const ContactProblem& problem, std::size_t contact);

}  // namespace ccp
