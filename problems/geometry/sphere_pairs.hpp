#pragma once

#include <cmath>

#include "problems/geometry/shapes.hpp"

namespace ccp {

// Rows of the table, inline: contact detection calls them for every pair of spheres in reach, and
// what it does not ask for (normals, points) is then not computed.

/// gap = |x_b - x_a| - r_a - r_b, normal = (x_b - x_a) / |x_b - x_a|; NaN where the centres agree.
inline Proximity sphere_sphere(const PlacedShape& a, const PlacedShape& b) {
  const double radius_a = a.shape.size[0], radius_b = b.shape.size[0];
  const Vec3 line = b.position - a.position;
  // One square after the other, as nanoflann sums them: the compiler may fuse them into the sum,
  // and in another order that gives other last digits.
  double squared = 0;
  for (const double x : {line.x, line.y, line.z}) squared += x * x;
  const double distance = std::sqrt(squared);
  const Vec3 normal{line.x / distance, line.y / distance, line.z / distance};
  return {distance - radius_a - radius_b, normal, a.position + radius_a * normal,
          b.position - radius_b * normal};
}

/// gap = n . (x_b - x_a) - r_b with the plane's normal n.
inline Proximity plane_sphere(const PlacedShape& plane, const PlacedShape& sphere) {
  const double radius = sphere.shape.size[0];
  const Vec3& normal = plane.axes[2];
  const double height = dot(normal, sphere.position - plane.position);
  return {height - radius, normal, sphere.position - height * normal,
          sphere.position - radius * normal};
}

/// A: the inside of a cylinder, B: a sphere. gap = R - rho - r with the distance rho of the centre
/// from the axis; the normal points to the axis, along the first own axis where the centre is on
/// it.
inline Proximity cylinder_sphere(const PlacedShape& cylinder, const PlacedShape& sphere) {
  const double radius = sphere.shape.size[0];
  const Vec3 offset = sphere.position - cylinder.position;
  const Vec3& axis = cylinder.axes[2];
  const Vec3 off_axis = offset - dot(offset, axis) * axis;
  const double distance = norm(off_axis);
  const Vec3 outwards = distance > 0 ? 1 / distance * off_axis : cylinder.axes[0];
  const double gap = cylinder.shape.size[0] - distance - radius;
  const Vec3 point = sphere.position + radius * outwards;
  return {gap, -1 * outwards, point + gap * outwards, point};
}

}  // namespace ccp
