#pragma once

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// Pattern of a symmetric block matrix whose rows have been sorted by level: a row depends, through
/// its entries left of the diagonal, on rows of lower levels only. Whatever sweeps through the rows
/// (a factorisation, a triangular solve) may treat the rows of one level in any order or at once.
struct BlockPattern {
  int rows = 0;
  int blocks = 0;                   ///< off-diagonal blocks of the lower triangle
  DeviceArray<int*> level_offset;   ///< [levels + 1] first row of each level
  DeviceArray<int*> row_offset;     ///< [rows + 1] blocks left of the diagonal, by rows
  DeviceArray<int*> column;         ///< [blocks] ascending within a row
  DeviceArray<int*> column_offset;  ///< [rows + 1] the same blocks by columns
  DeviceArray<int*> row;            ///< [blocks] ascending within a column
  DeviceArray<int*> place;          ///< [blocks] where a block of the first list is in the second
  int levels() const { return static_cast<int>(level_offset.extent(0)) - 1; }
};

/// Small dense blocks in flat arrays, column-major.
namespace block {

/// Packed lower triangle: entry (i, j), i >= j, at i (i + 1) / 2 + j.
template <int NB>
inline constexpr int packed = NB*(NB + 1) / 2;
KOKKOS_INLINE_FUNCTION constexpr int at(int i, int j) {
  return i * (i + 1) / 2 + j;
}

/// c -= a b^T.
template <int NB, class A>
KOKKOS_INLINE_FUNCTION void subtract_product(const A* a, const A* b, double* c) {
  for (int k = 0; k < NB; ++k) {
    for (int j = 0; j < NB; ++j) {
      const double factor = b[NB * k + j];
      for (int i = 0; i < NB; ++i) c[NB * j + i] -= a[NB * k + i] * factor;
    }
  }
}

/// c -= a a^T, c packed.
template <int NB, class A>
KOKKOS_INLINE_FUNCTION void subtract_square(const A* a, double* c) {
  for (int k = 0; k < NB; ++k) {
    for (int i = 0; i < NB; ++i) {
      const double factor = a[NB * k + i];
      for (int j = 0; j <= i; ++j) c[at(i, j)] -= factor * a[NB * k + j];
    }
  }
}

/// NB numbers of one row, from which products with blocks are subtracted.
template <int NB>
struct Accumulator {
  double value[NB];

  KOKKOS_INLINE_FUNCTION explicit Accumulator(const double* x) {
    for (int i = 0; i < NB; ++i) value[i] = x[i];
  }
  /// value -= a x.
  template <class A>
  KOKKOS_INLINE_FUNCTION void subtract(const A* a, const double* x) {
    for (int j = 0; j < NB; ++j) {
      for (int i = 0; i < NB; ++i) value[i] -= a[NB * j + i] * x[j];
    }
  }
  KOKKOS_INLINE_FUNCTION void get(double* x) const {
    for (int i = 0; i < NB; ++i) x[i] = value[i];
  }
};

#if defined(__GNUC__) && !defined(__CUDACC__)
/// Columns of three in four lanes; the fourth carries what follows in memory, and is dropped.
/// Arrays of such blocks need one number more at their end.
template <>
struct Accumulator<3> {
  typedef double Lanes __attribute__((vector_size(32)));
  typedef double LooseDoubles __attribute__((vector_size(32), aligned(8)));
  typedef float LooseFloats __attribute__((vector_size(16), aligned(4)));
  Lanes value;

