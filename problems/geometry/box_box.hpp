#pragma once

#include "problems/geometry/pair_table.hpp"
#include "problems/geometry/shapes.hpp"

namespace ccp {

/// A, B: boxes. Overlapping: the depth along the axis of least overlap among the 15 that can
/// separate boxes (Gottschalk, Lin & Manocha 1996), which is the smallest translation that parts
/// them. Apart: the distance of the nearest points. Faces come before edges where both are equal to
/// rounding, A's before B's.
Proximity box_box(const PlacedShape& a, const PlacedShape& b);

/// Contact points of a face: the part of B's face that lies above A's (or the other way round), at
/// most four of its corners: the deepest, the one farthest from it, and those that span the largest
/// area with these. With face_division = 2, a point in the middle of what each two quarters share.
/// Faces are preferred to edges up to an angle of 2.5 degrees, so that a box that rocks a little
/// keeps its points; gaps are then those along the face's normal, 1e-3 of a gap off at most.
/// Otherwise edges: one point where they cross, two where they are parallel. Features are those of
/// both boxes that meet (corner on face, edge on edge, ...), whichever face is the reference.
void box_box_points(const PlacedShape& a, const PlacedShape& b, const PointOptions& options,
                    ContactPoints& points);

}  // namespace ccp
