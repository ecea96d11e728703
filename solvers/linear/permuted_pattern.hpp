#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "problems/base/error.hpp"

namespace ccp {

/// Both triangles of P A P^T in compressed rows, columns ascending, for a symmetric A whose lower
/// triangle is given in compressed columns.
struct PermutedPattern {
  std::vector<int> row_offset, column;
  std::vector<int> source;  ///< where an entry is in the lower triangle of A

  /// @param order  the unknown at each place of P A P^T
  /// @throws InputError for so many entries that an int does not count them
  PermutedPattern(const std::vector<std::int64_t>& column_offsets, const std::vector<int>& rows,
                  const std::vector<int>& order) {
    const std::size_t n = order.size(), entries = 2 * rows.size() - n;
    if (entries > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw InputError("cusolver", "entries of the matrix", "fewer than 2^31",
                       fmt::format("{}", entries));
    }
    std::vector<int> place(n);
    for (std::size_t k = 0; k < n; ++k) place[order[k]] = static_cast<int>(k);
    // By columns first, so that those of a row come in ascending order.
    struct Entry {
      int row, source;
    };
    std::vector<Entry> by_column(entries);
    std::vector<int> next = offsets_of(column_offsets, rows, place);
    for_each(column_offsets, rows, place, [&](int row, int j, int k) {
      by_column[next[j]++] = {row, k};
    });
    row_offset = offsets_of(column_offsets, rows, place);  // the pattern is symmetric
    next = row_offset;
    column.resize(entries);
    source.resize(entries);
    for (std::size_t j = 0; j < n; ++j) {
      for (int l = row_offset[j]; l < row_offset[j + 1]; ++l) {
        const int to = next[by_column[l].row]++;
        column[to] = static_cast<int>(j);
        source[to] = by_column[l].source;
      }
    }
  }

 private:
  template <class Act>
  static void for_each(const std::vector<std::int64_t>& column_offsets,
                       const std::vector<int>& rows, const std::vector<int>& place,
                       const Act& act) {
    for (std::size_t j = 0; j < place.size(); ++j) {
      for (std::int64_t k = column_offsets[j]; k < column_offsets[j + 1]; ++k) {
        const int p = place[j], q = place[rows[k]];
        act(p, q, static_cast<int>(k));
        if (p != q) act(q, p, static_cast<int>(k));
      }
    }
  }
  static std::vector<int> offsets_of(const std::vector<std::int64_t>& column_offsets,
                                     const std::vector<int>& rows, const std::vector<int>& place) {
    std::vector<int> offset(place.size() + 1, 0);
    for_each(column_offsets, rows, place, [&](int row, int, int) { ++offset[row + 1]; });
    std::partial_sum(offset.begin(), offset.end(), offset.begin());
    return offset;
  }
};

}  // namespace ccp
