#pragma once

#include <cstdint>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// One entry of a sparse matrix.
struct Triplet {
  std::int32_t row = 0, column = 0;
  double value = 0;
};

/// A sparse matrix by columns; rows ascend in each, none is there twice.
struct SparseColumns {
  std::size_t rows = 0, columns = 0;
  std::vector<std::int64_t> offset{0};  ///< [columns + 1]
  std::vector<std::int32_t> row;
  std::vector<double> value;

  /// Sums what is given more than once and leaves out zeros. Indices must be in range.
  static SparseColumns from_triplets(std::size_t rows, std::size_t columns,
                                     std::vector<Triplet> triplets);

  /// Calls entry(row, column, value) column by column.
  template <class Entry>
  void for_each(const Entry& entry) const {
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::int64_t k = offset[j]; k < offset[j + 1]; ++k) {
        entry(row[k], static_cast<std::int32_t>(j), value[k]);
      }
    }
  }
};

/// (A + A^T) / 2 of a square matrix. @param asymmetry  out: max|A - A^T| / max|A|
SparseColumns symmetric_part(const SparseColumns& a, double& asymmetry);

/// A 3x3 block of a matrix.
struct Block {
  std::int32_t row = 0, column = 0;
  double value[9] = {};  ///< row-major
};

/// Block rows from blocks in any order; blocks of the same place are summed. The diagonal is always
/// there.
BlockMatrix block_matrix(std::size_t n, std::vector<Block> blocks);

}  // namespace ccp
