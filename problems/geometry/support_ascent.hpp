#pragma once

#include <array>

#include "problems/geometry/shapes.hpp"

namespace ccp {

/// An ellipsoid about the origin, by its semi-axes as vectors. Some may be zero: an elliptic disc,
/// a needle, a point.
struct RoundSolid {
  std::array<Vec3, 3> semi_axis;  ///< m
};
/// Of a sphere, an ellipsoid or an ellipse. @throws InputError for other kinds
RoundSolid round_solid(const PlacedShape& placed);

/// The support function h(n) = max over the points x of n.x = |L n|, rows of L the semi-axes, and
/// where it is taken. @param n  unit
struct Support {
  double height = 0;  ///< m
  Vec3 point;         ///< m, gradient of h; zero where h is
};
Support support(const RoundSolid& solid, const Vec3& n);

/// The smallest radius of curvature, m: shortest semi-axis squared over the longest one, those that
/// are zero left out (a disc in its plane).
double smallest_curvature_radius(const RoundSolid& solid);

/// f(n) = n.d - h_1(n) - h_2(n): how far two round solids are apart along n, their centres d apart.
/// Its maximum over all unit n is the signed distance, for apart and for overlapping ones. With
/// outer = true, f(n) = n.d + h_1(n) + h_2(n): how far the solid at d reaches out along n.
struct SupportProblem {
  Vec3 d;  ///< m
  RoundSolid first, second;
  bool outer = false;
  bool planar = false;  ///< only n perpendicular to `axis`
  Vec3 axis;            ///< unit, of planar problems

  double value(const Vec3& n) const;
};

struct SupportMaximum {
  Vec3 normal;
  double value = 0;  ///< m, f(normal)
};

/// A local maximum of f, uphill from `start`, by Newton's method on the unit sphere (circle, where
/// planar) with a shift where f is not concave and halved steps: f never falls. To rounding, that
/// is some 1e-15 of the sizes in f and 1e-8 or better in n. @param start  unit
SupportMaximum climb(const SupportProblem& problem, const Vec3& start);

/// The global maximum of f, for outer = false. One climb from the better of two starts is enough
/// for solids that are apart, where f has one maximum only, and for those that overlap by at most
/// the smallest radius of curvature of their Minkowski sum (by Blaschke's rolling theorem a ball of
/// that radius rolls inside, so that no point of the boundary is nearer). Deeper ones are climbed
/// from all own axes of both as well.
/// @param enough  m: may stop where f is larger, for callers who do not care then
SupportMaximum maximize(const SupportProblem& problem, double enough);

}  // namespace ccp
