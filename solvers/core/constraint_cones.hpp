#pragma once

#include "solvers/core/cone_free.hpp"
#include "solvers/core/cone_rolling.hpp"
#include "solvers/core/problem.hpp"

namespace ccp {

/// The cones of a problem with triples beside the contacts, K = K_1 x K_2 x ...: K_mu of a contact,
/// K6 of a contact with its rolling triple, all impulses of an equality constraint. Counted by
/// contacts, then equality constraints.
struct ConstraintCones {
  int contacts = 0, rolling = 0, equality = 0;
  DeviceArray<const double* [3]> normal;
  DeviceArray<const double*> mu, rho;
  DeviceArray<const int*> rolling_of, rows;
  FreeTwist free_twist;

  explicit ConstraintCones(const Problem& problem)
      : contacts(problem.contacts()),
        rolling(problem.pools().rolling()),
        equality(problem.pools().equality()),
        normal(problem.normal()),
        mu(problem.mu()),
        rho(problem.pools().rho()),
        rolling_of(problem.pools().rolling_of()),
        rows(problem.pools().rows()),
        free_twist(problem.pools().free_twist()) {}

  int size() const { return contacts + equality; }

  /// The triple of a vector that belongs to an equality constraint, counted as above.
  KOKKOS_INLINE_FUNCTION int equality_triple(int cone) const { return cone + rolling; }
  /// The rolling triple of a contact, or -1.
  KOKKOS_INLINE_FUNCTION int rolling_triple(int c) const {
    if (rolling == 0 || rolling_of(c) < 0) return -1;
    return contacts + rolling_of(c);
  }
  KOKKOS_INLINE_FUNCTION double limit(int rolling_triple) const {
    return rho(rolling_triple - contacts);
  }

  /// z <- the nearest point of the cone in a metric that is diag(a, b, b) for contacts, in contact
  /// axes, and a for other triples. @param metric  along(t) = a and ratio(t) = b / a of triple t
  template <class View, class Metric>
  KOKKOS_INLINE_FUNCTION void project(int cone, const View& z, const Metric& metric) const {
    if (cone >= contacts) {
      const int t = equality_triple(cone);
      store3(z, t, project_free_cone(load3(z, t), rows(cone - contacts)));
      return;
    }
    const Vec3 n = row3(normal, cone);
    const int k = rolling_triple(cone);
    if (k < 0) {
      store3(z, cone, project_in_metric(load3(z, cone), n, mu(cone), metric.ratio(cone)));
      return;
    }
    const RollingTriples nearest =
        project_rolling_in_metric({load3(z, cone), load3(z, k)}, n, mu(cone), limit(k),
                                  metric.ratio(cone), metric.along(k) / metric.along(cone));
    store3(z, cone, nearest.contact);
    store3(z, k, nearest.rolling);
  }
};

}  // namespace ccp
