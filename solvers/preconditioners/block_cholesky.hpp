#pragma once

#include <array>

#include "solvers/linear/block_matrix.hpp"

namespace ccp {

/// How a factorisation reads a SymmetricBlockMatrix<NB>, on whose pattern (or a filled one) it is.
template <int NB>
class StoredBlocks {
 public:
  explicit StoredBlocks(const SymmetricBlockMatrix<NB>& a)
      : diagonal_(a.diagonal()),
        off_diagonal_(a.off_diagonal()),
        column_offset_(a.pattern().column_offset) {}

  /// The diagonal block of row i, packed.
  KOKKOS_INLINE_FUNCTION void diagonal(int i, double* out) const {
    const double* const from = diagonal_.data() + static_cast<std::size_t>(block::packed<NB>) * i;
    for (int k = 0; k < block::packed<NB>; ++k) out[k] = from[k];
  }
  /// Block k of the matrix's lower triangle, which is in row i, column-major.
  KOKKOS_INLINE_FUNCTION void lower(int i, int k, double* out) const {
    block::expand<NB>(off_diagonal_.data() +
                          static_cast<std::size_t>(block::stored<NB>) * (k + column_offset_(i)),
                      out);
  }

 private:
  DeviceArray<const double*> diagonal_, off_diagonal_;
  DeviceArray<const int*> column_offset_;
};

/// How it reads row-major blocks that lie anywhere, those of a Tpetra::BlockCrsMatrix for one.
template <int NB>
class ScatteredBlocks {
 public:
  DeviceArray<const double*> values;
  DeviceArray<const std::size_t*> diagonal_place;  ///< [rows] number of the block in `values`
  DeviceArray<const std::size_t*> lower_place;     ///< [blocks] the same

  KOKKOS_INLINE_FUNCTION void diagonal(int i, double* out) const {
    const double* const from = values.data() + NB * NB * diagonal_place(i);
    for (int p = 0; p < NB; ++p) {
      for (int q = 0; q <= p; ++q) out[block::at(p, q)] = from[NB * p + q];
    }
  }
  KOKKOS_INLINE_FUNCTION void lower(int, int k, double* out) const {
    const double* const from = values.data() + NB * NB * lower_place(k);
    for (int p = 0; p < NB; ++p) {
      for (int q = 0; q < NB; ++q) out[NB * q + p] = from[NB * p + q];
    }
  }
};

/// How it reads a SymmetricBlockMatrix<NB> whose rows have another order here.
template <int NB>
class ReorderedBlocks {
 public:
  DeviceArray<const double*> diagonal_values, values;
  DeviceArray<const std::size_t*> diagonal_place;  ///< [rows] number of the block in its array
  DeviceArray<const std::size_t*> lower_place;     ///< [blocks] the same

  KOKKOS_INLINE_FUNCTION void diagonal(int i, double* out) const {
    const double* const from = diagonal_values.data() + block::packed<NB> * diagonal_place(i);
    for (int k = 0; k < block::packed<NB>; ++k) out[k] = from[k];
  }
  KOKKOS_INLINE_FUNCTION void lower(int, int k, double* out) const {
    block::expand<NB>(values.data() + block::stored<NB> * lower_place(k), out);
  }
};

/// What L is.
enum class FactorKind {
  diagonal,      ///< Cholesky factors of the diagonal blocks: the block Jacobi preconditioner
  gauss_seidel,  ///< (D + lower A) D^-T/2: L L^T is the symmetric Gauss-Seidel preconditioner
  cholesky,      ///< incomplete Cholesky
};

/// Block incomplete Cholesky factorisation  A ~ L L^T  of a symmetric matrix of NB x NB blocks, and
/// its inverse as an operator:
///
///     L_ij = (A_ij - sum_k L_ik L_jk^T) L_jj^-T  on the pattern,    L_ii by Cholesky,
///
/// on a pattern that has at least the blocks of A, by levels: rows of a level at once, in the
/// factorisation and in both triangular sweeps. Two other kinds of L are ready with it. Real is the
/// type in which the off-diagonal blocks are kept. Where sums run in the same order, the result
/// does not depend on the threads.
///
/// A factorisation takes for each block of L one pass over the row of its column on the host, which
/// looks up where its own row has the same columns, and a binary search per entry of the shorter of
/// both rows on a device, or where one is many times longer: a body with very many contacts.
///
/// Triangular solves are exact, level after level, or by Jacobi sweeps over all rows at once,
///     y <- D^-1 (b - (L - D) y),   from y = D^-1 b, D the diagonal blocks of L,
/// as many in the backward solve: with s of them the inverse is T^T T for T the sum of
/// (-D^-1 (L - D))^k D^-1, k <= s, symmetric and definite for any s, and exact from one less than
/// the levels on (Anzt, Chow and Dongarra 2015).
///
/// Storage per block of L: 2 NB^2 numbers (L by rows, and by columns for the backward sweep) and
/// three indices; read per application: 2 NB^2 numbers and two indices.
template <int NB, class Real>
class IncompleteCholesky : public Operator {
 public:
  /// @param pattern  of L below the diagonal
  /// @param source   [pattern.blocks] which lower block of A starts a block of L, -1 = none (fill);
  ///                 empty = the pattern is A's own
  /// @param order    [rows] the row of A's vectors at each row of the pattern; empty = the same
  /// @param sweeps   of Jacobi's method in each triangular solve; 0 = exact, by levels
  IncompleteCholesky(const BlockPattern& pattern, FactorKind kind,
                     const DeviceArray<int*>& source = {}, const DeviceArray<int*>& order = {},
                     int sweeps = 0);

  /// Factorises A + shift diag(A), read through StoredBlocks or ScatteredBlocks.
  /// @param least     a pivot that is not above this part of its diagonal entry has failed
  /// @param complete  goes on after a failed pivot, for which the diagonal entry then stands in, so
  ///                  that the factor is positive definite all the same; else there is no factor
  /// @return whether no pivot failed
  template <class Blocks>
  bool factorize(const Blocks& a, double shift, double least, bool complete) const;

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  /// y = alpha (L L^T)^-1 x + beta y.
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;

  // Public only because device lambdas may not live in private members.
  /// out = (L L^T)^-1 in, in the pattern's order of rows; may be the same array.
  void solve(const double* in, double* out) const;
  void solve_by_sweeps(const double* in, double* out) const;

 private:
  BlockPattern pattern_;
  FactorKind kind_;
  std::vector<int> level_offset_;  ///< the pattern's, on the host
  DeviceArray<int*> source_, order_;
  Teuchos::RCP<const Map> map_;
  DeviceArray<double*> inverse_;  ///< [rows * packed] inverses of the diagonal blocks of L
  DeviceArray<Real*> factor_;     ///< [blocks * NB * NB + 1] off-diagonal blocks of L, by rows
  DeviceArray<Real*> factor_by_column_;  ///< their transposes by columns, for the backward sweep
  DeviceArray<int**> lookup_;            ///< [threads][rows] see factorize; host only
  Kokkos::View<int, MemSpace> failed_;   ///< whether a pivot has failed
  mutable VectorView work_;              ///< where the order, alpha or beta need it
  int sweeps_;
  std::array<VectorView, 3> swept_;  ///< of Jacobi's method
};

}  // namespace ccp
