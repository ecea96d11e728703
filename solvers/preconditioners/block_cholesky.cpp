#include "solvers/preconditioners/block_cholesky.hpp"

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

template <int NB, class Real>
IncompleteCholesky<NB, Real>::IncompleteCholesky(const BlockPattern& pattern, bool off_diagonal,
                                                 const DeviceArray<int*>& source,
                                                 const DeviceArray<int*>& order)
    : pattern_(pattern),
      off_diagonal_(off_diagonal),
      source_(source),
      order_(order),
      map_(make_map(static_cast<std::size_t>(NB) * pattern.rows)),
      inverse_("ccp::IncompleteCholesky::inverse",
               static_cast<std::size_t>(block::packed<NB>) * pattern.rows),
      factor_("ccp::IncompleteCholesky::factor",
              off_diagonal ? static_cast<std::size_t>(NB * NB) * pattern.blocks + 1 : 0),
      factor_by_column_("ccp::IncompleteCholesky::factor_by_column", factor_.extent(0)),
      failed_("ccp::IncompleteCholesky::failed"),
      work_("ccp::IncompleteCholesky::work",
            order.extent(0) > 0 ? static_cast<std::size_t>(NB) * pattern.rows : 0) {}

template <int NB, class Real>
template <class Blocks>
bool IncompleteCholesky<NB, Real>::factorize(const Blocks& a, double shift, double least,
                                             bool complete) const {
  constexpr std::size_t size = NB * NB, packed = block::packed<NB>;
  const auto row_offset = pattern_.row_offset, column = pattern_.column, place = pattern_.place;
  const auto source = source_;
  const bool own = source_.extent(0) == 0;
  double* const inverse = inverse_.data();
  Real* const factor = factor_.data();
  Real* const factor_by_column = factor_by_column_.data();
  const bool whole = off_diagonal_;
  const auto failed = failed_;
  Kokkos::deep_copy(failed, 0);
  sweep(
      "ccp::IncompleteCholesky::factorize", pattern_, false, KOKKOS_LAMBDA(const int i) {
        if (!complete && failed() != 0) return;
        double d[packed];
        a.diagonal(i, d);
        for (int k = 0; k < NB; ++k) d[block::at(k, k)] *= 1 + shift;
        const int begin = row_offset(i), end = whole ? row_offset(i + 1) : begin;
        for (int k = begin; k < end; ++k) {
          const int j = column(k);
          double acc[size];
          const int from = own ? k : source(k);
          if (from >= 0) {
            a.lower(i, from, acc);
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
void IncompleteCholesky<NB, Real>::apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
                                         double beta) const {
  const auto order = order_;
  const bool ordered = order.extent(0) > 0;
  if (!ordered && alpha == 1 && beta == 0) {
    solve(read_view(x).data(), overwrite_view(y).data());
    return;
  }
  const auto size = static_cast<std::size_t>(NB) * pattern_.rows;
  if (work_.extent(0) != size) work_ = VectorView("ccp::IncompleteCholesky::work", size);
  const auto work = work_;
  const auto in = read_view(x);
  Kokkos::parallel_for(
      "ccp::IncompleteCholesky::gather", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
        const int from = ordered ? order(i) : i;
        for (int p = 0; p < NB; ++p) work(NB * i + p) = in(NB * from + p);
      });
  solve(work.data(), work.data());
  const auto out = beta == 0 ? overwrite_view(y) : read_write_view(y);
  Kokkos::parallel_for(
      "ccp::IncompleteCholesky::scatter", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
        const int to = ordered ? order(i) : i;
        for (int p = 0; p < NB; ++p) {
          double& value = out(NB * to + p);
          value = alpha * work(NB * i + p) + (beta == 0 ? 0 : beta * value);
        }
      });
}

template <int NB, class Real>
void IncompleteCholesky<NB, Real>::solve(const double* in, double* out) const {
  constexpr std::size_t size = NB * NB, packed = block::packed<NB>;
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

#define CCP_INSTANTIATE(NB, Real)                                                                \
  template class IncompleteCholesky<NB, Real>;                                                   \
  template bool IncompleteCholesky<NB, Real>::factorize(const StoredBlocks<NB>&, double, double, \
                                                        bool) const;                             \
  template bool IncompleteCholesky<NB, Real>::factorize(const ScatteredBlocks<NB>&, double,      \
                                                        double, bool) const;
CCP_INSTANTIATE(3, float)
CCP_INSTANTIATE(3, double)
CCP_INSTANTIATE(6, float)
CCP_INSTANTIATE(6, double)

}  // namespace ccp
