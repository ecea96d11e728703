#include "problems/formats/fclib/sparse_columns.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ccp {

SparseColumns SparseColumns::from_triplets(std::size_t rows, std::size_t columns,
                                           std::vector<Triplet> triplets) {
  // Stable: entries of one place are summed in the order in which they were given.
  std::stable_sort(triplets.begin(), triplets.end(), [](const Triplet& x, const Triplet& y) {
    return std::tie(x.column, x.row) < std::tie(y.column, y.row);
  });
  SparseColumns a;
  a.rows = rows;
  a.columns = columns;
  a.offset.assign(columns + 1, 0);
  for (std::size_t k = 0; k < triplets.size();) {
    const Triplet& first = triplets[k];
    double sum = 0;
    for (;
         k < triplets.size() && triplets[k].row == first.row && triplets[k].column == first.column;
         ++k) {
      sum += triplets[k].value;
    }
    if (sum == 0) continue;  // a NaN stays, to be complained of
    a.row.push_back(first.row);
    a.value.push_back(sum);
    a.offset[static_cast<std::size_t>(first.column) + 1] = static_cast<std::int64_t>(a.row.size());
  }
  for (std::size_t j = 0; j < columns; ++j)
    a.offset[j + 1] = std::max(a.offset[j + 1], a.offset[j]);
  return a;
}

SparseColumns symmetric_part(const SparseColumns& a, double& asymmetry) {
  std::vector<Triplet> halves, differences;
  double largest = 0;
  a.for_each([&](std::int32_t i, std::int32_t j, double value) {
    halves.push_back({i, j, value / 2});
    halves.push_back({j, i, value / 2});
    differences.push_back({i, j, value});
    differences.push_back({j, i, -value});
    largest = std::max(largest, std::abs(value));
  });
  double skew = 0;
  const SparseColumns difference =
      SparseColumns::from_triplets(a.rows, a.columns, std::move(differences));
  for (const double value : difference.value) skew = std::max(skew, std::abs(value));
  asymmetry = largest > 0 ? skew / largest : 0;
  return SparseColumns::from_triplets(a.rows, a.columns, std::move(halves));
}

BlockMatrix block_matrix(std::size_t n, std::vector<Block> blocks) {
  for (std::size_t c = 0; c < n; ++c) {
    blocks.push_back({static_cast<std::int32_t>(c), static_cast<std::int32_t>(c), {}});
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& x, const Block& y) {
    return std::tie(x.row, x.column) < std::tie(y.row, y.column);
  });
  BlockMatrix matrix;
  matrix.row_offsets.assign(n + 1, 0);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const Block& block = blocks[k];
    const bool same =
        k > 0 && blocks[k - 1].row == block.row && blocks[k - 1].column == block.column;
    if (!same) {
      matrix.columns.push_back(block.column);
      matrix.blocks.resize(matrix.blocks.size() + 9, 0.0);
      ++matrix.row_offsets[static_cast<std::size_t>(block.row) + 1];
    }
    double* const sum = &matrix.blocks[matrix.blocks.size() - 9];
    for (int i = 0; i < 9; ++i) sum[i] += block.value[i];
  }
  for (std::size_t c = 0; c < n; ++c) matrix.row_offsets[c + 1] += matrix.row_offsets[c];
  return matrix;
}

}  // namespace ccp
