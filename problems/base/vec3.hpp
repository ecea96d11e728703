#pragma once

#include <cmath>

#include "problems/base/portable.hpp"

namespace ccp {

/// Three numbers: an impulse, a velocity, an arm. In contact axes they are (n, t1, t2), in world
/// axes (x, y, z).
struct Vec3 {
  double x = 0, y = 0, z = 0;
};

CCP_FUNCTION Vec3 operator+(const Vec3& a, const Vec3& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
CCP_FUNCTION Vec3 operator-(const Vec3& a, const Vec3& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
CCP_FUNCTION Vec3 operator*(double s, const Vec3& a) {
  return {s * a.x, s * a.y, s * a.z};
}
CCP_FUNCTION double dot(const Vec3& a, const Vec3& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
CCP_FUNCTION Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
CCP_FUNCTION double norm(const Vec3& a) {
  return sqrt(dot(a, a));
}

/// Triple i of a flat vector (3 entries each), a view or a pointer's object that has operator().
template <class View>
CCP_FUNCTION Vec3 load3(const View& v, int i) {
  return {v(3 * i), v(3 * i + 1), v(3 * i + 2)};
}
template <class View>
CCP_FUNCTION void store3(const View& v, int i, const Vec3& value) {
  v(3 * i) = value.x;
  v(3 * i + 1) = value.y;
  v(3 * i + 2) = value.z;
}
/// Row i of an array with three columns.
template <class Array>
CCP_FUNCTION Vec3 row3(const Array& a, int i) {
  return {a(i, 0), a(i, 1), a(i, 2)};
}

}  // namespace ccp
