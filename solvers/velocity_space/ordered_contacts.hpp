#pragma once

#include "solvers/core/problem.hpp"

namespace ccp {

/// What methods need to know of the contacts, in the order of a VelocitySystem (or any other).
struct OrderedContacts {
  DeviceArray<const int*> order;  ///< [n] numbers in the problem
  DeviceArray<double* [3]> normal;
  DeviceArray<double*> mu;
  DeviceArray<double*> scale;  ///< trace(N_cc)/3, 1/kg; the problem's mean where that is zero
  VectorView r;                ///< m/s
  double q = 1;                ///< rms(r), 1 where r = 0; m/s

  OrderedContacts() = default;
  OrderedContacts(const Problem& problem, const DeviceArray<const int*>& order);
  /// r and q as they are in the problem now: when a solve begins.
  void take_free_velocity(const Problem& problem);

  int size() const { return static_cast<int>(mu.extent(0)); }
  /// Impulses or velocities [3n] from the problem's order, and back into it.
  void gather(const ConstVectorView& from, const VectorView& to) const;
  void scatter(const ConstVectorView& from, const VectorView& to) const;
  /// Impulses from this order and world axes into a vector of the problem, in contact axes.
  void write(const Problem& problem, const ConstVectorView& from, Vector& to) const;

  /// The friction cone's nearest point for contact c.
  KOKKOS_INLINE_FUNCTION Vec3 project(int c, const Vec3& value) const {
    return project_friction_cone(value, row3(normal, c), mu(c));
  }
};

}  // namespace ccp
