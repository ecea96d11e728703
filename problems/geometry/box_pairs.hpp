#pragma once

#include "problems/geometry/pair_table.hpp"
#include "problems/geometry/shapes.hpp"

namespace ccp {

// Corners of a box are numbered 0 to 7: bit k is set where own coordinate k is positive.

/// Corner of a box, m, world axes.
inline Vec3 box_corner(const PlacedShape& box, int corner) {
  Vec3 x = box.position;
  for (int k = 0; k < 3; ++k) {
    x = x + ((corner >> k & 1) ? box.shape.size[k] : -box.shape.size[k]) * box.axes[k];
  }
  return x;
}

/// A: a box, B: a sphere. Outside, the normal points from the nearest point of the box to the
/// centre; for a centre inside, out of the face that is least deep (the first of those equally
/// deep).
Proximity box_sphere(const PlacedShape& box, const PlacedShape& sphere);

/// A: a plane, B: a box; its lowest corner (the first of those equally low).
Proximity plane_box(const PlacedShape& plane, const PlacedShape& box);
/// The four corners of the box's lowest face, numbered by the corner.
void plane_box_points(const PlacedShape& plane, const PlacedShape& box, const PointOptions& options,
                      ContactPoints& points);

/// A: the inside of a cylinder, B: a box; the corner that is farthest from the axis (the first of
/// equal ones), the normal from there to the axis.
Proximity cylinder_box(const PlacedShape& cylinder, const PlacedShape& box);
/// All corners, numbered by the corner.
void cylinder_box_points(const PlacedShape& cylinder, const PlacedShape& box,
                         const PointOptions& options, ContactPoints& points);

/// A: a plane, B: a rod; its lower end.
Proximity plane_rod(const PlacedShape& plane, const PlacedShape& rod);
/// Both ends: 0 at the negative end of the own axis, 1 at the positive one.
void plane_rod_points(const PlacedShape& plane, const PlacedShape& rod, const PointOptions& options,
                      ContactPoints& points);

}  // namespace ccp
