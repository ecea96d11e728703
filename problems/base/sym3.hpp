#pragma once

#include "problems/base/vec3.hpp"

namespace ccp {

/// A symmetric 3x3 matrix: a block of N [1/kg], an impulse per velocity [kg], an inertia. Its upper
/// triangle by rows is what is stored, and the lower one by columns.
struct Sym3 {
  double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;

  /// Entry (i, j), indices from 0 in any order.
  CCP_FUNCTION double operator()(int i, int j) const {
    if (i > j) return (*this)(j, i);
    if (i == 0) return j == 0 ? xx : j == 1 ? xy : xz;
    return i == 2 ? zz : j == 1 ? yy : yz;
  }
};

/// From entry(i, j) for i <= j, indices from 0.
template <class Entry>
CCP_FUNCTION Sym3 symmetric(const Entry& entry) {
  return {entry(0, 0), entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2), entry(2, 2)};
}
/// The upper triangle of block c of an array [n][3][3].
template <class Blocks>
CCP_FUNCTION Sym3 upper_triangle(const Blocks& blocks, int c) {
  return {blocks(c, 0, 0), blocks(c, 0, 1), blocks(c, 0, 2),
          blocks(c, 1, 1), blocks(c, 1, 2), blocks(c, 2, 2)};
}
/// All nine entries, row-major.
CCP_FUNCTION void expand(const Sym3& a, double full[9]) {
  full[0] = a.xx, full[1] = a.xy, full[2] = a.xz;
  full[3] = a.xy, full[4] = a.yy, full[5] = a.yz;
  full[6] = a.xz, full[7] = a.yz, full[8] = a.zz;
}

CCP_FUNCTION Vec3 operator*(const Sym3& a, const Vec3& v) {
  return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
          a.xz * v.x + a.yz * v.y + a.zz * v.z};
}

/// v . A v.
CCP_FUNCTION double weighted_square(const Sym3& a, const Vec3& v) {
  return dot(v, a * v);
}

/// The smallest eigenvalue, in closed form: to some 1e-8 of the largest.
CCP_FUNCTION double smallest_eigenvalue(const Sym3& a) {
  const double mean = (a.xx + a.yy + a.zz) / 3;
  const Sym3 b{a.xx - mean, a.xy, a.xz, a.yy - mean, a.yz, a.zz - mean};
  const double square =
      (b.xx * b.xx + b.yy * b.yy + b.zz * b.zz) / 6 + (b.xy * b.xy + b.xz * b.xz + b.yz * b.yz) / 3;
  if (!(square > 0)) return mean;
  const double p = sqrt(square);
  const double determinant = b.xx * (b.yy * b.zz - b.yz * b.yz) -
                             b.xy * (b.xy * b.zz - b.yz * b.xz) +
                             b.xz * (b.xy * b.yz - b.yy * b.xz);
  const double half = determinant / (2 * p * p * p);
  const double angle = acos(half < -1 ? -1 : half > 1 ? 1 : half) / 3;
  return mean + 2 * p * cos(angle + 2.0943951023931953);  // 2 pi / 3
}

/// The largest one, likewise.
CCP_FUNCTION double largest_eigenvalue(const Sym3& a) {
  return -smallest_eigenvalue({-a.xx, -a.xy, -a.xz, -a.yy, -a.yz, -a.zz});
}

/// F A F^T, that is A in the axes that are the rows of F. @param f, a  f(i, j), a(i, j)
template <class Axes, class Matrix>
CCP_FUNCTION Sym3 congruence(const Axes& f, const Matrix& a) {
  return symmetric([&](int i, int j) {
    double sum = 0;
    for (int p = 0; p < 3; ++p) {
      for (int q = 0; q < 3; ++q) sum += f(i, p) * a(p, q) * f(j, q);
    }
    return sum;
  });
}

/// Inverse of a symmetric positive definite matrix through its Cholesky factor, which stays
/// accurate for the badly scaled blocks that interior points near the cone's boundary have. One
/// that is not positive definite is replaced by its diagonal.
CCP_FUNCTION Sym3 inverse(const Sym3& a) {
  const double l00 = sqrt(a.xx), l10 = a.xy / l00, l20 = a.xz / l00;
  const double d1 = a.yy - l10 * l10;
  const double l11 = sqrt(d1), l21 = (a.yz - l20 * l10) / l11;
  const double d2 = a.zz - l20 * l20 - l21 * l21;
  if (!(a.xx > 0 && d1 > 0 && d2 > 0)) return {1 / a.xx, 0, 0, 1 / a.yy, 0, 1 / a.zz};
  const double i00 = 1 / l00, i11 = 1 / l11, i22 = 1 / sqrt(d2);
  const double i10 = -l10 * i00 * i11;
  const double i21 = -l21 * i11 * i22;
  const double i20 = -(l20 * i00 + l21 * i10) * i22;
  return {i00 * i00 + i10 * i10 + i20 * i20,
          i10 * i11 + i20 * i21,
          i20 * i22,
          i11 * i11 + i21 * i21,
          i21 * i22,
          i22 * i22};
}

/// The same for a block that may be singular, like that of a contact which nothing moves in some
/// direction: there, A + trace(A)/3 1 stands for A, and `spare` times the identity for zero. All
/// directions then have a weight. @param spare  > 0
CCP_FUNCTION Sym3 inverse_or_shifted(const Sym3& a, double spare) {
  const double mean = (a.xx + a.yy + a.zz) / 3;
  const double minor = a.xx * a.yy - a.xy * a.xy;
  const double determinant =
      minor * a.zz - a.xx * a.yz * a.yz - a.yy * a.xz * a.xz + 2 * a.xy * a.xz * a.yz;
  // Below 1e-12 of what it could be, a determinant is rounding.
  const bool regular = a.xx > 0 && minor > 0 && determinant > 1e-12 * mean * mean * mean;
  if (regular) return inverse(a);
  const double shift = mean > 0 ? mean : spare;
  return inverse({a.xx + shift, a.xy, a.xz, a.yy + shift, a.yz, a.zz + shift});
}

}  // namespace ccp
