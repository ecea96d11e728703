#pragma once

#include "problems/geometry/shapes.hpp"

namespace ccp {

/// gap = |x_b - x_a| - r_a - r_b, normal = (x_b - x_a) / |x_b - x_a|; NaN where the centres agree.
Proximity sphere_sphere(const PlacedShape& a, const PlacedShape& b);

/// gap = n . (x_b - x_a) - r_b with the plane's normal n.
Proximity plane_sphere(const PlacedShape& plane, const PlacedShape& sphere);

}  // namespace ccp
