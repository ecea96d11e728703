#include "solvers/preconditioners/block_cholesky.hpp"

#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

using TeamPolicy = Kokkos::TeamPolicy<ExecSpace>;

// Not whether the host can reach the memory: with CUDA's unified memory it can.
constexpr bool on_host = std::is_same_v<ExecSpace, Kokkos::DefaultHostExecutionSpace>;

/// Of the one team of all threads (of one block on a device) that sweeps: its barrier between two
/// levels costs far less than a kernel per level.
int team_size() {
  return on_host ? ExecSpace().concurrency() : 256;
}

/// Calls row(i, thread) for all rows, those of one level in parallel, level after level from the
/// lowest, or `down` from the highest. On a device few levels, as colours make them, are a kernel
/// each, which has the whole device; many are one team's. One thread takes the rows as they come.
/// @param host_offset  pattern.level_offset on the host
template <class Row>
void sweep(const std::string& label, const BlockPattern& pattern,
           const std::vector<int>& host_offset, bool down, const Row& row_of) {
  constexpr int few = 100;
  const auto offset = pattern.level_offset, order = pattern.level_row;
  const int levels = pattern.levels(), rows = pattern.rows;
  if (on_host && team_size() == 1) {
    Kokkos::parallel_for(
        label, range(1), KOKKOS_LAMBDA(const int) {
          for (int i = 0; i < rows; ++i) row_of(down ? rows - 1 - i : i, 0);
        });
    return;
  }
  const bool sorted = order.extent(0) == 0;
  const auto row = KOKKOS_LAMBDA(const int k, const int thread) {
    row_of(sorted ? k : order(k), thread);
  };
  if (!on_host && levels <= few) {
    for (int k = 0; k < levels; ++k) {
      const int level = down ? levels - 1 - k : k;
      Kokkos::parallel_for(
          label, Kokkos::RangePolicy<ExecSpace>(host_offset[level], host_offset[level + 1]),
          KOKKOS_LAMBDA(const int i) { row(i, 0); });
    }
    return;
  }
  Kokkos::parallel_for(
      label, TeamPolicy(1, team_size()), KOKKOS_LAMBDA(const TeamPolicy::member_type& team) {
        for (int k = 0; k < levels; ++k) {
          const int level = down ? levels - 1 - k : k;
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, offset(level), offset(level + 1)),
                               [&](const int i) { row(i, team.team_rank()); });
          team.team_barrier();
        }
      });
}

/// The first of the ascending columns [begin, end) that is not below `least`.
template <class Columns>
KOKKOS_INLINE_FUNCTION int lower_bound(const Columns& column, int begin, int end, int least) {
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (column(middle) < least) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// Calls act(p, q) where column(p) = column(q), in ascending order, for two lists [p, p_end) and
/// [q, q_end) of which the first is the shorter.
template <class Columns, class Act>
KOKKOS_INLINE_FUNCTION void for_each_shared(const Columns& column, int p, int p_end, int q,
                                            int q_end, const Act& act) {
  for (; p < p_end && q < q_end; ++p) {
    q = lower_bound(column, q, q_end, column(p));
    if (q < q_end && column(q) == column(p)) act(p, q);
  }
}

/// An NB x NB block, column-major, from which products of blocks are subtracted.
template <int NB>
struct BlockSum {
  double value[NB * NB];

  KOKKOS_INLINE_FUNCTION explicit BlockSum(const double* a) {
    for (int k = 0; k < NB * NB; ++k) value[k] = a[k];
  }
  /// value -= a b^T.
  template <class A>
  KOKKOS_INLINE_FUNCTION void subtract_product(const A* a, const A* b) {
    block::subtract_product<NB>(a, b, value);
  }
  /// out = value L^T for a packed lower triangle l.
  template <class A>
  KOKKOS_INLINE_FUNCTION void times_transposed(const double* l, A* out) const {
    for (int q = 0; q < NB; ++q) {
      for (int p = 0; p < NB; ++p) {
        double sum = 0;
        for (int m = 0; m <= q; ++m) sum += value[NB * m + p] * l[block::at(q, m)];
        out[NB * q + p] = static_cast<A>(sum);
      }
    }
  }
};

#if defined(__GNUC__) && !defined(__CUDACC__)
/// Columns in lanes, like block::Accumulator<3>.
template <>
struct BlockSum<3> {
  using Lanes = block::Accumulator<3>::Lanes;
  Lanes column[3];

  explicit BlockSum(const double* a) {
    for (int j = 0; j < 3; ++j) column[j] = Lanes{a[3 * j], a[3 * j + 1], a[3 * j + 2], 0};
  }
  template <class A>
  void subtract_product(const A* a, const A* b) {
    for (int k = 0; k < 3; ++k) {
      const Lanes ak = block::Accumulator<3>::load(a + 3 * k);
      for (int j = 0; j < 3; ++j) column[j] -= ak * static_cast<double>(b[3 * k + j]);
    }
  }
  template <class A>
  void times_transposed(const double* l, A* out) const {
    for (int q = 0; q < 3; ++q) {
      Lanes sum{};
      for (int m = 0; m <= q; ++m) sum += column[m] * l[block::at(q, m)];
      for (int p = 0; p < 3; ++p) out[3 * q + p] = static_cast<A>(sum[p]);
    }
  }
};
#endif

}  // namespace

