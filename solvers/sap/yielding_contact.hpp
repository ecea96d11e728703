#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/cone.hpp"

namespace ccp::sap {

/// A contact of compliance Sigma = along n n^T + across (1 - n n^T), both > 0 [1/kg], at the
/// relative velocity u: the impulse that it gives is the one in its cone that is nearest to -u /
/// Sigma in the metric Sigma,
///     gamma = argmin over K_mu of  1/2 gamma . Sigma gamma + u . gamma,
/// and  energy = 1/2 gamma . Sigma gamma,  whose derivative by u is -gamma.
struct YieldingContact {
  Vec3 normal;
  double mu = 0, along = 1, across = 1;

  KOKKOS_INLINE_FUNCTION Vec3 impulse(const Vec3& u) const {
    return project_in_metric(free_impulse(u), normal, mu, across / along);
  }
  KOKKOS_INLINE_FUNCTION double energy(const Vec3& gamma) const {
    return 0.5 * dot(gamma, stretch(along, across, gamma, normal));
  }

  /// -d gamma / du [kg], symmetric and positive semidefinite: Sigma^-1 where the contact sticks, 0
  /// where it is open, and where it slides, with the tangent t and w = n + mu t,
  ///     w w^T / (along + mu^2 across)  +  mu gamma_n / (across |y_t|) (1 - n n^T - t t^T).
  KOKKOS_INLINE_FUNCTION Sym3 stiffness(const Vec3& u) const {
    const Split y = split(free_impulse(u), normal);
    const double ratio = across / along;
    if (y.n + mu * ratio * y.size <= 0) return {};
    if (mu == 0) return combine((1 / along) * normal, normal, 0, Vec3{}, 0, Vec3{});
    if (y.size <= mu * y.n) {
      const Tangents plane = tangents(normal);
      return combine((1 / along) * normal, normal, 1 / across, plane.s, 1 / across, plane.t);
    }
    const Vec3 t = (1 / y.size) * y.t;
    const Vec3 w = normal + mu * t;
    const double gamma_n = (y.n + mu * ratio * y.size) / (1 + mu * mu * ratio);
    return combine((1 / (along + mu * mu * across)) * w, w, mu * gamma_n / (across * y.size),
                   cross(normal, t), 0, Vec3{});
  }

 private:
  /// -u / Sigma.
  KOKKOS_INLINE_FUNCTION Vec3 free_impulse(const Vec3& u) const {
    return stretch(-1 / along, -1 / across, u, normal);
  }
  /// a b^T + s p p^T + t q q^T, a parallel to b.
  KOKKOS_INLINE_FUNCTION static Sym3 combine(const Vec3& a, const Vec3& b, double s, const Vec3& p,
                                             double t, const Vec3& q) {
    const double av[3] = {a.x, a.y, a.z}, bv[3] = {b.x, b.y, b.z}, pv[3] = {p.x, p.y, p.z},
                 qv[3] = {q.x, q.y, q.z};
    return symmetric(
        [&](int i, int j) { return av[i] * bv[j] + s * pv[i] * pv[j] + t * qv[i] * qv[j]; });
  }
};

}  // namespace ccp::sap
