#pragma once

#include <utility>
#include <vector>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// What is left of the diagonal in a symmetric pattern, by rows: offsets [rows + 1] and ascending
/// columns.
struct LowerRows {
  std::vector<int> offset, column;
  int rows() const { return static_cast<int>(offset.size()) - 1; }
};

/// Pattern of a symmetric block matrix, and the levels of its rows: a row depends, through its
/// entries left of the diagonal, on rows of lower levels only. Whatever sweeps through the rows (a
/// factorisation, a triangular solve) may treat the rows of one level in any order or at once.
struct BlockPattern {
  int rows = 0;
  int blocks = 0;                   ///< off-diagonal blocks of the lower triangle
  DeviceArray<int*> level_row;      ///< [rows] by level; empty = rows are sorted by level
  DeviceArray<int*> level_offset;   ///< [levels + 1] first place of each level in level_row
  DeviceArray<int*> row_offset;     ///< [rows + 1] blocks left of the diagonal, by rows
  DeviceArray<int*> column;         ///< [blocks] ascending within a row
  DeviceArray<int*> column_offset;  ///< [rows + 1] the same blocks by columns
  DeviceArray<int*> row;            ///< [blocks] ascending within a column
  DeviceArray<int*> place;          ///< [blocks] where a block of the first list is in the second
  int levels() const { return static_cast<int>(level_offset.extent(0)) - 1; }
};

/// From pairs (row, column), row > column, in any order and as often as you like.
LowerRows lower_rows(int rows, std::vector<std::pair<int, int>> pairs);

/// The pattern on the device, with its transposed lists and its levels.
BlockPattern make_pattern(const LowerRows& lower);

/// The rows of a pattern, back on the host.
LowerRows lower_rows(const BlockPattern& pattern);

/// Rows sorted by level, each level in the rows' own order. A factorisation in this order is the
/// one in the rows' own, for no row passes a neighbour.
struct LevelOrder {
  std::vector<int> row;           ///< [rows] the row at each position
  std::vector<int> level_offset;  ///< first position of each level, and the number of rows
};
LevelOrder level_order(const LowerRows& lower);

/// A pattern in an order in which no row passes a neighbour, so that every pair stays below the
/// diagonal, and which pair of the first pattern each of its pairs was.
struct SortedRows {
  LowerRows rows;
  std::vector<int> source;  ///< [blocks]
};
/// @param row  [rows] the row at each position, as in LevelOrder
SortedRows sort_rows(const LowerRows& lower, const std::vector<int>& row);

/// With the pairs that eliminating each row once would join: later neighbours of one row. A row
/// with more than `most` of them adds none, so that the fill stays linear in the rows.
LowerRows with_fill(const LowerRows& lower, int most = 100);

}  // namespace ccp
