#pragma once

#include "problems/base/vec3.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// R of a symmetric positive definite matrix R^T R of size N that is a sum of squares v v^T: each v
/// is rotated into R (Givens), and the sum is never formed. Where squares differ by a factor f,
/// that leaves the small ones all digits but those of sqrt(f); a sum of them would lose those of f.
template <int N>
struct TriangularRoot {
  double r[N * (N + 1) / 2] = {};  ///< upper triangle by rows

  KOKKOS_INLINE_FUNCTION static int place(int i, int j) { return i * N - i * (i - 1) / 2 + j - i; }

  /// Of a matrix, by Cholesky: a row whose pivot is not positive is zero. @param entry  of i <= j
  template <class Entry>
  KOKKOS_INLINE_FUNCTION static TriangularRoot of(const Entry& entry) {
    TriangularRoot root;
    for (int i = 0; i < N; ++i) {
      for (int j = i; j < N; ++j) {
        double left = entry(i, j);
        for (int k = 0; k < i; ++k) left -= root.r[place(k, i)] * root.r[place(k, j)];
        const double pivot = j == i ? (left > 0 ? sqrt(left) : 0) : root.r[place(i, i)];
        root.r[place(i, j)] = j == i ? pivot : pivot > 0 ? left / pivot : 0;
      }
    }
    return root;
  }

  /// R^T R += v v^T. @param v  changed
  KOKKOS_INLINE_FUNCTION void add(double (&v)[N]) {
    for (int i = 0; i < N; ++i) {
      if (v[i] == 0) continue;
      double* const row = r + place(i, i) - i;
      const double size = sqrt(row[i] * row[i] + v[i] * v[i]);
      const double c = row[i] / size, s = v[i] / size;
      for (int j = i; j < N; ++j) {
        const double own = row[j];
        row[j] = c * own + s * v[j];
        v[j] = c * v[j] - s * own;
      }
    }
  }

  /// b <- (R^T R)^-1 b.
  KOKKOS_INLINE_FUNCTION void solve(double (&b)[N]) const {
    for (int i = 0; i < N; ++i) {
      for (int k = 0; k < i; ++k) b[i] -= r[place(k, i)] * b[k];
      b[i] /= r[place(i, i)];
    }
    for (int i = N - 1; i >= 0; --i) {
      for (int j = i + 1; j < N; ++j) b[i] -= r[place(i, j)] * b[j];
      b[i] /= r[place(i, i)];
    }
  }
};

/// The diagonal blocks of the first rows of blocks by their roots, where sums have lost too much:
/// alone, or together with those of one of the rows behind them.
struct BlockRoots {
  DeviceArray<const int*> pair;                    ///< [rows] in `paired`, or -1; empty: all alone
  DeviceArray<const TriangularRoot<3>*> alone;     ///< [rows]
  DeviceArray<const TriangularRoot<6>*> together;  ///< [pairs], with row `rows` + pair
  int rows() const { return static_cast<int>(alone.extent(0)); }
};

}  // namespace ccp
