#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/cone.hpp"

namespace ccp {

/// omega g(lambda / omega) of Koziara 2019 eq. 25, the smooth max(0, lambda), without cancellation.
/// @param root  sqrt(lambda^2 + 4 omega^2)
KOKKOS_INLINE_FUNCTION double smooth_positive_part(double lambda, double root, double omega) {
  if (lambda >= 0) return 0.5 * (root + lambda);
  const double below = root - lambda;
  return below > 0 ? 2 * omega * omega / below : 0;
}

/// Its derivative in lambda (eq. 34); 1/2 where lambda = omega = 0.
KOKKOS_INLINE_FUNCTION double smooth_step(double lambda, double root) {
  return root > 0 ? 0.5 * (1 + lambda / root) : 0.5;
}

/// Smoothed Euclidean projection onto the polar cone of K_mu and its gradient.
struct SmoothPolar {
  Vec3 value;
  Sym3 gradient;
};

/// m_omega(z) of Koziara 2019, eqs. 19-24, with the gradient of eqs. 27 and 34-38. omega -> 0 gives
/// z - P(z), P the projection onto K_mu; for mu = 0 the tangential part of z is kept as it is.
/// @param omega  >= 0, in the unit of z; 0 gives an element of the generalised Jacobian of z - P(z)
KOKKOS_INLINE_FUNCTION SmoothPolar smooth_polar_projection(const Vec3& z, const Vec3& normal,
                                                           double mu, double omega) {
  const Split s = split(z, normal);
  const double norm2 = 1 + mu * mu;
  const double lambda1 = (-s.n - mu * s.size) / norm2, lambda2 = (s.size - mu * s.n) / norm2;
  const double root1 = sqrt(lambda1 * lambda1 + 4 * omega * omega);
  const double root2 = sqrt(lambda2 * lambda2 + 4 * mu * mu * omega * omega);
  const double g1 = smooth_positive_part(lambda1, root1, omega);
  const double g2 = smooth_positive_part(lambda2, root2, mu * omega);
  // Without friction the tangential part is not smoothed: its derivative is 1, at zero as well.
  const double dg1 = smooth_step(lambda1, root1), dg2 = mu > 0 ? smooth_step(lambda2, root2) : 1;
  const double roots = root2 + mu * root1;
  const double a = mu > 0 ? (roots > 0 ? 0.5 * (1 + (lambda2 + mu * lambda1) / roots) : 0.5) : 1;
  const double b = (mu * mu * dg1 + dg2) / norm2;
  const double c = mu * (dg1 - dg2) / norm2;
  const double d = (dg1 + mu * mu * dg2) / norm2;

  SmoothPolar result;
  const Vec3 n = normal;
  const Vec3 t = s.size > 0 ? (1 / s.size) * s.t : Vec3{};
  result.value = (g2 - mu * g1) * t - (g1 + mu * g2) * n;
  const double tangential = s.size > 0 ? b - a : 0;
  const double nv[3] = {n.x, n.y, n.z}, tv[3] = {t.x, t.y, t.z};
  result.gradient = symmetric([&](int i, int j) {
    return (i == j ? a : 0) + tangential * tv[i] * tv[j] + c * (nv[i] * tv[j] + tv[i] * nv[j]) +
           (d - a) * nv[i] * nv[j];
  });
  return result;
}

}  // namespace ccp
