#include "solvers/linear/block_matrix.hpp"

#include <stdexcept>

#include "solvers/core/transfer.hpp"

namespace ccp {

template <int NB>
SymmetricBlockMatrix<NB>::SymmetricBlockMatrix(const BlockPattern& pattern)
    : SymmetricBlocks(pattern),
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

template <int NB>
HostBlocks SymmetricBlockMatrix<NB>::to_host() const {
  const LowerRows lower = lower_rows(pattern_);
  const auto diagonal = host_copy(diagonal_);
  const auto off_diagonal = host_copy(off_diagonal_);
  const auto column_offset = host_copy(pattern_.column_offset);
  HostBlocks host;
  host.block_size = NB;
  for (int i = 0; i < pattern_.rows; ++i) {
    double a[NB * NB];  // column-major
    for (int k = lower.offset[i]; k < lower.offset[i + 1]; ++k) {
      host.columns.push_back(lower.column[k]);
      block::expand<NB>(
          &off_diagonal(static_cast<std::size_t>(block::stored<NB>) * (k + column_offset(i))), a);
      for (int p = 0; p < NB; ++p) {
        for (int q = 0; q < NB; ++q) host.values.push_back(a[NB * q + p]);
      }
    }
    host.columns.push_back(i);
    const double* const own = &diagonal(static_cast<std::size_t>(block::packed<NB>) * i);
    for (int p = 0; p < NB; ++p) {
      for (int q = 0; q < NB; ++q)
        host.values.push_back(own[p > q ? block::at(p, q) : block::at(q, p)]);
    }
    host.row_offsets.push_back(static_cast<std::int64_t>(host.columns.size()));
  }
  return host;
}

template <int NB>
void SymmetricBlockMatrix<NB>::set_values(const HostBlocks& host) {
  const LowerRows lower = lower_rows(pattern_);
  const auto diagonal = host_mirror(diagonal_);
  const auto off_diagonal = host_mirror(off_diagonal_);
  const auto column_offset = host_copy(pattern_.column_offset);
  const auto place = host_copy(pattern_.place);
  constexpr auto stored = static_cast<std::size_t>(block::stored<NB>);
  const double* a = host.values.data();
  for (int i = 0; i < pattern_.rows; ++i) {
    for (int k = lower.offset[i]; k < lower.offset[i + 1]; ++k, a += NB * NB) {
      const int j = lower.column[k];
      double* const left = &off_diagonal(stored * (k + column_offset(i)));
      double* const right = &off_diagonal(stored * (place(k) + lower.offset[j + 1]));
      for (int p = 0; p < NB; ++p) {
        for (int q = 0; q < NB; ++q) {
          if (stored == NB * NB) {
            left[NB * q + p] = right[NB * p + q] = a[NB * p + q];
          } else if (q <= p) {
            left[block::at(p, q)] = right[block::at(p, q)] = a[NB * p + q];
          }
        }
      }
    }
    for (int p = 0; p < NB; ++p) {
      for (int q = 0; q <= p; ++q) {
        diagonal(static_cast<std::size_t>(block::packed<NB>) * i + block::at(p, q)) = a[NB * p + q];
      }
    }
    a += NB * NB;
  }
  send(diagonal_, diagonal);
  send(off_diagonal_, off_diagonal);
}

Teuchos::RCP<SymmetricBlocks> make_symmetric_blocks(const HostBlocks& blocks) {
  LowerRows lower{{0}, {}};
  for (std::size_t i = 0; i < blocks.rows(); ++i) {
    lower.column.insert(lower.column.end(), blocks.columns.begin() + blocks.row_offsets[i],
                        blocks.columns.begin() + blocks.row_offsets[i + 1] - 1);
    lower.offset.push_back(static_cast<int>(lower.column.size()));
  }
  const BlockPattern pattern = make_pattern(lower);
  Teuchos::RCP<SymmetricBlocks> matrix;
  if (blocks.block_size == 3) {
    matrix = Teuchos::rcp(new SymmetricBlockMatrix<3>(pattern));
  } else if (blocks.block_size == 6) {
    matrix = Teuchos::rcp(new SymmetricBlockMatrix<6>(pattern));
  } else {
    throw std::invalid_argument("make_symmetric_blocks: blocks of 3 or 6");
  }
  matrix->set_values(blocks);
  return matrix;
}

template class SymmetricBlockMatrix<3>;
template class SymmetricBlockMatrix<6>;

}  // namespace ccp
