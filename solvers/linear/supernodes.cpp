#include "solvers/linear/supernodes.hpp"

namespace ccp {
namespace {

/// Columns of a supernode that are worked on together, so that what they share is read once.
template <int columns>
struct ColumnGroup {
  const float* column[columns];  ///< from the first row of the supernode on

  ColumnGroup(const float* first, std::size_t height) {
    for (int c = 0; c < columns; ++c) column[c] = first + c * height;
  }
  /// y = L^-1 y of the group's rows, which begin with row j, and its share of those below.
  void solve_lower(std::size_t j, std::size_t height, double* y) const {
    double value[columns];
    for (int c = 0; c < columns; ++c) {
      value[c] = y[j + c];
      for (int b = 0; b < c; ++b) value[c] -= column[b][j + c] * value[b];
      value[c] /= column[c][j + c];
    }
    for (int c = 0; c < columns; ++c) y[j + c] = value[c];
    for (std::size_t i = j + columns; i < height; ++i) {
      double sum = 0;
      for (int c = 0; c < columns; ++c) sum += column[c][i] * value[c];
      y[i] -= sum;
    }
  }
  /// y = L^-T y of the group's rows, with the rows below as they are.
  void solve_upper(std::size_t j, std::size_t height, double* y) const {
    constexpr std::size_t lanes = 4;  // compilers may not reorder a sum by themselves
    double sums[columns][lanes] = {};
    std::size_t i = j + columns;
    for (; i + lanes <= height; i += lanes) {
      for (int c = 0; c < columns; ++c) {
        for (std::size_t l = 0; l < lanes; ++l) sums[c][l] += column[c][i + l] * y[i + l];
      }
    }
    for (int c = columns; c-- > 0;) {
      double sum = 0;
      for (std::size_t k = i; k < height; ++k) sum += column[c][k] * y[k];
      for (const double lane : sums[c]) sum += lane;
      for (int b = c + 1; b < columns; ++b) sum += column[c][j + b] * y[j + b];
      y[j + c] = (y[j + c] - sum) / column[c][j + c];
    }
  }
};

/// The dense block of one supernode.
struct Block {
  std::size_t height, width;
  const std::int64_t* row;  ///< the unknown of each row
  const float* entry;
};

}  // namespace

void solve_by_supernodes(const Supernodes& nodes, const float* entries, double* x,
                         std::vector<double>& work) {
  constexpr int together = 4;
  const auto block = [&](std::size_t k) {
    return Block{static_cast<std::size_t>(nodes.row[k + 1] - nodes.row[k]),
                 static_cast<std::size_t>(nodes.column[k + 1] - nodes.column[k]),
                 nodes.rows + nodes.row[k], entries + nodes.entry[k]};
  };
  const auto gather = [&](const Block& b) {
    if (work.size() < b.height) work.resize(b.height);
    for (std::size_t i = 0; i < b.height; ++i) work[i] = x[b.row[i]];
    return work.data();
  };
  for (std::size_t k = 0; k < nodes.count; ++k) {
    const Block b = block(k);
    double* const y = gather(b);
    std::size_t j = 0;
    for (; j + together <= b.width; j += together) {
      ColumnGroup<together>(b.entry + j * b.height, b.height).solve_lower(j, b.height, y);
    }
    for (; j < b.width; ++j) {
      ColumnGroup<1>(b.entry + j * b.height, b.height).solve_lower(j, b.height, y);
    }
    for (std::size_t i = 0; i < b.height; ++i) x[b.row[i]] = y[i];
  }
  for (std::size_t k = nodes.count; k-- > 0;) {
    const Block b = block(k);
    double* const y = gather(b);
    std::size_t j = b.width;
    for (; j % together != 0; --j) {
      ColumnGroup<1>(b.entry + (j - 1) * b.height, b.height).solve_upper(j - 1, b.height, y);
    }
    for (; j > 0; j -= together) {
      const std::size_t first = j - together;
      ColumnGroup<together>(b.entry + first * b.height, b.height).solve_upper(first, b.height, y);
    }
    for (std::size_t i = 0; i < b.width; ++i) x[b.row[i]] = y[i];
  }
}

}  // namespace ccp
