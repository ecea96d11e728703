#pragma once

#include "solvers/core/cone.hpp"
#include "solvers/core/delassus.hpp"

namespace ccp {

/// Two numbers a, b > 0 per contact whose diagonal metric diag(a, b, b) in contact axes is not less
/// than the contact's own block of N:  N_cc <= diag(a, b, b).  In such a metric the projection onto
/// the friction cone has a closed form, and a projected step has length 1 or less by itself,
/// whatever the masses and units.
struct ContactMetric {
  /// [n] (a, b), 1/kg, both > 0. A direction in which N_cc is zero (a planar problem written in
  /// space, two immovable bodies) has a weight, too: without one its contact would take no step
  /// there, and drop out of every stopping rule.
  DeviceArray<double* [2]> weight;
  /// N_cc = diag(a, b, b) for all contacts, as between bodies that do not rotate, and spheres.
  bool exact = true;
};

/// a = N_nn + |N_nt|, b = |N_tt|_2 + |N_nt| for every contact, from the blocks in world axes; where
/// one of them is zero beside the other (below 1e-10 of it) the other's value, where both are zero
/// `spare`.
/// @param spare  1/kg, > 0: Problem::delassus_scale()
ContactMetric contact_metric(const DeviceArray<double* [3][3]>& blocks,
                             const DeviceArray<const double* [3]>& normal, double spare);

class Problem;
/// The same for the triples beside the contacts, one number each, [pools().size()]: the largest
/// eigenvalue of the triple's own block of N, or where that is zero (below 1e-10 of it)
/// delassus_scale() in the units of the triple.
DeviceArray<double*> pool_metric(const Problem& problem);

}  // namespace ccp
