#pragma once

#include <array>
#include <cmath>

#include "problems/base/vec3.hpp"

namespace ccp {

/// A rotation from a body's own axes to the world's, as a quaternion w + x i + y j + z k of
/// length 1.
struct Quaternion {
  double w = 1, x = 0, y = 0, z = 0;
};

/// The rotation b, and after it a.
inline Quaternion operator*(const Quaternion& a, const Quaternion& b) {
  return {
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
/// The rotation back.
inline Quaternion conjugate(const Quaternion& q) {
  return {q.w, -q.x, -q.y, -q.z};
}
inline double norm(const Quaternion& q) {
  return std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}
/// q / |q|. @param q  not zero
inline Quaternion normalized(const Quaternion& q) {
  const double size = norm(q);
  return {q.w / size, q.x / size, q.y / size, q.z / size};
}
/// Whether |q| is 1 but for what files and roundings do to it. Rotations normalise on the way.
inline bool is_unit(const Quaternion& q) {
  return std::abs(norm(q) - 1) <= 1e-6;
}

/// The rotation by |angle| rad about angle / |angle|: what an angular velocity w does in the time h
/// is rotation(h w) q, in world axes.
inline Quaternion rotation(const Vec3& angle) {
  const double size = norm(angle);
  // sin(size / 2) / size; the series is exact to rounding below 1e-4.
  const double factor = size < 1e-4 ? 0.5 - size * size / 48 : std::sin(size / 2) / size;
  return {std::cos(size / 2), factor * angle.x, factor * angle.y, factor * angle.z};
}

/// The rotation vector of a rotation, at most pi rad long: rotation(rotation_vector(q)) is q or -q.
inline Vec3 rotation_vector(const Quaternion& q) {
  const Vec3 u{q.x, q.y, q.z};
  const double s = norm(u), sign = q.w < 0 ? -1 : 1;
  if (s < 1e-12) return 2 * sign * u;
  return sign * 2 * std::atan2(s, std::abs(q.w)) / s * u;
}

/// The three own axes of a body in world axes: the columns of the rotation matrix.
/// @param q  of length 1
inline std::array<Vec3, 3> axes_of(const Quaternion& q) {
  return {
      {{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y)},
       {2 * (q.x * q.y - q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z + q.w * q.x)},
       {2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x),
        1 - 2 * (q.x * q.x + q.y * q.y)}}};
}
/// A vector of own axes in world axes.
inline Vec3 rotate(const Quaternion& q, const Vec3& v) {
  const Vec3 i{q.x, q.y, q.z};
  const Vec3 twice = 2 * cross(i, v);
  return v + q.w * twice + cross(i, twice);
}

}  // namespace ccp
