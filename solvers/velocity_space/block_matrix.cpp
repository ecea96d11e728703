#include "solvers/velocity_space/block_matrix.hpp"

namespace ccp {
namespace {

using TeamPolicy = Kokkos::TeamPolicy<ExecSpace>;

/// One team of all threads (of one block on a device): its barrier between two levels costs far
/// less than a kernel per level.
TeamPolicy one_team() {
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                           ExecSpace::memory_space>::accessible) {
    return TeamPolicy(1, ExecSpace().concurrency());
  } else {
    return TeamPolicy(1, 256);
  }
}

/// Calls row(i) for all rows, those of one level in parallel, level after level from the lowest, or
/// `down` from the highest.
template <class Row>
void sweep(const std::string& label, const BlockPattern& pattern, bool down, const Row& row) {
  const auto offset = pattern.level_offset;
  const int levels = pattern.levels();
  Kokkos::parallel_for(
      label, one_team(), KOKKOS_LAMBDA(const TeamPolicy::member_type& team) {
        for (int k = 0; k < levels; ++k) {
          const int level = down ? levels - 1 - k : k;
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, offset(level), offset(level + 1)),
                               row);
          team.team_barrier();
        }
      });
}

}  // namespace

// ---- matrix
// --------------------------------------------------------------------------------------

template <int NB>
SymmetricBlockMatrix<NB>::SymmetricBlockMatrix(const BlockPattern& pattern)
    : pattern_(pattern),
      map_(make_map(static_cast<std::size_t>(NB) * pattern.rows)),
      diagonal_("ccp::SymmetricBlockMatrix::diagonal",
                static_cast<std::size_t>(block::packed<NB>) * pattern.rows),
      off_diagonal_("ccp::SymmetricBlockMatrix::off_diagonal",
                    static_cast<std::size_t>(2 * block::stored<NB>) * pattern.blocks) {}

template <int NB>
void SymmetricBlockMatrix<NB>::apply(const Vector& x, Vector& y, Teuchos::ETransp, double,
                                     double) const {
  multiply(read_view(x), overwrite_view(y));
}

template <int NB>
void SymmetricBlockMatrix<NB>::multiply(const ConstVectorView& x, const VectorView& y) const {
  const auto row_offset = pattern_.row_offset, column = pattern_.column,
             column_offset = pattern_.column_offset, row = pattern_.row;
  const double* const diagonal = diagonal_.data();
  const double* const off_diagonal = off_diagonal_.data();
  const double* const in = x.data();
  Kokkos::parallel_for(
      "ccp::SymmetricBlockMatrix::multiply", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
        double sum[NB] = {};
        block::subtract_packed<NB>(diagonal + static_cast<std::size_t>(block::packed<NB>) * i,
                                   in + static_cast<std::size_t>(NB) * i, sum);
        const int row_begin = row_offset(i), row_end = row_offset(i + 1);
        const int column_begin = column_offset(i), column_end = column_offset(i + 1);
        const double* a =
            off_diagonal + static_cast<std::size_t>(block::stored<NB>) * (row_begin + column_begin);
        for (int k = row_begin; k < row_end; ++k, a += block::stored<NB>) {
          block::subtract_stored<NB>(a, in + static_cast<std::size_t>(NB) * column(k), sum);
        }
        for (int l = column_begin; l < column_end; ++l, a += block::stored<NB>) {
          block::subtract_stored<NB>(a, in + static_cast<std::size_t>(NB) * row(l), sum);
        }
        for (int p = 0; p < NB; ++p) y(NB * i + p) = -sum[p];
      });
}

// ---- incomplete Cholesky
// -------------------------------------------------------------------------

template <int NB, class Real>
IncompleteCholesky<NB, Real>::IncompleteCholesky(const BlockPattern& pattern, bool off_diagonal,
                                                 const DeviceArray<int*>& source)
    : pattern_(pattern),
      off_diagonal_(off_diagonal),
      source_(source),
      map_(make_map(static_cast<std::size_t>(NB) * pattern.rows)),
      inverse_("ccp::IncompleteCholesky::inverse",
               static_cast<std::size_t>(block::packed<NB>) * pattern.rows),
      factor_("ccp::IncompleteCholesky::factor",
              off_diagonal ? static_cast<std::size_t>(NB * NB) * pattern.blocks + 1 : 0),
      factor_by_column_("ccp::IncompleteCholesky::factor_by_column", factor_.extent(0)) {}

template <int NB, class Real>
double IncompleteCholesky<NB, Real>::factorize(const SymmetricBlockMatrix<NB>& a) {
  double shift = 0;
  while (!try_factorize(a, shift)) {
    // Without off-diagonal blocks a shift changes nothing that matters.
    if (!off_diagonal_ || shift > 1e3) break;
    shift = shift == 0 ? 1e-3 : 3 * shift;
  }
  return shift;
}