  explicit Accumulator(const double* x) : value{x[0], x[1], x[2], 0} {}
  static Lanes load(const double* a) { return *reinterpret_cast<const LooseDoubles*>(a); }
  static Lanes load(const float* a) {
    return __builtin_convertvector(*reinterpret_cast<const LooseFloats*>(a), Lanes);
  }
  template <class A>
  void subtract(const A* a, const double* x) {
    value -= load(a) * x[0];
    value -= load(a + 3) * x[1];
    value -= load(a + 6) * x[2];
  }
  void get(double* x) const { x[0] = value[0], x[1] = value[1], x[2] = value[2]; }
};
#endif

/// Inverse of the Cholesky factor of a, both packed lower triangles, in place.
/// @return false if a is not safely positive definite: a pivot below `least` times its entry
template <int NB>
KOKKOS_INLINE_FUNCTION bool invert_factor(double* a, double least) {
  bool good = true;
  for (int j = 0; j < NB; ++j) {
    const double entry = a[at(j, j)];
    double pivot = entry;
    for (int k = 0; k < j; ++k) pivot -= a[at(j, k)] * a[at(j, k)];
    if (!(pivot > least * entry)) {
      good = false;
      pivot = entry > 0 ? entry : 1;
    }
    const double root = sqrt(pivot);
    a[at(j, j)] = root;
    for (int i = j + 1; i < NB; ++i) {
      double sum = a[at(i, j)];
      for (int k = 0; k < j; ++k) sum -= a[at(i, k)] * a[at(j, k)];
      a[at(i, j)] = sum / root;
    }
  }
  for (int j = 0; j < NB; ++j) {
    a[at(j, j)] = 1 / a[at(j, j)];
    for (int i = j + 1; i < NB; ++i) {
      double sum = 0;
      for (int k = j; k < i; ++k) sum -= a[at(i, k)] * a[at(k, j)];
      a[at(i, j)] = sum / a[at(i, i)];
    }
  }
  return good;
}

/// x <- L x for a packed lower triangle.
template <int NB>
KOKKOS_INLINE_FUNCTION void lower_apply(const double* l, double* x) {
  for (int i = NB - 1; i >= 0; --i) {
    double sum = 0;
    for (int j = 0; j <= i; ++j) sum += l[at(i, j)] * x[j];
    x[i] = sum;
  }
}

/// x <- L^T x for a packed lower triangle.
template <int NB>
KOKKOS_INLINE_FUNCTION void lower_apply_transposed(const double* l, double* x) {
  for (int j = 0; j < NB; ++j) {
    double sum = 0;
    for (int i = j; i < NB; ++i) sum += l[at(i, j)] * x[i];
    x[j] = sum;
  }
}

/// Entries stored for an off-diagonal block of the matrix. Blocks of bodies that do not rotate are
/// symmetric, and their packed half is all that is stored.
template <int NB>
inline constexpr int stored = NB == 3 ? packed<3> : NB* NB;

/// The full block from its stored entries.
template <int NB>
KOKKOS_INLINE_FUNCTION void expand(const double* from, double* a) {
  if (stored<NB> == NB * NB) {
    for (int k = 0; k < NB * NB; ++k) a[k] = from[k];
  } else {
    for (int i = 0; i < NB; ++i) {
      for (int j = 0; j <= i; ++j) a[NB * j + i] = a[NB * i + j] = from[at(i, j)];
    }
  }
}

/// y -= a x for a packed symmetric block.
template <int NB>
KOKKOS_INLINE_FUNCTION void subtract_packed(const double* a, const double* x, double* y) {
  for (int i = 0; i < NB; ++i) {
    for (int j = 0; j < NB; ++j) y[i] -= a[i > j ? at(i, j) : at(j, i)] * x[j];
  }
}

/// y -= a x for a block in its stored form.
template <int NB>
KOKKOS_INLINE_FUNCTION void subtract_stored(const double* a, const double* x, double* y) {
  if (NB == 3) {
    const double x0 = x[0], x1 = x[1], x2 = x[2];
    y[0] -= a[0] * x0 + a[1] * x1 + a[3] * x2;
    y[1] -= a[1] * x0 + a[2] * x1 + a[4] * x2;
    y[2] -= a[3] * x0 + a[4] * x1 + a[5] * x2;
  } else {
    for (int j = 0; j < NB; ++j) {
      for (int i = 0; i < NB; ++i) y[i] -= a[NB * j + i] * x[j];
    }
  }
}

}  // namespace block

/// Symmetric matrix of NB x NB blocks on a BlockPattern: the diagonal blocks packed, the
/// off-diagonal ones of both triangles as block::expand takes them, so that a product reads memory
/// in order. Row i has first the blocks left of the diagonal, then those right of it; block 0 of
/// row i is number row_offset(i) + column_offset(i). For NB = 3 that is 104 bytes per pair of
/// bodies with the indices.
template <int NB>
class SymmetricBlockMatrix : public Operator {
 public:
  explicit SymmetricBlockMatrix(const BlockPattern& pattern);

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  /// y = A x; alpha and beta must be 1 and 0.
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;
  void multiply(const ConstVectorView& x, const VectorView& y) const;

  const BlockPattern& pattern() const { return pattern_; }
  DeviceArray<double*> diagonal() const { return diagonal_; }
  DeviceArray<double*> off_diagonal() const { return off_diagonal_; }

 private:
  BlockPattern pattern_;
  Teuchos::RCP<const Map> map_;
  DeviceArray<double*> diagonal_;      ///< [rows * packed]
  DeviceArray<double*> off_diagonal_;  ///< [2 blocks * stored]
};

/// A preconditioner of SymmetricBlockMatrix<NB>.
template <int NB>
class BlockPreconditioner : public Operator {
 public:
  /// Takes new values. @return the shift of the diagonal that was needed
  virtual double factorize(const SymmetricBlockMatrix<NB>& a) = 0;
};

/// Block incomplete Cholesky factorisation A ~ L L^T on a pattern that has at least the blocks of
/// A, in the level order of the pattern. With `off_diagonal` false only the diagonal blocks are
/// kept: the block Jacobi preconditioner. Real is the type in which the off-diagonal blocks are
/// kept.
template <int NB, class Real>
class IncompleteCholesky : public BlockPreconditioner<NB> {
 public:
  /// @param pattern  of L below the diagonal
  /// @param source   [pattern.blocks] which lower block of A starts a block of L, -1 = none (fill);
  ///                 empty = the pattern is A's own
  IncompleteCholesky(const BlockPattern& pattern, bool off_diagonal,
                     const DeviceArray<int*>& source = {});

  /// Factorises. When a pivot fails, starts again with the diagonal multiplied by 1 + shift, shift
  /// = 1e-3, 3e-3, ... @return the shift used
  double factorize(const SymmetricBlockMatrix<NB>& a) override;

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  /// y = (L L^T)^-1 x; alpha and beta must be 1 and 0.
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;

  bool try_factorize(const SymmetricBlockMatrix<NB>& a, double shift) const;

 private:
  BlockPattern pattern_;
  bool off_diagonal_;
  DeviceArray<int*> source_;
  Teuchos::RCP<const Map> map_;
  DeviceArray<double*> inverse_;  ///< [rows * packed] inverses of the diagonal blocks of L
  DeviceArray<Real*> factor_;     ///< [blocks * NB * NB + 1] off-diagonal blocks of L, by rows
  DeviceArray<Real*> factor_by_column_;  ///< their transposes by columns, for the backward sweep
};

}  // namespace ccp
