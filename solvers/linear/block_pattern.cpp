#include "solvers/linear/block_pattern.hpp"

#include <algorithm>
#include <numeric>

#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

/// The same pairs by columns: first place of each column, [rows + 1].
std::vector<int> column_offsets(const LowerRows& lower) {
  std::vector<int> offset(lower.offset.size(), 0);
  for (const int j : lower.column) ++offset[j + 1];
  std::partial_sum(offset.begin(), offset.end(), offset.begin());
  return offset;
}

}  // namespace

LowerRows lower_rows(int rows, std::vector<std::pair<int, int>> pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  LowerRows lower;
  lower.offset.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const auto& [i, j] : pairs) {
    ++lower.offset[i + 1];
    lower.column.push_back(j);
  }
  std::partial_sum(lower.offset.begin(), lower.offset.end(), lower.offset.begin());
  return lower;
}

BlockPattern make_pattern(const LowerRows& lower) {
  const std::size_t m = lower.offset.size() - 1, blocks = lower.column.size();
  const std::vector<int> column_offset = column_offsets(lower);
  std::vector<int> row(blocks), place(blocks);
  std::vector<int> fill(column_offset.begin(), column_offset.end() - 1);
  for (std::size_t i = 0; i < m; ++i) {
    for (int k = lower.offset[i]; k < lower.offset[i + 1]; ++k) {
      place[k] = fill[lower.column[k]]++;
      row[place[k]] = static_cast<int>(i);
    }
  }
  using Ints = DeviceArray<int*>;
  BlockPattern pattern;
  pattern.rows = static_cast<int>(m);
  pattern.blocks = static_cast<int>(blocks);
  const LevelOrder levels = level_order(lower);
  pattern.level_offset = upload<Ints>("ccp::BlockPattern::level_offset", levels.level_offset,
                                      levels.level_offset.size());
  if (!std::is_sorted(levels.row.begin(), levels.row.end())) {
    pattern.level_row = upload<Ints>("ccp::BlockPattern::level_row", levels.row, m);
  }
  pattern.row_offset = upload<Ints>("ccp::BlockPattern::row_offset", lower.offset, m + 1);
  pattern.column = upload<Ints>("ccp::BlockPattern::column", lower.column, blocks);
  pattern.column_offset = upload<Ints>("ccp::BlockPattern::column_offset", column_offset, m + 1);
  pattern.row = upload<Ints>("ccp::BlockPattern::row", row, blocks);
  pattern.place = upload<Ints>("ccp::BlockPattern::place", place, blocks);
  return pattern;
}

LowerRows lower_rows(const BlockPattern& pattern) {
  const auto offset = host_copy(pattern.row_offset);
  const auto column = host_copy(pattern.column);
  return {{offset.data(), offset.data() + offset.extent(0)},
          {column.data(), column.data() + column.extent(0)}};
}

LevelOrder level_order(const LowerRows& lower) {
  std::vector<int> level(lower.rows(), 0);
  int levels = 0;
  for (int i = 0; i < lower.rows(); ++i) {
    for (int k = lower.offset[i]; k < lower.offset[i + 1]; ++k) {
      level[i] = std::max(level[i], level[lower.column[k]] + 1);
    }
    levels = std::max(levels, level[i] + 1);
  }
  LevelOrder order;
  order.level_offset.assign(static_cast<std::size_t>(levels) + 1, 0);
  for (const int l : level) ++order.level_offset[l + 1];
  std::partial_sum(order.level_offset.begin(), order.level_offset.end(),
                   order.level_offset.begin());
  std::vector<int> next = order.level_offset;
  order.row.resize(level.size());
  for (int i = 0; i < lower.rows(); ++i) order.row[next[level[i]]++] = i;
  return order;
}

SortedRows sort_rows(const LowerRows& lower, const std::vector<int>& row) {
  std::vector<int> position(row.size());
  for (std::size_t k = 0; k < row.size(); ++k) position[row[k]] = static_cast<int>(k);
  SortedRows sorted{{{0}, {}}, {}};
  sorted.rows.column.reserve(lower.column.size());
  sorted.source.reserve(lower.column.size());
  std::vector<std::pair<int, int>> entries;  // of one row: column and source
  for (const int i : row) {
    entries.clear();
    for (int k = lower.offset[i]; k < lower.offset[i + 1]; ++k) {
      entries.emplace_back(position[lower.column[k]], k);
    }
    std::sort(entries.begin(), entries.end());
    for (const auto& [column, source] : entries) {
      sorted.rows.column.push_back(column);
      sorted.source.push_back(source);
    }
    sorted.rows.offset.push_back(static_cast<int>(sorted.rows.column.size()));
  }
  return sorted;
}

LowerRows with_fill(const LowerRows& lower, int most) {
  const std::vector<int> offset = column_offsets(lower);
  std::vector<int> next(offset.begin(), offset.end() - 1), row(lower.column.size());
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < lower.rows(); ++i) {
    for (int k = lower.offset[i]; k < lower.offset[i + 1]; ++k) {
      row[next[lower.column[k]]++] = i;
      pairs.emplace_back(i, lower.column[k]);
    }
  }
  for (int j = 0; j < lower.rows(); ++j) {  // rows below j ascend
    if (offset[j + 1] - offset[j] > most) continue;
    for (int k = offset[j]; k < offset[j + 1]; ++k) {
      for (int l = offset[j]; l < k; ++l) pairs.emplace_back(row[k], row[l]);
    }
  }
  return lower_rows(lower.rows(), std::move(pairs));
}

}  // namespace ccp
