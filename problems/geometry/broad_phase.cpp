#include "problems/geometry/broad_phase.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ccp {
namespace {

constexpr std::int32_t few = -1;
constexpr std::int32_t empty = -1;
/// Levels with fewer boxes have no grid: trying them all is cheaper than looking cells up.
constexpr std::int32_t smallest_level = 32;
constexpr int exponent_range = 2200;  // of doubles, with room

double radius(const Bound& bound) {
  return std::max({bound.half.x, bound.half.y, bound.half.z});
}

/// The smallest power of two that is at least 2 r, as its exponent.
int exponent(double r) {
  if (!(r > 0)) return -exponent_range / 2;
  int e = 0;
  const double mantissa = std::frexp(2 * r, &e);  // in [1/2, 1)
  return mantissa == 0.5 ? e - 1 : e;
}

std::int64_t cell_number(double x, double width) {
  constexpr double limit = 1e18;  // far from where integers end
  return static_cast<std::int64_t>(std::clamp(std::floor(x / width), -limit, limit));
}

/// Half of the 26 neighbours: those after a cell in the order of (z, y, x).
constexpr std::array<std::array<int, 3>, 13> half_of_neighbours = {{{1, 0, 0},
                                                                    {-1, 1, 0},
                                                                    {0, 1, 0},
                                                                    {1, 1, 0},
                                                                    {-1, -1, 1},
                                                                    {0, -1, 1},
                                                                    {1, -1, 1},
                                                                    {-1, 0, 1},
                                                                    {0, 0, 1},
                                                                    {1, 0, 1},
                                                                    {-1, 1, 1},
                                                                    {0, 1, 1},
                                                                    {1, 1, 1}}};

}  // namespace

void BroadPhase::find(const std::vector<Bound>& bounds, const Reaches& reaches,
                      std::vector<IndexPair>& pairs) {
  found_.clear();
  choose_levels(bounds);
  fill_cells(bounds);
  for (const Cell& cell : cells_) inside_level(bounds, cell);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(bounds.size()); ++i) {
    if (level_of_[i] != few) with_coarser(bounds, i);
  }
  with_few(bounds, reaches);
  sort_pairs(bounds.size(), pairs);
}

void BroadPhase::choose_levels(const std::vector<Bound>& bounds) {
  std::array<std::int32_t, exponent_range> count{};
  std::array<double, exponent_range> widest{};
  level_of_.resize(bounds.size());
  few_.clear();
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const double r = radius(bounds[i]);
    level_of_[i] = std::isfinite(r) ? exponent(r) + exponent_range / 2 : few;
    if (level_of_[i] == few) continue;
    const auto e = static_cast<std::size_t>(level_of_[i]);
    ++count[e];
    widest[e] = std::max(widest[e], 2 * r);
  }
  std::array<std::int32_t, exponent_range> index;
  index.fill(few);
  levels_.clear();
  // From the coarsest on, two powers of two at a time: a pile whose sizes are within a factor of
  // two then has one level. Reversed, so that levels go from fine to coarse.
  for (std::size_t e = exponent_range - 1; e > 0; --e) {
    if (count[e] == 0) continue;
    const std::int32_t both = count[e] + count[e - 1];
    if (both >= smallest_level) {
      index[e] = index[e - 1] = static_cast<std::int32_t>(levels_.size());
      levels_.push_back(std::max(widest[e] * (1 + 1e-9), std::numeric_limits<double>::min()));
    }
    --e;
    if (e == 0) break;
  }
  std::reverse(levels_.begin(), levels_.end());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (level_of_[i] != few) level_of_[i] = index[static_cast<std::size_t>(level_of_[i])];
    if (level_of_[i] != few) {
      level_of_[i] = static_cast<std::int32_t>(levels_.size()) - 1 - level_of_[i];
    } else {
      few_.push_back(static_cast<std::int32_t>(i));
    }
  }
}

