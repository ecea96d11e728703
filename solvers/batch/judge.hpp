#pragma once

#include "solvers/batch/merged.hpp"
#include "solvers/batch/team.hpp"
#include "solvers/core/law.hpp"

namespace ccp::batch {

/// The terms of `residual` or `coulomb_residual` (Optimality) that contacts add.
struct Terms {
  double work = 0, dual = 0, primal = 0;
  KOKKOS_INLINE_FUNCTION void add(const Terms& other) {
    work += other.work;
    raise(dual, other.dual);
    raise(primal, other.primal);
  }
};

/// `residual` of one problem by its team: Optimality of impulses in world axes.
struct Judge {
  DeviceArray<const int*> offset;
  DeviceArray<const double* [2]> scales;
  ConstVectorView r;
  DeviceArray<const double* [3]> normal;
  DeviceArray<const double*> mu;
  bool coulomb;

  Judge(const Batch& batch, Law law)
      : offset(batch.contact_offset()),
        scales(batch.scales()),
        r(batch.problem().r()),
        normal(batch.problem().normal()),
        mu(batch.problem().mu()),
        coulomb(law == Law::coulomb) {}

  /// @param velocity  velocity(c) = (N p)_c, m/s @return NaN for what is not finite
  template <class Impulses, class Velocity>
  KOKKOS_INLINE_FUNCTION double operator()(const Team& team, int problem, const Impulses& p,
                                           const Velocity& velocity) const {
    const int begin = offset(problem), end = offset(problem + 1);
    const Terms total = sum<Terms>(team, begin, end, [&](const int c, Terms& terms) {
      const Vec3 axis = row3(normal, c), g = load3(p, c), d = velocity(c) + load3(r, c);
      const Split u = split(d, axis), part = split(g, axis);
      const double lift = coulomb ? mu(c) * u.size : 0;
      terms.work += dot(g, d) + lift * part.n;
      raise(terms.dual, distance_to_dual_cone(u.n + lift, u.size, mu(c)));
      raise(terms.primal, distance_to_cone(part.n, part.size, mu(c)));
    });
    const double q = scales(problem, 0), s = scales(problem, 1);
    double result = fabs(total.work) * s / ((end > begin ? end - begin : 1) * q * q);
    raise(result, total.dual / q);
    raise(result, total.primal * s / q);
    return result;
  }
};

}  // namespace ccp::batch
