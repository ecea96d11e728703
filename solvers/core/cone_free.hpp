#pragma once

#include "problems/base/vec3.hpp"

namespace ccp {

/// The cone of the impulses of an equality constraint: all of R^3, its dual {0}. A triple of which
/// fewer rows are in use has zeros in the others (EqualityPool::rows), impulses as well.
CCP_FUNCTION Vec3 project_free_cone(const Vec3& value, int rows) {
  return {value.x, rows > 1 ? value.y : 0, rows > 2 ? value.z : 0};
}

/// Euclidean distance to the free cone: what is in rows that are not in use.
CCP_FUNCTION double distance_to_free_cone(const Vec3& value, int rows) {
  return norm(value - project_free_cone(value, rows));
}

/// Euclidean distance to its dual, {0} in the rows in use.
CCP_FUNCTION double distance_to_free_dual_cone(const Vec3& value, int rows) {
  return norm(project_free_cone(value, rows));
}

}  // namespace ccp
