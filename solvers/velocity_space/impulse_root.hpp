#pragma once

#include "problems/base/sym3.hpp"

namespace ccp {

/// L with K = L L^T for the 3x3 block K [kg] of a contact, by columns. The columns of a block near
/// the boundary of its cone differ by ten and more orders of magnitude; each keeps its own digits,
/// which a sum of them loses.
struct ImpulseRoot {
  Vec3 a[3];

  KOKKOS_INLINE_FUNCTION Vec3 times(const Vec3& y) const {
    return y.x * a[0] + y.y * a[1] + y.z * a[2];
  }
  KOKKOS_INLINE_FUNCTION Vec3 transposed_times(const Vec3& b) const {
    return {dot(a[0], b), dot(a[1], b), dot(a[2], b)};
  }
  /// x with L^T x = y; in directions that L does not reach, x is `rest` there (mu = 0: K has rank
  /// one, and L its one column first).
  KOKKOS_INLINE_FUNCTION Vec3 solve_transposed(const Vec3& y, const Vec3& rest) const {
    const double volume = dot(a[0], cross(a[1], a[2]));
    if (volume != 0) {
      return (1 / volume) *
             (y.x * cross(a[1], a[2]) + y.y * cross(a[2], a[0]) + y.z * cross(a[0], a[1]));
    }
    const double square = dot(a[0], a[0]);
    return square > 0 ? rest + ((y.x - dot(a[0], rest)) / square) * a[0] : rest;
  }
};

/// By Cholesky factorisation of a positive semidefinite K; a pivot that is rounding has no column.
KOKKOS_INLINE_FUNCTION ImpulseRoot root_of(const Sym3& k) {
  double l[3][3] = {};
  for (int j = 0; j < 3; ++j) {
    double pivot = k(j, j);
    for (int m = 0; m < j; ++m) pivot -= l[j][m] * l[j][m];
    if (!(pivot > 1e-15 * k(j, j))) continue;
    l[j][j] = sqrt(pivot);
    for (int i = j + 1; i < 3; ++i) {
      double sum = k(i, j);
      for (int m = 0; m < j; ++m) sum -= l[i][m] * l[j][m];
      l[i][j] = sum / l[j][j];
    }
  }
  return {{{l[0][0], l[1][0], l[2][0]}, {0, l[1][1], l[2][1]}, {0, 0, l[2][2]}}};
}

}  // namespace ccp
