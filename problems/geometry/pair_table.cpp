#include "problems/geometry/pair_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/geometry/sphere_pairs.hpp"

namespace ccp {
namespace {

std::vector<PairEntry>& table() {
  static std::vector<PairEntry> rows = {
      {"sphere", "sphere", "along the line of centres", sphere_sphere},
      {"plane", "sphere", "along the plane's normal", plane_sphere},
  };
  return rows;
}

const PairEntry* find_row(std::string_view a, std::string_view b) {
  const auto row = std::find_if(table().begin(), table().end(), [&](const PairEntry& entry) {
    return entry.a == a && entry.b == b;
  });
  return row == table().end() ? nullptr : &*row;
}

[[noreturn]] void refuse(std::string_view a, std::string_view b) {
  std::vector<std::string> known;
  for (const PairEntry& entry : table()) known.push_back(entry.a + " and " + entry.b);
  throw InputError(
      fmt::format("no contact between {} and {} (known: {})", a, b, fmt::join(known, ", ")));
}

}  // namespace

const std::vector<PairEntry>& pair_entries() {
  return table();
}

void add_pair(PairEntry entry) {
  if (find_row(entry.a, entry.b) || find_row(entry.b, entry.a)) {
    throw InputError(fmt::format("the pair {} and {} is there already", entry.a, entry.b));
  }
  table().push_back(std::move(entry));
}

PairFunction find_pair(std::string_view a, std::string_view b) {
  const PairEntry* row = find_row(a, b);
  if (!row) refuse(a, b);
  return row->proximity;
}

Proximity proximity(const PlacedShape& a, const PlacedShape& b) {
  if (const PairEntry* row = find_row(a.shape.kind, b.shape.kind)) return row->proximity(a, b);
  const PairEntry* row = find_row(b.shape.kind, a.shape.kind);
  if (!row) refuse(a.shape.kind, b.shape.kind);
  Proximity found = row->proximity(b, a);
  found.normal = -1 * found.normal;
  std::swap(found.point_a, found.point_b);
  return found;
}

}  // namespace ccp
