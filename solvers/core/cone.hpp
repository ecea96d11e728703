#pragma once

#include <Kokkos_Core.hpp>

#include "problems/base/vec3.hpp"

namespace ccp {

/// One of two triples, number by number: loops over contacts then run in SIMD lanes.
KOKKOS_INLINE_FUNCTION Vec3 select(bool first, const Vec3& a, const Vec3& b) {
  return {first ? a.x : b.x, first ? a.y : b.y, first ? a.z : b.z};
}

/// A triple taken apart along the normal: value = n * normal + t with |t| = size.
struct Split {
  double n = 0;
  Vec3 t;
  double size = 0;
};
KOKKOS_INLINE_FUNCTION Split split(const Vec3& value, const Vec3& normal) {
  const double n = dot(value, normal);
  const Vec3 t = value - n * normal;
  return {n, {t.x, t.y, t.z}, norm(t)};
}

/// An orthonormal pair of tangents.
struct Tangents {
  Vec3 s, t;
};
KOKKOS_INLINE_FUNCTION Tangents tangents(const Vec3& normal) {
  const double first = fabs(normal.x) < 0.6 ? 1 : 0;
  const Vec3 helper{first, 1 - first, 0};
  const Vec3 across = cross(normal, helper);
  const Vec3 s = (1 / norm(across)) * across;
  return {s, cross(normal, s)};
}

/// normal_factor along the normal, tangential_factor across it: diag(a, b, b) in contact axes.
KOKKOS_INLINE_FUNCTION Vec3 stretch(double normal_factor, double tangential_factor,
                                    const Vec3& value, const Vec3& normal) {
  return tangential_factor * value +
         ((normal_factor - tangential_factor) * dot(value, normal)) * normal;
}

// ---- friction cone K_mu = {mu n >= |t|} and its dual K_mu* = {n >= mu |t|} ---------------------

/// The point of K_mu nearest to `value` in the metric diag(a, b, b) of contact axes; with mu = 0
/// that is on the half-line n >= 0, t = 0. @param ratio  b / a
KOKKOS_INLINE_FUNCTION Vec3 project_in_metric(const Vec3& value, const Vec3& normal, double mu,
                                              double ratio) {
  // All three cases are computed and one is selected, on plain numbers and with a single division:
  // so that loops over contacts run in SIMD lanes, and fast.
  constexpr double least = 1e-290;  // a tangential part below this is none; its inverse is finite
  const double along = dot(value, normal);
  const double x = value.x - along * normal.x, y = value.y - along * normal.y,
               z = value.z - along * normal.z;
  const double size = sqrt(x * x + y * y + z * z);
  const bool inside = (along >= 0) & (size <= mu * along);
  double sum = along + mu * ratio * size;  // (1 + mu^2 ratio) times the normal part
  sum = sum <= 0 ? 0 : sum;                // inside the polar cone; a NaN stays
  const double divisor = size > least ? size : 1;
  const double factor = sum / ((1 + mu * mu * ratio) * divisor);
  const double n = factor * divisor, scale = mu * factor;
  return {inside ? value.x : n * normal.x + scale * x, inside ? value.y : n * normal.y + scale * y,
          inside ? value.z : n * normal.z + scale * z};
}

/// Euclidean projection onto K_mu; with mu = 0 onto the half-line n >= 0, t = 0.
KOKKOS_INLINE_FUNCTION Vec3 project_friction_cone(const Vec3& value, const Vec3& normal,
                                                  double mu) {
  return project_in_metric(value, normal, mu, 1);
}

/// Euclidean distance to K_mu of a triple with normal part n and tangential norm t.
KOKKOS_INLINE_FUNCTION double distance_to_cone(double n, double t, double mu) {
  if (n + mu * t <= 0) return sqrt(n * n + t * t);  // the apex is nearest
  if (t <= mu * n) return 0;
  return (t - mu * n) / sqrt(1 + mu * mu);
}

/// Euclidean distance to K_mu*; with mu = 0 that is the half-space n >= 0.
KOKKOS_INLINE_FUNCTION double distance_to_dual_cone(double n, double t, double mu) {
  if (n >= mu * t) return 0;
  if (t + mu * n <= 0 && mu > 0) return sqrt(n * n + t * t);
  return (mu * t - n) / sqrt(1 + mu * mu);
}

// ---- Jordan algebra R x R^2 with cone of squares C = {n >= |t|} (Kleinert 2014 Sect. 3) --------
//
// Normalised as there: x o y = (x.y, n_x t_y + n_y t_x) / sqrt 2, unit e = sqrt 2 along the normal,
// so that det x = (n^2 - |t|^2) / 2 and tr(x o y) = x.y.

namespace jordan {

constexpr double sqrt2 = 1.4142135623730950488;

KOKKOS_INLINE_FUNCTION Vec3 product(const Vec3& a, const Vec3& b, const Vec3& normal) {
  const Split p = split(a, normal), q = split(b, normal);
  return (1 / sqrt2) * (dot(a, b) * normal + p.n * q.t + q.n * p.t);
}

/// Spectral values (n - |t|) / sqrt 2 <= (n + |t|) / sqrt 2.
KOKKOS_INLINE_FUNCTION void spectral_values(const Vec3& value, const Vec3& normal, double& low,
                                            double& high) {
  const Split s = split(value, normal);
  low = (s.n - s.size) / sqrt2;
  high = (s.n + s.size) / sqrt2;
}

/// det as a product: n^2 - |t|^2 would cancel near the boundary of the cone.
KOKKOS_INLINE_FUNCTION double det(const Split& s) {
  return 0.5 * (s.n - s.size) * (s.n + s.size);
}
KOKKOS_INLINE_FUNCTION double det(const Vec3& value, const Vec3& normal) {
  return det(split(value, normal));
}

/// Reflection J x = (n, -t).
KOKKOS_INLINE_FUNCTION Vec3 reflect(const Vec3& value, const Vec3& normal) {
  return (2 * dot(value, normal)) * normal - value;
}

/// x^-1 = J x / det x.
KOKKOS_INLINE_FUNCTION Vec3 inverse(const Vec3& value, const Vec3& normal) {
  return (1 / det(value, normal)) * reflect(value, normal);
}

/// Strictly inside C.
KOKKOS_INLINE_FUNCTION bool is_interior(const Vec3& value, const Vec3& normal) {
  const Split s = split(value, normal);
  return s.n > s.size;
}

/// Quadratic representation P(w) z = w (w.z) - det(w) J z.
KOKKOS_INLINE_FUNCTION Vec3 quadratic(const Vec3& w, double det_w, const Vec3& z,
                                      const Vec3& normal) {
  return dot(w, z) * w - det_w * reflect(z, normal);
}

/// A Nesterov-Todd scaling point with its determinant.
struct ScalingPoint {
  Vec3 w;
  double det = 0;
};

/// The point w with P(w) x = y for x, y in int C (Kleinert 2014 Lemma 3):
///     w = (y + lambda J x) / sqrt(x.y + 2 sqrt(det x det y)),  det w = lambda = sqrt(det y / det
///     x).
KOKKOS_INLINE_FUNCTION ScalingPoint nt_scaling(const Vec3& x, const Vec3& y, const Vec3& normal) {
  const double det_x = det(x, normal), det_y = det(y, normal);
  const double lambda = sqrt(det_y / det_x);
  const double denominator = sqrt(dot(x, y) + 2 * sqrt(det_x * det_y));
  return {(1 / denominator) * (y + lambda * reflect(x, normal)), lambda};
}

/// Supremum of theta with x + theta d in int C, for x in int C (Kleinert 2014 Lemma 2); infinity
/// (1e300) where d never leaves the cone.
///     theta = det x / ( sqrt((d.Jx/2)^2 - det d det x) - d.Jx/2 )
KOKKOS_INLINE_FUNCTION double max_step(const Vec3& x, const Vec3& d, const Vec3& normal) {
  constexpr double infinity = 1e300;
  const Split dx = split(d, normal);
  const double det_x = det(x, normal), det_d = det(dx);
  const double half = 0.5 * dot(d, reflect(x, normal));
  const double square = half * half - det_d * det_x;
  const double root = sqrt(square < 0 ? 0 : square);  // below 0 by rounding: 0 on the boundary
  // The smallest positive root of det(x + theta d) = 0, in the form that does not cancel.
  const double denominator = half > 0 ? -det_d * det_x / (root + half) : root - half;
  const double step = denominator > 0 ? det_x / denominator : infinity;
  return dx.n < dx.size ? step : infinity;
}

/// The same for a contact: in C, or with `half_line` (mu = 0) for the normal part alone.
KOKKOS_INLINE_FUNCTION double max_step(const Vec3& x, const Vec3& d, const Vec3& normal,
                                       bool half_line) {
  const double in_cone = max_step(x, d, normal);
  const double along = dot(d, normal);
  const double on_line = along < 0 ? -dot(x, normal) / along : 1e300;
  return half_line ? on_line : in_cone;
}

}  // namespace jordan
}  // namespace ccp
