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

CCP_FUNCTION Mat3 operator*(const Mat3& a, const Mat3& b) {
  Mat3 c;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) c[3 * i + j] += a(i, k) * b(k, j);
    }
  }
  return c;
}
CCP_FUNCTION Mat3 identity3() {
  return {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
}
CCP_FUNCTION Mat3 transposed(const Mat3& m) {
  return {{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}};
}
/// u v^T.
CCP_FUNCTION Mat3 outer(const Vec3& u, const Vec3& v) {
  return {{u.x * v.x, u.x * v.y, u.x * v.z, u.y * v.x, u.y * v.y, u.y * v.z, u.z * v.x, u.z * v.y,
           u.z * v.z}};
}
/// w x as a matrix, and the w of a matrix's skew part.
CCP_FUNCTION Mat3 cross_matrix(const Vec3& w) {
  return {{0, -w.z, w.y, w.z, 0, -w.x, -w.y, w.x, 0}};
}
CCP_FUNCTION Vec3 axial(const Mat3& m) {
  return {0.5 * (m[7] - m[5]), 0.5 * (m[2] - m[6]), 0.5 * (m[3] - m[1])};
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
CCP_FUNCTION double determinant(const Mat3& a) {
  return determinant(a, adjugate(a));
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
/// @param a  regular
CCP_FUNCTION Mat3 inverted(const Mat3& a) {
  Mat3 inverse = adjugate(a);
  const double det = determinant(a, inverse);
  for (int k = 0; k < 9; ++k) inverse[k] /= det;
  return inverse;
}

}  // namespace ccp
