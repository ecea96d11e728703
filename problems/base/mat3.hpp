#pragma once

#include "problems/base/vec3.hpp"

namespace ccp {

/// A 3x3 matrix, row-major.
struct Mat3 {
  double a[9] = {};
  CCP_FUNCTION double operator()(int i, int j) const { return a[3 * i + j]; }
  CCP_FUNCTION double& operator[](int k) { return a[k]; }
  CCP_FUNCTION double operator[](int k) const { return a[k]; }
};

CCP_FUNCTION Vec3 operator*(const Mat3& m, const Vec3& v) {
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
          m[6] * v.x + m[7] * v.y + m[8] * v.z};
}

CCP_FUNCTION double largest_entry(const Mat3& m) {
  double size = 0;
  for (int k = 0; k < 9; ++k) size = size > fabs(m[k]) ? size : fabs(m[k]);
  return size;
}

/// The transposed cofactors: A^-1 = adj A / det A.
CCP_FUNCTION Mat3 adjugate(const Mat3& a) {
  return {{a[4] * a[8] - a[5] * a[7], a[2] * a[7] - a[1] * a[8], a[1] * a[5] - a[2] * a[4],
           a[5] * a[6] - a[3] * a[8], a[0] * a[8] - a[2] * a[6], a[2] * a[3] - a[0] * a[5],
           a[3] * a[7] - a[4] * a[6], a[1] * a[6] - a[0] * a[7], a[0] * a[4] - a[1] * a[3]}};
}
CCP_FUNCTION double determinant(const Mat3& a, const Mat3& adjugate) {
  return a[0] * adjugate[0] + a[1] * adjugate[3] + a[2] * adjugate[6];
}
/// Whether a determinant is one of a regular matrix, and not rounding.
CCP_FUNCTION bool is_regular(double determinant, double largest_entry) {
  return fabs(determinant) > 1e-14 * largest_entry * largest_entry * largest_entry;
}

/// @return false if a is singular (to rounding)
CCP_FUNCTION bool invert(const Mat3& a, Mat3& inverse) {
  const Mat3 adjoint = adjugate(a);
  const double det = determinant(a, adjoint);
  if (!is_regular(det, largest_entry(a))) return false;
  for (int k = 0; k < 9; ++k) inverse[k] = adjoint[k] / det;
  return true;
}

}  // namespace ccp
