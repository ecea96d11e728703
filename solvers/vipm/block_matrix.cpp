#include "solvers/vipm/block_matrix.hpp"

namespace ccp {
namespace {

using TeamPolicy = Kokkos::TeamPolicy<ExecSpace>;

/// One team of all threads (of one block on a device): its barrier between two levels costs far
/// less than a kernel per level.
TeamPolicy one_team() {
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, ExecSpace::memory_space>::accessible) {
    return TeamPolicy(1, ExecSpace().concurrency());
  } else {
    return TeamPolicy(1, 256);
  }
}

}  // namespace

template <class Row>
void sweep_up(const std::string& label, const BlockPattern& pattern, const Row& row) {
  const auto offset = pattern.level_offset;
  const int levels = pattern.levels();
  Kokkos::parallel_for(
      label, one_team(), KOKKOS_LAMBDA(const TeamPolicy::member_type& team) {
        for (int level = 0; level < levels; ++level) {
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, offset(level), offset(level + 1)), row);
          team.team_barrier();
        }
      });
}

template <class Row>
void sweep_down(const std::string& label, const BlockPattern& pattern, const Row& row) {
  const auto offset = pattern.level_offset;
  const int levels = pattern.levels();
  Kokkos::parallel_for(
      label, one_team(), KOKKOS_LAMBDA(const TeamPolicy::member_type& team) {
        for (int level = levels - 1; level >= 0; --level) {
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, offset(level), offset(level + 1)), row);
          team.team_barrier();
        }
      });
}

// ---- matrix --------------------------------------------------------------------------------------

template <int NB>
SymmetricBlockMatrix<NB>::SymmetricBlockMatrix(const BlockPattern& pattern)
    : pattern_(pattern),
      map_(make_map(static_cast<std::size_t>(NB) * pattern.rows)),
      diagonal_("ccp::SymmetricBlockMatrix::diagonal",
                static_cast<std::size_t>(block::packed<NB>) * pattern.rows),
      off_diagonal_("ccp::SymmetricBlockMatrix::off_diagonal",
                    static_cast<std::size_t>(block::stored<NB>) * pattern.blocks) {}

template <int NB>
void SymmetricBlockMatrix<NB>::apply(const Vector& x, Vector& y, Teuchos::ETransp, double,
                                     double) const {
  multiply(read_view(x), overwrite_view(y));
}

template <int NB>
void SymmetricBlockMatrix<NB>::multiply(const ConstVectorView& x, const VectorView& y) const {
  const auto row_offset = pattern_.row_offset, column = pattern_.column,
             column_offset = pattern_.column_offset;
  const auto by_column = pattern_.by_column;
  const double* const diagonal = diagonal_.data();
  const double* const off_diagonal = off_diagonal_.data();
  Kokkos::parallel_for(
      "ccp::SymmetricBlockMatrix::multiply", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
        double sum[NB] = {};
        const double* const d = diagonal + static_cast<std::size_t>(block::packed<NB>) * i;
        const double* const xi = x.data() + static_cast<std::size_t>(NB) * i;
        for (int p = 0; p < NB; ++p) {
          for (int q = 0; q < NB; ++q) sum[p] -= d[p > q ? block::at(p, q) : block::at(q, p)] * xi[q];
        }
        for (int k = row_offset(i); k < row_offset(i + 1); ++k) {
          double a[NB * NB];
          block::expand<NB>(off_diagonal + static_cast<std::size_t>(block::stored<NB>) * k, a);
          block::subtract_apply<NB>(a, x.data() + static_cast<std::size_t>(NB) * column(k), sum);
        }
        for (int l = column_offset(i); l < column_offset(i + 1); ++l) {
          double a[NB * NB];
          block::expand<NB>(
              off_diagonal + static_cast<std::size_t>(block::stored<NB>) * by_column(l, 0), a);
          block::subtract_apply_transposed<NB>(
              a, x.data() + static_cast<std::size_t>(NB) * by_column(l, 1), sum);
        }
        for (int p = 0; p < NB; ++p) y(NB * i + p) = -sum[p];
      });
}

// ---- incomplete Cholesky -------------------------------------------------------------------------

template <int NB>
IncompleteCholesky<NB>::IncompleteCholesky(const BlockPattern& pattern, bool off_diagonal)
    : pattern_(pattern),
      off_diagonal_(off_diagonal),
      map_(make_map(static_cast<std::size_t>(NB) * pattern.rows)),
      inverse_("ccp::IncompleteCholesky::inverse",
               static_cast<std::size_t>(block::packed<NB>) * pattern.rows),
      factor_("ccp::IncompleteCholesky::factor",
              off_diagonal ? static_cast<std::size_t>(NB * NB) * pattern.blocks : 0) {}

template <int NB>
double IncompleteCholesky<NB>::factorize(const SymmetricBlockMatrix<NB>& a) {
  double shift = 0;
  while (!try_factorize(a, shift)) {
    // Without off-diagonal blocks a shift changes nothing that matters.
    if (!off_diagonal_ || shift > 1e3) break;
    shift = shift == 0 ? 1e-3 : 3 * shift;
  }
  return shift;
}