namespace {

/// Row i of a triangular solve L y = b, or L^T y = b with its blocks by columns:
/// D^-1 (b - (L - D) from), D the diagonal blocks of L; `from` may be null, for zero. It is the
/// exact solve where rows that it depends on come before and `from` is where they are written, and
/// a sweep of Jacobi's method otherwise.
template <int NB, class Real, bool transposed>
struct TriangularRow {
  DeviceArray<const int*> offset, other;  ///< blocks beside the diagonal by rows, and their columns
  const Real* factor;
  const double *inverse, *b, *from;
  double* to;

  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    constexpr std::size_t size = NB * NB, packed = block::packed<NB>;
    block::Accumulator<NB> sum(b + static_cast<std::size_t>(NB) * i);
    const int end = from == nullptr ? offset(i) : offset(i + 1);
    for (int k = offset(i); k < end; ++k) {
      sum.subtract(factor + size * k, from + static_cast<std::size_t>(NB) * other(k));
    }
    double z[NB];
    sum.get(z);
    if constexpr (transposed) {
      block::lower_apply_transposed<NB>(inverse + packed * i, z);
    } else {
      block::lower_apply<NB>(inverse + packed * i, z);
    }
    for (int p = 0; p < NB; ++p) to[NB * i + p] = z[p];
  }
};

template <int NB, class Real>
using ForwardRow = TriangularRow<NB, Real, false>;
template <int NB, class Real>
using BackwardRow = TriangularRow<NB, Real, true>;

}  // namespace

