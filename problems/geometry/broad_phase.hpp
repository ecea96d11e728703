#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "problems/base/vec3.hpp"

namespace ccp {

/// A box along the world's axes that holds a body, m. Infinite half lengths: unbounded.
struct Bound {
  Vec3 centre, half;
};
inline bool overlap(const Bound& a, const Bound& b) {
  return std::abs(a.centre.x - b.centre.x) <= a.half.x + b.half.x &&
         std::abs(a.centre.y - b.centre.y) <= a.half.y + b.half.y &&
         std::abs(a.centre.z - b.centre.z) <= a.half.z + b.half.z;
}

struct IndexPair {
  std::int32_t a, b;  ///< a < b
};

/// Which of many boxes overlap: grids of cells, one for each factor of four in size, so that the
/// work is linear whatever the sizes are (hierarchical hash grid, Ericson 2005 Sect. 7.2). A box
/// lies in the cell of its centre, cells are at least as wide as their boxes, and so partners of a
/// level are in neighbouring cells. Levels with few boxes, those of large obstacles, have no grid:
/// their boxes are tried with all others.
class BroadPhase {
 public:
  /// Whether an unbounded box's body may touch another body.
  using Reaches = std::function<bool(std::int32_t unbounded, std::int32_t other)>;

  /// All pairs that overlap, ordered by (a, b); pairs of unbounded ones are not among them.
  /// @param bounds  centres finite
  void find(const std::vector<Bound>& bounds, const Reaches& reaches,
            std::vector<IndexPair>& pairs);

 private:
  struct Cell {
    std::int64_t x, y, z;
    std::int32_t level;
    std::int32_t first, count;  ///< of item_
  };
  void choose_levels(const std::vector<Bound>& bounds);
  void fill_cells(const std::vector<Bound>& bounds);
  void inside_level(const std::vector<Bound>& bounds, const Cell& cell);
  void with_coarser(const std::vector<Bound>& bounds, std::int32_t body);
  void with_few(const std::vector<Bound>& bounds, const Reaches& reaches);
  void sort_pairs(std::size_t bodies, std::vector<IndexPair>& pairs);
  void add(std::int32_t i, std::int32_t j) {
    found_.push_back(i < j ? IndexPair{i, j} : IndexPair{j, i});
  }
  const Cell* find_cell(std::int32_t level, std::int64_t x, std::int64_t y, std::int64_t z) const;
  std::size_t slot(std::int32_t level, std::int64_t x, std::int64_t y, std::int64_t z) const;

  std::vector<double> levels_;          ///< m, widths of cells, fine to coarse
  std::vector<std::int32_t> level_of_;  ///< [bodies] index into levels_, or few
  std::vector<std::int32_t> cell_of_;   ///< [bodies] index into cells_
  std::vector<std::int32_t> few_;       ///< bodies without a grid
  std::vector<Cell> cells_;             ///< occupied ones
  std::vector<std::int32_t> table_;     ///< hash table: indices into cells_, or empty
  std::vector<std::int32_t> item_;      ///< bodies by cell
  std::vector<IndexPair> found_;
  std::vector<std::size_t> start_;
};

}  // namespace ccp
