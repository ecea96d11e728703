#pragma once

#include "problems/geometry/pair_table.hpp"
#include "problems/geometry/shapes.hpp"

namespace ccp {

// Round shapes are spheres, ellipsoids and ellipses. Gaps are signed distances, exact to rounding,
// by the maximum of the support separation over all normals (support_ascent). Nothing is carried
// over from step to step: the same poses give the same bits.

/// A: a plane, B: round. gap = n.(x_b - x_a) - h_b(n), at B's lowest point.
Proximity plane_round(const PlacedShape& plane, const PlacedShape& round);

/// A, B: spheres or ellipsoids. Concentric ones: the direction of the smallest overlap.
Proximity ellipsoid_ellipsoid(const PlacedShape& a, const PlacedShape& b);
void ellipsoid_ellipsoid_points(const PlacedShape& a, const PlacedShape& b,
                                const PointOptions& options, ContactPoints& points);

/// A, B: ellipses of one plane.
Proximity ellipse_ellipse(const PlacedShape& a, const PlacedShape& b);

/// A: the inside of a cylinder, B: an ellipsoid, or an ellipse in a plane across the axis.
/// gap = R - the largest distance of a point of B from the axis.
Proximity cylinder_round(const PlacedShape& cylinder, const PlacedShape& round);
/// Both tips where both are farthest from the axis in their surroundings: 0 at the side of
/// negative, 1 of positive direction of the own axis that reaches farthest across the cylinder.
void cylinder_round_points(const PlacedShape& cylinder, const PlacedShape& round,
                           const PointOptions& options, ContactPoints& points);

/// A: a box, B: an ellipsoid.
Proximity box_ellipsoid(const PlacedShape& box, const PlacedShape& ellipsoid);
void box_ellipsoid_points(const PlacedShape& box, const PlacedShape& ellipsoid,
                          const PointOptions& options, ContactPoints& points);

}  // namespace ccp
