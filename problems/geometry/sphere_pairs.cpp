#include "problems/geometry/sphere_pairs.hpp"

namespace ccp {

Proximity sphere_sphere(const PlacedShape& a, const PlacedShape& b) {
  const double radius_a = a.shape.size[0], radius_b = b.shape.size[0];
  const Vec3 line = b.position - a.position;
  const double distance = norm(line);
  const Vec3 normal{line.x / distance, line.y / distance, line.z / distance};
  return {distance - radius_a - radius_b, normal, a.position + radius_a * normal,
          b.position - radius_b * normal};
}

Proximity plane_sphere(const PlacedShape& plane, const PlacedShape& sphere) {
  const double radius = sphere.shape.size[0];
  const Vec3& normal = plane.axes[2];
  const double height = dot(normal, sphere.position - plane.position);
  return {height - radius, normal, sphere.position - height * normal,
          sphere.position - radius * normal};
}

}  // namespace ccp
