#include "problems/geometry/box_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "problems/geometry/sphere_pairs.hpp"

namespace ccp {
namespace {

/// A plane and a point of B.
Proximity plane_point(const PlacedShape& plane, const Vec3& point) {
  const Vec3& normal = plane.axes[2];
  const double gap = dot(normal, point - plane.position);
  return {gap, normal, point - gap * normal, point};
}

/// The inside of a cylinder and a point of B.
Proximity cylinder_point(const PlacedShape& cylinder, const Vec3& point) {
  return cylinder_sphere(cylinder, {{"sphere", {0}}, point});
}

Vec3 rod_end(const PlacedShape& rod, int end) {
  return rod.position + (end == 0 ? -1 : 1) * rod.shape.size[0] * rod.axes[0];
}

}  // namespace

Proximity box_sphere(const PlacedShape& box, const PlacedShape& sphere) {
  const double radius = sphere.shape.size[0];
  const Vec3 offset = sphere.position - box.position;
  std::array<double, 3> centre, nearest;  // in the box's axes
  double outside = 0, shallowest = -1;
  int face = 0;
  for (int k = 0; k < 3; ++k) {
    const double half = box.shape.size[k];
    centre[k] = dot(box.axes[k], offset);
    nearest[k] = std::clamp(centre[k], -half, half);
    outside += (centre[k] - nearest[k]) * (centre[k] - nearest[k]);
    const double depth = half - std::abs(centre[k]);
    if (shallowest < 0 || depth < shallowest) shallowest = depth, face = k;
  }
  double distance = std::sqrt(outside);
  std::array<double, 3> normal{};
  if (distance > 0) {
    for (int k = 0; k < 3; ++k) normal[k] = (centre[k] - nearest[k]) / distance;
  } else {
    distance = -shallowest;
    normal[face] = centre[face] < 0 ? -1 : 1;
    nearest[face] = normal[face] * box.shape.size[face];
  }
  const auto world = [&](const std::array<double, 3>& x) {
    return x[0] * box.axes[0] + x[1] * box.axes[1] + x[2] * box.axes[2];
  };
  const Vec3 n = world(normal);
  return {distance - radius, n, box.position + world(nearest), sphere.position - radius * n};
}

Proximity plane_box(const PlacedShape& plane, const PlacedShape& box) {
  int lowest = 0;
  for (int k = 0; k < 3; ++k) {
    if (dot(plane.axes[2], box.axes[k]) < 0) lowest |= 1 << k;
  }
  return plane_point(plane, box_corner(box, lowest));
}

void plane_box_points(const PlacedShape& plane, const PlacedShape& box, const PointOptions& options,
                      ContactPoints& points) {
  std::array<double, 3> along;
  int face = 0;  // the axis nearest to the plane's normal: its lower face has the lowest corner
  for (int k = 0; k < 3; ++k) {
    along[k] = dot(plane.axes[2], box.axes[k]);
    if (std::abs(along[k]) > std::abs(along[face])) face = k;
  }
  for (int corner = 0; corner < 8; ++corner) {
    if ((corner >> face & 1) != (along[face] < 0)) continue;
    const Proximity where = plane_point(plane, box_corner(box, corner));
    if (where.gap <= options.cutoff) points.add(corner, where);
  }
}

Proximity cylinder_box(const PlacedShape& cylinder, const PlacedShape& box) {
  Proximity least = cylinder_point(cylinder, box_corner(box, 0));
  for (int corner = 1; corner < 8; ++corner) {
    const Proximity where = cylinder_point(cylinder, box_corner(box, corner));
    if (where.gap < least.gap) least = where;
  }
  return least;
}

void cylinder_box_points(const PlacedShape& cylinder, const PlacedShape& box,
                         const PointOptions& options, ContactPoints& points) {
  for (int corner = 0; corner < 8; ++corner) {
    const Proximity where = cylinder_point(cylinder, box_corner(box, corner));
    if (where.gap <= options.cutoff) points.add(corner, where);
  }
}

Proximity plane_rod(const PlacedShape& plane, const PlacedShape& rod) {
  return plane_point(plane, rod_end(rod, dot(plane.axes[2], rod.axes[0]) < 0 ? 1 : 0));
}

void plane_rod_points(const PlacedShape& plane, const PlacedShape& rod, const PointOptions&,
                      ContactPoints& points) {
  for (int end = 0; end < 2; ++end) points.add(end, plane_point(plane, rod_end(rod, end)));
}

}  // namespace ccp
