#pragma once

#include <cstdint>
#include <vector>

#include "solvers/linear/block_pattern.hpp"

namespace ccp {

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

/// A symmetric block matrix as plain host data: blocks of the lower triangle by rows, the diagonal
/// one last in its row. What files keep of systems in body space.
struct HostBlocks {
  int block_size = 3;
  std::vector<std::int64_t> row_offsets{0};  ///< [rows + 1]
  std::vector<int> columns;                  ///< [blocks] ascending within a row
  std::vector<double> values;                ///< [blocks][block_size][block_size] row-major
  std::size_t rows() const { return row_offsets.size() - 1; }
};

/// A symmetric matrix of square blocks, whatever their size.
class SymmetricBlocks : public Operator {
 public:
  /// 3 or 6.
  virtual int block_size() const = 0;
  const BlockPattern& pattern() const { return pattern_; }
  virtual HostBlocks to_host() const = 0;
  /// Takes other values on the same pattern.
  virtual void set_values(const HostBlocks& values) = 0;

 protected:
  explicit SymmetricBlocks(const BlockPattern& pattern) : pattern_(pattern) {}
  BlockPattern pattern_;
};

/// From host data of blocks of 3 or 6, rows as they come.
Teuchos::RCP<SymmetricBlocks> make_symmetric_blocks(const HostBlocks& blocks);

/// The diagonal blocks packed, the off-diagonal ones of both triangles as block::expand takes them,
/// so that a product reads memory in order. Row i has first the blocks left of the diagonal, then
/// those right of it; block 0 of row i is number row_offset(i) + column_offset(i). For NB = 3 that
/// is 104 bytes per pair of bodies with the indices.
template <int NB>
class SymmetricBlockMatrix : public SymmetricBlocks {
 public:
  explicit SymmetricBlockMatrix(const BlockPattern& pattern);

  int block_size() const override { return NB; }
  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  /// y = A x; alpha and beta must be 1 and 0.
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;
  void multiply(const ConstVectorView& x, const VectorView& y) const;
  HostBlocks to_host() const override;
  void set_values(const HostBlocks& values) override;

  DeviceArray<double*> diagonal() const { return diagonal_; }
  DeviceArray<double*> off_diagonal() const { return off_diagonal_; }

 private:
  Teuchos::RCP<const Map> map_;
  DeviceArray<double*> diagonal_;      ///< [rows * packed]
  DeviceArray<double*> off_diagonal_;  ///< [2 blocks * stored]
};

}  // namespace ccp