template <int NB, class Real>
IncompleteCholesky<NB, Real>::IncompleteCholesky(const BlockPattern& pattern, FactorKind kind,
                                                 const DeviceArray<int*>& source,
                                                 const DeviceArray<int*>& order, int sweeps)
    : pattern_(pattern),
      kind_(kind),
      level_offset_(download(pattern.level_offset)),
      source_(source),
      order_(order),
      map_(make_map(static_cast<std::size_t>(NB) * pattern.rows)),
      inverse_("ccp::IncompleteCholesky::inverse",
               static_cast<std::size_t>(block::packed<NB>) * pattern.rows),
      factor_(to_be_filled("ccp::IncompleteCholesky::factor"),
              kind != FactorKind::diagonal ? static_cast<std::size_t>(NB * NB) * pattern.blocks + 1
                                           : 0),
      factor_by_column_(to_be_filled("ccp::IncompleteCholesky::factor_by_column"),
                        factor_.extent(0)),
      lookup_("ccp::IncompleteCholesky::lookup",
              kind == FactorKind::cholesky && on_host ? team_size() : 0, pattern.rows),
      failed_("ccp::IncompleteCholesky::failed"),
      work_("ccp::IncompleteCholesky::work",
            order.extent(0) > 0 ? static_cast<std::size_t>(NB) * pattern.rows : 0),
      sweeps_(sweeps) {
  Kokkos::deep_copy(lookup_, -1);
  for (VectorView& swept : swept_) {
    if (sweeps_ == 0) break;
    swept =
        VectorView("ccp::IncompleteCholesky::swept", static_cast<std::size_t>(NB) * pattern.rows);
  }
}

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
  const bool whole = kind_ != FactorKind::diagonal, eliminates = kind_ == FactorKind::cholesky;
  const auto failed = failed_;
  int* const lookup = lookup_.extent(0) > 0 ? lookup_.data() : nullptr;
  const auto rows = static_cast<std::size_t>(pattern_.rows);
  Kokkos::deep_copy(failed, 0);
  sweep(
      "ccp::IncompleteCholesky::factorize", pattern_, level_offset_, false,
      KOKKOS_LAMBDA(const int i, const int thread) {
        if (!complete && failed() != 0) return;
        double d[packed];
        a.diagonal(i, d);
        for (int k = 0; k < NB; ++k) d[block::at(k, k)] *= 1 + shift;
        const int begin = row_offset(i), end = whole ? row_offset(i + 1) : begin;
        int* const at = lookup == nullptr ? nullptr : lookup + rows * thread;
        for (int k = begin; k < end && at != nullptr; ++k) at[column(k)] = k;
        for (int k = begin; k < end; ++k) {
          const int j = column(k);
          double start[size];
          const int from = own ? k : source(k);
          if (from >= 0) {
            a.lower(i, from, start);
          } else {
            for (std::size_t m = 0; m < size; ++m) start[m] = 0;
          }
          BlockSum<NB> sum(start);
          const auto subtract = [&](int p, int q) {
            sum.subtract_product(factor + size * p, factor + size * q);
          };
          // Columns that rows i and j share, left of j.
          const int other = row_offset(j), other_end = row_offset(j + 1);
          const int length = k - begin, other_length = other_end - other;
          if (!eliminates) {
            // L_ij = A_ij L_jj^-T.
          } else if (at != nullptr && other_length <= 16 * length) {
            for (int q = other; q < other_end; ++q) {
              const int p = at[column(q)];
              if (p >= 0) subtract(p, q);
            }
          } else if (other_length > length) {
            for_each_shared(column, begin, k, other, other_end, subtract);
          } else {
            for_each_shared(column, other, other_end, begin, k,
                            [&](int q, int p) { subtract(p, q); });
          }
          // L_ij = sum L_jj^-T.
          Real* const out = factor + size * k;
          sum.times_transposed(inverse + packed * j, out);
          Real* const transposed = factor_by_column + size * place(k);
          for (int q = 0; q < NB; ++q) {
            for (int p = 0; p < NB; ++p) transposed[NB * p + q] = out[NB * q + p];
          }
          if (eliminates) block::subtract_square<NB>(out, d);
        }
        for (int k = begin; k < end && at != nullptr; ++k) at[column(k)] = -1;
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
  constexpr std::size_t packed = block::packed<NB>;
  const double* const inverse = inverse_.data();
  if (kind_ == FactorKind::diagonal) {
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
  if (sweeps_ > 0) {
    solve_by_sweeps(in, out);
    return;
  }
  const ForwardRow<NB, Real> forward{
      pattern_.row_offset, pattern_.column, factor_.data(), inverse, in, out, out};
  sweep(
      "ccp::IncompleteCholesky::forward", pattern_, level_offset_, false,
      KOKKOS_LAMBDA(const int i, int) { forward(i); });
  const BackwardRow<NB, Real> backward{
      pattern_.column_offset, pattern_.row, factor_by_column_.data(), inverse, out, out, out};
  sweep(
      "ccp::IncompleteCholesky::backward", pattern_, level_offset_, true,
      KOKKOS_LAMBDA(const int i, int) { backward(i); });
}

template <int NB, class Real>
void IncompleteCholesky<NB, Real>::solve_by_sweeps(const double* in, double* out) const {
  ForwardRow<NB, Real> forward{
      pattern_.row_offset, pattern_.column, factor_.data(), inverse_.data(), in, nullptr,
      swept_[0].data()};
  BackwardRow<NB, Real> backward{pattern_.column_offset,
                                 pattern_.row,
                                 factor_by_column_.data(),
                                 inverse_.data(),
                                 nullptr,
                                 nullptr,
                                 nullptr};
  for (int k = 0; k <= sweeps_; ++k) {
    forward.to = swept_[k % 2].data();
    Kokkos::parallel_for("ccp::IncompleteCholesky::forward_sweep", range(pattern_.rows), forward);
    forward.from = forward.to;
  }
  backward.b = forward.to;
  // What is not the right-hand side takes turns, and the last one is the answer.
  double* const turns[2] = {swept_[(sweeps_ + 1) % 2].data(), swept_[2].data()};
  for (int k = 0; k <= sweeps_; ++k) {
    backward.to = k == sweeps_ ? out : turns[k % 2];
    Kokkos::parallel_for("ccp::IncompleteCholesky::backward_sweep", range(pattern_.rows), backward);
    backward.from = backward.to;
  }
}

#define CCP_INSTANTIATE(NB, Real)                                                                \
  template class IncompleteCholesky<NB, Real>;                                                   \
  template bool IncompleteCholesky<NB, Real>::factorize(const StoredBlocks<NB>&, double, double, \
                                                        bool) const;                             \
  template bool IncompleteCholesky<NB, Real>::factorize(const ScatteredBlocks<NB>&, double,      \
                                                        double, bool) const;                     \
  template bool IncompleteCholesky<NB, Real>::factorize(const ReorderedBlocks<NB>&, double,      \
                                                        double, bool) const;
CCP_INSTANTIATE(3, float)
CCP_INSTANTIATE(3, double)
CCP_INSTANTIATE(6, float)
CCP_INSTANTIATE(6, double)

}  // namespace ccp
