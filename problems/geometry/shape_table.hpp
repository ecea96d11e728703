#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "problems/geometry/shapes.hpp"

namespace ccp {

/// Mass and principal moments of inertia, in a shape's own axes about its origin.
struct MassProperties {
  double mass = 0;                  ///< kg
  std::array<double, 3> inertia{};  ///< kg m^2
};

/// What there is to know of a kind of shapes. Pairs of kinds that can touch are rows of pair_table.
struct ShapeKind {
  std::string_view kind;
  std::string summary;             ///< what it is, and how it lies in its own axes
  std::vector<std::string> sizes;  ///< names of what Shape::size holds, m; each positive
  /// Mass properties at a density, kg/m^3; nullptr for obstacles, which are never moved by
  /// impulses.
  MassProperties (*mass_properties)(const Shape& shape, double density);
  /// Half of the box along the world's axes that holds the shape, m, about its position; nullptr
  /// for what is unbounded.
  Vec3 (*half_extent)(const PlacedShape& placed);
  /// Of what is unbounded: false only where it does not touch anything in a box along the world's
  /// axes.
  bool (*reaches)(const PlacedShape& placed, const Vec3& centre, const Vec3& half);
};

/// The table: one row for each kind.
const std::vector<ShapeKind>& shape_kinds();

/// The row of a kind. @throws InputError, with the known ones, if there is none
const ShapeKind& shape_kind(std::string_view kind);

/// A shape of a kind by its sizes, in the row's order. @throws InputError for an unknown kind, a
/// wrong number of sizes, and sizes that are not positive
Shape make_shape(std::string_view kind, const std::vector<double>& sizes);

/// @throws InputError as make_shape
void check_shape(const Shape& shape);

/// Mass and inertia of a homogeneous body. Formulas: any handbook of mechanics; with m = rho V
///
///     sphere     V = 4/3 pi r^3      I = 2/5 m r^2
///     box        V = 8 a b c         I = m/3 (b^2 + c^2, a^2 + c^2, a^2 + b^2), half edges a, b, c
///     ellipsoid  V = 4/3 pi a b c    I = m/5 (b^2 + c^2, a^2 + c^2, a^2 + b^2)
///     ellipse    V = pi a b 1 m      I = m/4 (b^2, a^2 + b^2, a^2), a thin plate; planar bodies
///     turn
///                                    about the second axis only
///     rod        V = 2 l 1 m^2       I = m/3 (0, l^2, l^2), half length l, thin
/// @param density  kg/m^3, positive
/// @throws InputError for a kind without mass (plane, cylinder_inside), a bad shape or density
MassProperties mass_properties(const Shape& shape, double density);

}  // namespace ccp
