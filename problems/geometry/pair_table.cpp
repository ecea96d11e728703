#include "problems/geometry/pair_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/geometry/box_box.hpp"
#include "problems/geometry/box_pairs.hpp"
#include "problems/geometry/ellipsoid_pairs.hpp"
#include "problems/geometry/sphere_pairs.hpp"

namespace ccp {
namespace {

std::vector<PairEntry>& table() {
  static std::vector<PairEntry> rows = {
      {"sphere", "sphere", "along the line of centres", sphere_sphere},
      {"plane", "sphere", "along the plane's normal", plane_sphere},
      {"cylinder_inside", "sphere", "away from the axis", cylinder_sphere},
      {"plane", "rod", "the lower end; both ends are points", plane_rod, plane_rod_points},
      {"box", "sphere", "to the nearest point of the box, or out of the nearest face", box_sphere},
      {"plane", "box", "the lowest corner; the corners of the lowest face are points", plane_box,
       plane_box_points},
      {"cylinder_inside", "box", "the corner farthest from the axis; all corners are points",
       cylinder_box, cylinder_box_points},
      {"box", "box", "least overlap or nearest points; up to 4 points of faces, 2 of edges",
       box_box, box_box_points},
      {"plane", "ellipsoid", "the lowest point", plane_round},
      {"plane", "ellipse", "the lowest point", plane_round},
      {"sphere", "ellipsoid", "largest separation over all normals", ellipsoid_ellipsoid,
       ellipsoid_ellipsoid_points},
      {"ellipsoid", "ellipsoid", "largest separation over all normals", ellipsoid_ellipsoid,
       ellipsoid_ellipsoid_points},
      {"ellipse", "ellipse", "largest separation over all normals in the plane", ellipse_ellipse},
      {"box", "ellipsoid", "largest separation over all normals", box_ellipsoid,
       box_ellipsoid_points},
      {"cylinder_inside", "ellipsoid", "the point farthest from the axis; both tips are points",
       cylinder_round, cylinder_round_points},
      {"cylinder_inside", "ellipse", "the point farthest from the axis; both tips are points",
       cylinder_round, cylinder_round_points},
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

/// What stands for a Proximity when A and B change places.
Proximity exchanged(const Proximity& p) {
  return {p.gap, -1 * p.normal, p.point_b, p.point_a};
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

const PairEntry* find_entry(std::string_view a, std::string_view b, bool& swapped) {
  swapped = false;
  if (const PairEntry* row = find_row(a, b)) return row;
  swapped = true;
  return find_row(b, a);
}

Proximity proximity(const PlacedShape& a, const PlacedShape& b) {
  bool swapped = false;
  const PairEntry* row = find_entry(a.shape.kind, b.shape.kind, swapped);
  if (!row) refuse(a.shape.kind, b.shape.kind);
  return swapped ? exchanged(row->proximity(b, a)) : row->proximity(a, b);
}

void contact_points(const PairEntry& row, bool swapped, const PlacedShape& a, const PlacedShape& b,
                    const PointOptions& options, ContactPoints& points) {
  const PlacedShape &first = swapped ? b : a, &second = swapped ? a : b;
  points.clear();
  if (row.points) {
    row.points(first, second, options, points);
  } else {
    points.add(0, row.proximity(first, second));
  }
  points.keep_if([&](ContactPoint& point) {
    Proximity& where = point.where;
    if (!std::isfinite(where.normal.x)) {  // centres that agree: any direction is as good
      where.normal = {0, 0, 1};
      where.point_a = first.position - 0.5 * where.gap * where.normal;
      where.point_b = first.position + 0.5 * where.gap * where.normal;
    }
    if (swapped) where = exchanged(where);
    return where.gap <= options.cutoff;
  });
  std::sort(points.begin(), points.end(),
            [](const ContactPoint& x, const ContactPoint& y) { return x.feature < y.feature; });
}

void contact_points(const PlacedShape& a, const PlacedShape& b, const PointOptions& options,
                    ContactPoints& points) {
  bool swapped = false;
  const PairEntry* row = find_entry(a.shape.kind, b.shape.kind, swapped);
  if (!row) refuse(a.shape.kind, b.shape.kind);
  contact_points(*row, swapped, a, b, options, points);
}

}  // namespace ccp
