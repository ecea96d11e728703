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

}  // namespace ccp