template <int NB>
bool IncompleteCholesky<NB>::try_factorize(const SymmetricBlockMatrix<NB>& a, double shift) const {
  constexpr double least = 1e-10;
  const auto row_offset = pattern_.row_offset, column = pattern_.column;
  const auto diagonal = a.diagonal(), off_diagonal = a.off_diagonal();
  double* const inverse = inverse_.data();
  double* const factor = factor_.data();
  const bool whole = off_diagonal_;
  const Kokkos::View<int, MemSpace> failed("ccp::IncompleteCholesky::failed");
  sweep_up(
      "ccp::IncompleteCholesky::factorize", pattern_, KOKKOS_LAMBDA(const int i) {
        double d[block::packed<NB>];
        for (int k = 0; k < block::packed<NB>; ++k) {
          d[k] = diagonal(static_cast<std::size_t>(block::packed<NB>) * i + k);
        }
        for (int k = 0; k < NB; ++k) d[block::at(k, k)] *= 1 + shift;
        const int begin = row_offset(i), end = whole ? row_offset(i + 1) : begin;
        for (int k = begin; k < end; ++k) {
          const int j = column(k);
          double acc[NB * NB];
          block::expand<NB>(&off_diagonal(static_cast<std::size_t>(block::stored<NB>) * k), acc);
          // Columns that rows i and j share, left of j.
          int p = begin, q = row_offset(j);
          const int q_end = row_offset(j + 1);
          while (p < k && q < q_end) {
            const int cp = column(p), cq = column(q);
            if (cp == cq) {
              block::subtract_product<NB>(factor + static_cast<std::size_t>(NB * NB) * p,
                                          factor + static_cast<std::size_t>(NB * NB) * q, acc);
            }
            p += cp <= cq;
            q += cq <= cp;
          }
          // L_ij = acc L_jj^-T: row by row the product with the inverse.
          double* const out = factor + static_cast<std::size_t>(NB * NB) * k;
          const double* const l = inverse + static_cast<std::size_t>(block::packed<NB>) * j;
          for (int row = 0; row < NB; ++row) {
            block::lower_apply<NB>(l, acc + NB * row);
            for (int col = 0; col < NB; ++col) out[NB * row + col] = acc[NB * row + col];
          }
          block::subtract_square<NB>(out, d);
        }
        if (!block::invert_factor<NB>(d, least)) failed() = 1;
        for (int k = 0; k < block::packed<NB>; ++k) {
          inverse[static_cast<std::size_t>(block::packed<NB>) * i + k] = d[k];
        }
      });
  int any = 0;
  Kokkos::deep_copy(any, failed);
  return any == 0;
}

template <int NB>
void IncompleteCholesky<NB>::apply(const Vector& x, Vector& y, Teuchos::ETransp, double,
                                   double) const {
  const auto in = read_view(x);
  const auto out = overwrite_view(y);
  const auto row_offset = pattern_.row_offset, column = pattern_.column,
             column_offset = pattern_.column_offset;
  const auto by_column = pattern_.by_column;
  const double* const inverse = inverse_.data();
  const double* const factor = factor_.data();
  ++applies_;
  if (!off_diagonal_) {
    Kokkos::parallel_for(
        "ccp::IncompleteCholesky::block_jacobi", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
          double z[NB];
          for (int p = 0; p < NB; ++p) z[p] = in(NB * i + p);
          const double* const l = inverse + static_cast<std::size_t>(block::packed<NB>) * i;
          block::lower_apply<NB>(l, z);
          block::lower_apply_transposed<NB>(l, z);
          for (int p = 0; p < NB; ++p) out(NB * i + p) = z[p];
        });
    return;
  }
  sweep_up(
      "ccp::IncompleteCholesky::forward", pattern_, KOKKOS_LAMBDA(const int i) {
        double z[NB];
        for (int p = 0; p < NB; ++p) z[p] = in(NB * i + p);
        for (int k = row_offset(i); k < row_offset(i + 1); ++k) {
          block::subtract_apply<NB>(factor + static_cast<std::size_t>(NB * NB) * k,
                                    out.data() + static_cast<std::size_t>(NB) * column(k), z);
        }
        block::lower_apply<NB>(inverse + static_cast<std::size_t>(block::packed<NB>) * i, z);
        for (int p = 0; p < NB; ++p) out(NB * i + p) = z[p];
      });
  sweep_down(
      "ccp::IncompleteCholesky::backward", pattern_, KOKKOS_LAMBDA(const int i) {
        double z[NB];
        for (int p = 0; p < NB; ++p) z[p] = out(NB * i + p);
        for (int l = column_offset(i); l < column_offset(i + 1); ++l) {
          block::subtract_apply_transposed<NB>(
              factor + static_cast<std::size_t>(NB * NB) * by_column(l, 0),
              out.data() + static_cast<std::size_t>(NB) * by_column(l, 1), z);
        }
        block::lower_apply_transposed<NB>(inverse + static_cast<std::size_t>(block::packed<NB>) * i,
                                          z);
        for (int p = 0; p < NB; ++p) out(NB * i + p) = z[p];
      });
}

template class SymmetricBlockMatrix<3>;
template class SymmetricBlockMatrix<6>;
template class IncompleteCholesky<3>;
template class IncompleteCholesky<6>;

}  // namespace ccp