std::size_t BroadPhase::slot(std::int32_t level, std::int64_t x, std::int64_t y,
                             std::int64_t z) const {
  std::uint64_t h = static_cast<std::uint64_t>(level);
  for (const std::int64_t part : {x, y, z}) {
    h = (h ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
  }
  const std::size_t mask = table_.size() - 1;
  std::size_t at = static_cast<std::size_t>(h) & mask;
  while (table_[at] != empty) {
    const Cell& cell = cells_[static_cast<std::size_t>(table_[at])];
    if (cell.x == x && cell.y == y && cell.z == z && cell.level == level) break;
    at = (at + 1) & mask;
  }
  return at;
}

const BroadPhase::Cell* BroadPhase::find_cell(std::int32_t level, std::int64_t x, std::int64_t y,
                                              std::int64_t z) const {
  const std::int32_t at = table_[slot(level, x, y, z)];
  return at == empty ? nullptr : &cells_[static_cast<std::size_t>(at)];
}

void BroadPhase::fill_cells(const std::vector<Bound>& bounds) {
  std::size_t size = 2;
  while (size < 2 * bounds.size()) size *= 2;
  table_.assign(size, empty);
  cells_.clear();
  cell_of_.resize(bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (level_of_[i] == few) continue;
    const double width = levels_[static_cast<std::size_t>(level_of_[i])];
    const Vec3& centre = bounds[i].centre;
    const std::int64_t x = cell_number(centre.x, width), y = cell_number(centre.y, width),
                       z = cell_number(centre.z, width);
    const std::size_t at = slot(level_of_[i], x, y, z);
    if (table_[at] == empty) {
      table_[at] = static_cast<std::int32_t>(cells_.size());
      cells_.push_back({x, y, z, level_of_[i], 0, 0});
    }
    cell_of_[i] = table_[at];
    ++cells_[static_cast<std::size_t>(table_[at])].count;
  }
  std::int32_t first = 0;
  for (Cell& cell : cells_) {
    cell.first = first;
    first += cell.count;
    cell.count = 0;
  }
  item_.resize(static_cast<std::size_t>(first));
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (level_of_[i] == few) continue;
    Cell& cell = cells_[static_cast<std::size_t>(cell_of_[i])];
    const std::int32_t place = cell.first + cell.count++;
    item_[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(i);
  }
}

void BroadPhase::inside_level(const std::vector<Bound>& bounds, const Cell& cell) {
  const std::int32_t* own = &item_[static_cast<std::size_t>(cell.first)];
  for (std::int32_t p = 0; p < cell.count; ++p) {
    for (std::int32_t q = p + 1; q < cell.count; ++q) {
      if (overlap(bounds[own[p]], bounds[own[q]])) add(own[p], own[q]);
    }
  }
  for (const auto& step : half_of_neighbours) {
    const Cell* next = find_cell(cell.level, cell.x + step[0], cell.y + step[1], cell.z + step[2]);
    if (!next) continue;
    const std::int32_t* others = &item_[static_cast<std::size_t>(next->first)];
    for (std::int32_t p = 0; p < cell.count; ++p) {
      const Bound& bound = bounds[own[p]];
      for (std::int32_t q = 0; q < next->count; ++q) {
        if (overlap(bound, bounds[others[q]])) add(own[p], others[q]);
      }
    }
  }
}

void BroadPhase::with_coarser(const std::vector<Bound>& bounds, std::int32_t body) {
  const Bound& bound = bounds[body];
  for (std::size_t l = static_cast<std::size_t>(level_of_[body]) + 1; l < levels_.size(); ++l) {
    const double width = levels_[l];
    const Vec3 reach = bound.half + Vec3{width / 2, width / 2, width / 2};
    const Vec3 low = bound.centre - reach, high = bound.centre + reach;
    const auto level = static_cast<std::int32_t>(l);
    for (std::int64_t z = cell_number(low.z, width); z <= cell_number(high.z, width); ++z) {
      for (std::int64_t y = cell_number(low.y, width); y <= cell_number(high.y, width); ++y) {
        for (std::int64_t x = cell_number(low.x, width); x <= cell_number(high.x, width); ++x) {
          const Cell* cell = find_cell(level, x, y, z);
          if (!cell) continue;
          for (std::int32_t q = cell->first; q < cell->first + cell->count; ++q) {
            const std::int32_t other = item_[static_cast<std::size_t>(q)];
            if (overlap(bound, bounds[other])) add(body, other);
          }
        }
      }
    }
  }
}

void BroadPhase::with_few(const std::vector<Bound>& bounds, const Reaches& reaches) {
  for (const std::int32_t f : few_) {
    const bool unbounded = !std::isfinite(radius(bounds[f]));
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(bounds.size()); ++i) {
      const bool other_is_few = level_of_[i] == few;
      const bool other_unbounded = other_is_few && !std::isfinite(radius(bounds[i]));
      if (i == f || (unbounded && other_unbounded)) continue;
      if (other_is_few && (other_unbounded || (!unbounded && i < f))) continue;  // tried from there
      if (unbounded ? reaches(f, i) : overlap(bounds[f], bounds[i])) add(f, i);
    }
  }
}

/// By a with a counting sort, and the few of each a by b.
void BroadPhase::sort_pairs(std::size_t bodies, std::vector<IndexPair>& pairs) {
  start_.assign(bodies + 1, 0);
  for (const IndexPair& pair : found_) ++start_[static_cast<std::size_t>(pair.a) + 1];
  for (std::size_t i = 0; i < bodies; ++i) start_[i + 1] += start_[i];
  pairs.resize(found_.size());
  for (const IndexPair& pair : found_) pairs[start_[static_cast<std::size_t>(pair.a)]++] = pair;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < bodies; ++i) {
    std::sort(pairs.begin() + static_cast<std::ptrdiff_t>(begin),
              pairs.begin() + static_cast<std::ptrdiff_t>(start_[i]),
              [](const IndexPair& x, const IndexPair& y) { return x.b < y.b; });
    begin = start_[i];
  }
}

}  // namespace ccp
