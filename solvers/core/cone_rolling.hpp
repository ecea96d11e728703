#pragma once

#include "solvers/core/cone.hpp"

namespace ccp {

/// The impulse of a contact with rolling resistance, or its velocity: the contact's triple and the
/// rolling one. Two axes systems will do as long as each is orthonormal; moments and angular
/// velocities are measured against rho [m], so that distances in six dimensions have a unit only
/// where the caller has scaled both triples alike (a length of 1 m).
struct RollingTriples {
  Vec3 contact;  ///< N s or m/s
  Vec3 rolling;  ///< N m s or rad/s
};

/// The point of  K6 = { gamma_n >= 0, |gamma_t| <= mu gamma_n, |gamma_r| <= rho gamma_n }  nearest
/// to z in the metric diag(a, b, b) of contact axes and c of the rolling triple. For a given normal
/// part n the nearest t and r are cut at mu n and rho n, and n solves
///     n - z_n = mu b/a (T - mu n)_+ + rho c/a (R - rho n)_+,   n >= 0,
/// z_n, T, R the normal part and the sizes of z. Each of the four choices of cuts that act gives a
/// line through one root, and the right one is the largest: the difference of the two sides is the
/// least of those lines.
/// @param across, rolling  b / a and c / a
KOKKOS_INLINE_FUNCTION RollingTriples project_rolling_in_metric(const RollingTriples& z,
                                                                const Vec3& normal, double mu,
                                                                double rho, double across,
                                                                double rolling) {
  const Split s = split(z.contact, normal);
  const double size = norm(z.rolling);
  const double slide = mu * across * s.size, roll = rho * rolling * size;
  const double sliding = mu * mu * across, turning = rho * rho * rolling;
  double n = s.n > 0 ? s.n : 0;
  const double roots[3] = {(s.n + slide) / (1 + sliding), (s.n + roll) / (1 + turning),
                           (s.n + slide + roll) / (1 + sliding + turning)};
  for (const double root : roots) n = root > n ? root : n;
  const double t = s.size > mu * n ? mu * n / s.size : 1;
  const double r = size > rho * n ? rho * n / size : 1;
  return {n * normal + t * s.t, r * z.rolling};
}

/// The same in the Euclidean metric.
KOKKOS_INLINE_FUNCTION RollingTriples project_rolling_cone(const RollingTriples& z,
                                                           const Vec3& normal, double mu,
                                                           double rho) {
  return project_rolling_in_metric(z, normal, mu, rho, 1, 1);
}

/// Euclidean distance to K6.
KOKKOS_INLINE_FUNCTION double distance_to_rolling_cone(const RollingTriples& z, const Vec3& normal,
                                                       double mu, double rho) {
  const RollingTriples p = project_rolling_cone(z, normal, mu, rho);
  const Vec3 a = z.contact - p.contact, b = z.rolling - p.rolling;
  return sqrt(dot(a, a) + dot(b, b));
}

/// What is missing to  K6* = { u_n >= mu |u_t| + rho |u_r| }: mu |u_t| + rho |u_r| - u_n where that
/// is positive, m/s.
KOKKOS_INLINE_FUNCTION double rolling_dual_violation(const RollingTriples& u, const Vec3& normal,
                                                     double mu, double rho) {
  const Split s = split(u.contact, normal);
  const double missing = mu * s.size + rho * norm(u.rolling) - s.n;
  return missing > 0 ? missing : 0;
}

/// Euclidean distance to K6*, by Moreau's decomposition that of u's image in -K6 from zero.
KOKKOS_INLINE_FUNCTION double distance_to_rolling_dual_cone(const RollingTriples& u,
                                                            const Vec3& normal, double mu,
                                                            double rho) {
  const RollingTriples p =
      project_rolling_cone({-1.0 * u.contact, -1.0 * u.rolling}, normal, mu, rho);
  return sqrt(dot(p.contact, p.contact) + dot(p.rolling, p.rolling));
}

}  // namespace ccp