template <int NB, class Real>
bool IncompleteCholesky<NB, Real>::try_factorize(const SymmetricBlockMatrix<NB>& a,
                                                 double shift) const {
  constexpr double least = 1e-10;
  constexpr std::size_t size = NB * NB, packed = block::packed<NB>, stored = block::stored<NB>;
  const auto row_offset = pattern_.row_offset, column = pattern_.column, place = pattern_.place;
  const auto a_column_offset = a.pattern().column_offset, source = source_;
  const bool own = source_.extent(0) == 0;
  const double* const diagonal = a.diagonal().data();
  const double* const off_diagonal = a.off_diagonal().data();
  double* const inverse = inverse_.data();
  Real* const factor = factor_.data();
  Real* const factor_by_column = factor_by_column_.data();
  const bool whole = off_diagonal_;
  const Kokkos::View<int, MemSpace> failed("ccp::IncompleteCholesky::failed");
  sweep(
      "ccp::IncompleteCholesky::factorize", pattern_, false, KOKKOS_LAMBDA(const int i) {
        double d[packed];
        for (std::size_t k = 0; k < packed; ++k) d[k] = diagonal[packed * i + k];
        for (int k = 0; k < NB; ++k) d[block::at(k, k)] *= 1 + shift;
        const int begin = row_offset(i), end = whole ? row_offset(i + 1) : begin;
        for (int k = begin; k < end; ++k) {
          const int j = column(k);
          double acc[size];
          const int from = own ? k : source(k);
          if (from >= 0) {
            block::expand<NB>(off_diagonal + stored * (from + a_column_offset(i)), acc);
          } else {
            for (std::size_t m = 0; m < size; ++m) acc[m] = 0;
          }
          // Columns that rows i and j share, left of j.
          int p = begin, q = row_offset(j);
          const int q_end = row_offset(j + 1);
          while (p < k && q < q_end) {
            const int cp = column(p), cq = column(q);
            if (cp == cq) block::subtract_product<NB>(factor + size * p, factor + size * q, acc);
            p += cp <= cq;
            q += cq <= cp;
          }
          // L_ij = acc L_jj^-T, column by column from the last.
          Real* const out = factor + size * k;
          Real* const transposed = factor_by_column + size * place(k);
          const double* const l = inverse + packed * j;
          for (int q = 0; q < NB; ++q) {
            for (int p = 0; p < NB; ++p) {
              double sum = 0;
              for (int m = 0; m <= q; ++m) sum += acc[NB * m + p] * l[block::at(q, m)];
              out[NB * q + p] = static_cast<Real>(sum);
              transposed[NB * p + q] = static_cast<Real>(sum);
            }
          }
          block::subtract_square<NB>(out, d);
        }
        if (!block::invert_factor<NB>(d, least)) failed() = 1;
        for (std::size_t k = 0; k < packed; ++k) inverse[packed * i + k] = d[k];
      });
  int any = 0;
  Kokkos::deep_copy(any, failed);
  return any == 0;
}

template <int NB, class Real>
void IncompleteCholesky<NB, Real>::apply(const Vector& x, Vector& y, Teuchos::ETransp, double,
                                         double) const {
  constexpr std::size_t size = NB * NB, packed = block::packed<NB>;
  const double* const in = read_view(x).data();
  double* const out = overwrite_view(y).data();
  const auto row_offset = pattern_.row_offset, column = pattern_.column,
             column_offset = pattern_.column_offset, row = pattern_.row;
  const double* const inverse = inverse_.data();
  const Real* const factor = factor_.data();
  const Real* const factor_by_column = factor_by_column_.data();
  if (!off_diagonal_) {
    Kokkos::parallel_for(
        "ccp::IncompleteCholesky::block_jacobi", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
          double z[NB];
          for (int p = 0; p < NB; ++p) z[p] = in[NB * i + p];
          block::lower_apply<NB>(inverse + packed * i, z);
          block::lower_apply_transposed<NB>(inverse + packed * i, z);
          for (int p = 0; p < NB; ++p) out[NB * i + p] = z[p];
        });
    return;
  }
  sweep(
      "ccp::IncompleteCholesky::forward", pattern_, false, KOKKOS_LAMBDA(const int i) {
        block::Accumulator<NB> sum(in + static_cast<std::size_t>(NB) * i);
        const int end = row_offset(i + 1);
        for (int k = row_offset(i); k < end; ++k) {
          sum.subtract(factor + size * k, out + static_cast<std::size_t>(NB) * column(k));
        }
        double z[NB];
        sum.get(z);
        block::lower_apply<NB>(inverse + packed * i, z);
        for (int p = 0; p < NB; ++p) out[NB * i + p] = z[p];
      });
  sweep(
      "ccp::IncompleteCholesky::backward", pattern_, true, KOKKOS_LAMBDA(const int i) {
        block::Accumulator<NB> sum(out + static_cast<std::size_t>(NB) * i);
        const int end = column_offset(i + 1);
        for (int l = column_offset(i); l < end; ++l) {
          sum.subtract(factor_by_column + size * l, out + static_cast<std::size_t>(NB) * row(l));
        }
        double z[NB];
        sum.get(z);
        block::lower_apply_transposed<NB>(inverse + packed * i, z);
        for (int p = 0; p < NB; ++p) out[NB * i + p] = z[p];
      });
}

template class SymmetricBlockMatrix<3>;
template class SymmetricBlockMatrix<6>;
template class IncompleteCholesky<3, float>;
template class IncompleteCholesky<3, double>;
template class IncompleteCholesky<6, float>;
template class IncompleteCholesky<6, double>;

}  // namespace ccp
