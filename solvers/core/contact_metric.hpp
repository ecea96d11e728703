#pragma once

#include "solvers/core/cone.hpp"
#include "solvers/core/delassus.hpp"

namespace ccp {

/// Two numbers a, b > 0 per contact whose diagonal metric diag(a, b, b) in contact axes is not less
/// than the contact's own block of N:  N_cc <= diag(a, b, b).  In such a metric the projection onto
/// the friction cone has a closed form, and a projected step has length 1 or less by itself,
/// whatever the masses and units.
struct ContactMetric {
  DeviceArray<double* [2]> weight;  ///< [n] (a, b), 1/kg; (0, 0) where N_cc = 0
  /// N_cc = diag(a, b, b) for all contacts, as between bodies that do not rotate, and spheres.
  bool exact = true;
};

/// a = N_nn + |N_nt|, b = |N_tt|_2 + |N_nt| for every contact, from the blocks in world axes.
ContactMetric contact_metric(const DeviceArray<double* [3][3]>& blocks,
                             const DeviceArray<const double* [3]>& normal);

/// The point of K_mu nearest to `value` in the metric diag(a, b, b): the friction cone's projection
/// in stretched axes. @param ratio  b / a
KOKKOS_INLINE_FUNCTION Vec3 project_in_metric(const Vec3& value, const Vec3& normal, double mu,
                                              double ratio) {
  // Branchless like project_friction_cone, which this is for ratio = 1.
  const double along = dot(value, normal);
  const double x = value.x - along * normal.x, y = value.y - along * normal.y,
               z = value.z - along * normal.z;
  const double size = sqrt(x * x + y * y + z * z);
  const bool inside = (along >= 0) & (size <= mu * along);
  double n = (along + mu * ratio * size) / (1 + mu * mu * ratio);
  n = n <= 0 ? 0 : n;
  const double scale = mu * n / (size > 0 ? size : 1);
  return {inside ? value.x : n * normal.x + scale * x, inside ? value.y : n * normal.y + scale * y,
          inside ? value.z : n * normal.z + scale * z};
}

}  // namespace ccp
