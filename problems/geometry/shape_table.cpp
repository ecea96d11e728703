#include "problems/geometry/shape_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"

namespace ccp {
namespace {

/// (b^2 + c^2, a^2 + c^2, a^2 + b^2) times a factor.
std::array<double, 3> inertia(double factor, double a, double b, double c) {
  return {factor * (b * b + c * c), factor * (a * a + c * c), factor * (a * a + b * b)};
}

MassProperties sphere_mass(const Shape& shape, double density) {
  const double r = shape.size[0], mass = density * 4 / 3 * pi * r * r * r;
  return {mass, inertia(mass / 5, r, r, r)};
}
MassProperties box_mass(const Shape& shape, double density) {
  const auto [a, b, c] = shape.size;
  const double mass = density * 8 * a * b * c;
  return {mass, inertia(mass / 3, a, b, c)};
}
MassProperties ellipsoid_mass(const Shape& shape, double density) {
  const auto [a, b, c] = shape.size;
  const double mass = density * 4 / 3 * pi * a * b * c;
  return {mass, inertia(mass / 5, a, b, c)};
}
MassProperties ellipse_mass(const Shape& shape, double density) {
  const double a = shape.size[0], c = shape.size[1], mass = density * pi * a * c;
  return {mass, inertia(mass / 4, a, 0, c)};
}
MassProperties rod_mass(const Shape& shape, double density) {
  const double half = shape.size[0], mass = density * 2 * half;
  return {mass, inertia(mass / 3, half, 0, 0)};
}

Vec3 sphere_extent(const PlacedShape& placed) {
  const double r = placed.shape.size[0];
  return {r, r, r};
}
/// The sum over the own axes of |axis| times the half length along it.
Vec3 box_extent(const PlacedShape& placed) {
  Vec3 half;
  for (int k = 0; k < 3; ++k) {
    const Vec3& axis = placed.axes[k];
    half = half + placed.shape.size[k] * Vec3{std::abs(axis.x), std::abs(axis.y), std::abs(axis.z)};
  }
  return half;
}
/// The root of the sum of squares of what box_extent sums.
Vec3 round_extent(const PlacedShape& placed, const std::array<double, 3>& semi_axes) {
  Vec3 squared;
  for (int k = 0; k < 3; ++k) {
    const Vec3 axis = semi_axes[k] * placed.axes[k];
    squared = squared + Vec3{axis.x * axis.x, axis.y * axis.y, axis.z * axis.z};
  }
  return {std::sqrt(squared.x), std::sqrt(squared.y), std::sqrt(squared.z)};
}
Vec3 ellipsoid_extent(const PlacedShape& placed) {
  return round_extent(placed, placed.shape.size);
}
Vec3 ellipse_extent(const PlacedShape& placed) {
  return round_extent(placed, {placed.shape.size[0], 0, placed.shape.size[1]});
}
Vec3 rod_extent(const PlacedShape& placed) {
  return round_extent(placed, {placed.shape.size[0], 0, 0});
}

bool plane_reaches(const PlacedShape& plane, const Vec3& centre, const Vec3& half) {
  const Vec3& n = plane.axes[2];
  return dot(n, centre - plane.position) <=
         std::abs(n.x) * half.x + std::abs(n.y) * half.y + std::abs(n.z) * half.z;
}
bool cylinder_reaches(const PlacedShape& cylinder, const Vec3& centre, const Vec3& half) {
  const Vec3 offset = centre - cylinder.position;
  const Vec3& axis = cylinder.axes[2];
  return norm(offset - dot(offset, axis) * axis) + norm(half) >= cylinder.shape.size[0];
}

}  // namespace

const std::vector<ShapeKind>& shape_kinds() {
  static const std::vector<ShapeKind> rows = {
      {"sphere", "a ball about its origin", {"radius"}, sphere_mass, sphere_extent, nullptr},
      {"plane", "a half space below its third axis", {}, nullptr, nullptr, plane_reaches},
      {"box",
       "edges along its axes, about its origin",
       {"half edge", "half edge", "half edge"},
       box_mass,
       box_extent,
       nullptr},
      {"cylinder_inside",
       "the space around an endless cylinder along its third axis",
       {"radius"},
       nullptr,
       nullptr,
       cylinder_reaches},
      {"ellipsoid",
       "semi-axes along its axes, about its origin",
       {"semi-axis", "semi-axis", "semi-axis"},
       ellipsoid_mass,
       ellipsoid_extent,
       nullptr},
      {"ellipse",
       "planar: semi-axes along its first and third axis; both equal: a disc",
       {"semi-axis", "semi-axis"},
       ellipse_mass,
       ellipse_extent,
       nullptr},
      {"rod",
       "two end points along its first axis, and nothing between them that touches",
       {"half length"},
       rod_mass,
       rod_extent,
       nullptr},
  };
  return rows;
}

const ShapeKind& shape_kind(std::string_view kind) {
  const auto& rows = shape_kinds();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const ShapeKind& entry) { return entry.kind == kind; });
  if (row != rows.end()) return *row;
  std::vector<std::string> known;
  for (const ShapeKind& entry : rows) known.emplace_back(entry.kind);
  throw InputError(fmt::format("no shape '{}' (known: {}){}", kind, fmt::join(known, ", "),
                               did_you_mean(std::string(kind), known)));
}

void check_shape(const Shape& shape) {
  const ShapeKind& row = shape_kind(shape.kind);
  for (std::size_t k = 0; k < row.sizes.size(); ++k) {
    const double size = shape.size[k];
    if (!(size > 0 && std::isfinite(size))) {
      throw InputError(std::string(row.kind), fmt::format("{} {}", row.sizes[k], k),
                       "a length > 0 m", fmt::format("{}", size));
    }
  }
}

Shape make_shape(std::string_view kind, const std::vector<double>& sizes) {
  const ShapeKind& row = shape_kind(kind);
  if (sizes.size() != row.sizes.size()) {
    throw InputError(std::string(kind), "sizes",
                     row.sizes.empty() ? "none" : fmt::format("{}", fmt::join(row.sizes, ", ")),
                     fmt::format("{} numbers", sizes.size()));
  }
  Shape shape{row.kind, {}};
  std::copy(sizes.begin(), sizes.end(), shape.size.begin());
  check_shape(shape);
  return shape;
}

MassProperties mass_properties(const Shape& shape, double density) {
  check_shape(shape);
  const ShapeKind& row = shape_kind(shape.kind);
  if (!row.mass_properties) {
    throw InputError(std::string(row.kind), "mass", "a bounded shape", "an obstacle without mass");
  }
  if (!(density > 0 && std::isfinite(density))) {
    throw InputError(std::string(row.kind), "density", "a number > 0 kg/m^3",
                     fmt::format("{}", density));
  }
  return row.mass_properties(shape, density);
}

}  // namespace ccp
