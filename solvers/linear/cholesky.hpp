#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace ccp {

/// Sparse Cholesky factorisation P A P^T = L L^T by CHOLMOD: symbolic analysis once, supernodal
/// where an entry of L takes 40 operations or more, else column by column. The order is nested
/// dissection (METIS), or minimum degree (AMD) where there are few unknowns, or METIS is missing or
/// fails. On the host; its dense kernels are the BLAS', on as many threads as the run has
/// (set_blas_threads).
class SparseCholesky {
 public:
  /// Analyses a symmetric matrix given by its lower triangle in compressed columns: n + 1 offsets,
  /// row indices >= column, ascending in each column. The ordering is done here.
  /// @param block  unknowns come in blocks of so many, whose entries are in the pattern together or
  ///               not at all: the order is that of the blocks, found in a smaller graph
  /// @param single whether a supernodal factor, once it is made, is kept in single precision: half
  ///               the memory and half the time of a solve, by a factor each of whose entries has
  ///               been rounded to 24 bits
  /// @throws std::invalid_argument if the arrays are no such pattern, std::bad_alloc
  SparseCholesky(const std::vector<std::int64_t>& column_offsets, const std::vector<int>& rows,
                 int block = 1, bool single = false);
  ~SparseCholesky();
  SparseCholesky(SparseCholesky&&) noexcept;
  SparseCholesky& operator=(SparseCholesky&&) noexcept;

  /// Numeric factorisation. @param values  of the lower triangle, in the order of `rows`
  /// @return false if the matrix is not positive definite (or has NaN entries); solve() must not be
  ///         called then
  bool factorize(const double* values);

  /// x = A^-1 b for one right-hand side of n values on the host; x may be b.
  void solve(const double* b, double* x);

  int size() const;
  /// The unknown at each place of the elimination.
  std::vector<int> order() const;
  /// Entries of L without the zeros that supernodes store beside them, from the analysis.
  double factor_entries() const;
  /// Floating-point operations of a factorisation, from the analysis.
  double flops() const;

 private:
  struct Cholmod;
  std::unique_ptr<Cholmod> cholmod_;
};

}  // namespace ccp
