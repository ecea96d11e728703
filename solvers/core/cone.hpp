#pragma once

#include <Kokkos_Core.hpp>

namespace ccp {

/// A triple (n, t1, t2): impulse, velocity or an element of the Jordan algebra R x R^2.
struct Vec3 {
  double n = 0, t1 = 0, t2 = 0;
};

KOKKOS_INLINE_FUNCTION Vec3 operator+(const Vec3& x, const Vec3& y) {
  return {x.n + y.n, x.t1 + y.t1, x.t2 + y.t2};
}
KOKKOS_INLINE_FUNCTION Vec3 operator-(const Vec3& x, const Vec3& y) {
  return {x.n - y.n, x.t1 - y.t1, x.t2 - y.t2};
}
KOKKOS_INLINE_FUNCTION Vec3 operator*(double s, const Vec3& x) {
  return {s * x.n, s * x.t1, s * x.t2};
}
KOKKOS_INLINE_FUNCTION double dot(const Vec3& x, const Vec3& y) {
  return x.n * y.n + x.t1 * y.t1 + x.t2 * y.t2;
}
KOKKOS_INLINE_FUNCTION double tangential_norm(const Vec3& x) {
  return sqrt(x.t1 * x.t1 + x.t2 * x.t2);
}

/// Triple i of a flat vector view (3 entries per contact).
template <class View>
KOKKOS_INLINE_FUNCTION Vec3 load3(const View& x, int i) {
  return {x(3 * i), x(3 * i + 1), x(3 * i + 2)};
}
template <class View>
KOKKOS_INLINE_FUNCTION void store3(const View& x, int i, const Vec3& value) {
  x(3 * i) = value.n;
  x(3 * i + 1) = value.t1;
  x(3 * i + 2) = value.t2;
}

// ---- friction cone K_mu = {mu n >= |t|} and its dual K_mu* = {n >= mu |t|} ---------------------

/// Euclidean projection onto K_mu; with mu = 0 onto the half-line n >= 0, t = 0.
KOKKOS_INLINE_FUNCTION Vec3 project_friction_cone(const Vec3& x, double mu) {
  const double t = tangential_norm(x);
  if (t <= mu * x.n) return x;            // inside
  if (mu * t <= -x.n) return {0, 0, 0};   // inside the polar cone -K_mu*
  // t > 0 here unless mu = 0, and then the tangential part vanishes.
  const double n = (x.n + mu * t) / (1 + mu * mu);
  const double scale = t > 0 ? mu * n / t : 0;
  return {n, scale * x.t1, scale * x.t2};
}

/// Euclidean distance to K_mu.
KOKKOS_INLINE_FUNCTION double distance_to_cone(const Vec3& x, double mu) {
  const Vec3 d = x - project_friction_cone(x, mu);
  return sqrt(dot(d, d));
}

/// Euclidean distance to K_mu*: by Moreau's decomposition the norm of P_K(-x).
KOKKOS_INLINE_FUNCTION double distance_to_dual_cone(const Vec3& x, double mu) {
  const Vec3 d = project_friction_cone({-x.n, -x.t1, -x.t2}, mu);
  return sqrt(dot(d, d));
}

// ---- Jordan algebra R x R^2 with cone of squares C = {n >= |t|} (seed 001 Sect. 3) ---------------
//
// Normalised as there: x o y = (x.y, n_x t_y + n_y t_x) / sqrt 2, unit e = (sqrt 2, 0, 0), so that
// det x = (n^2 - |t|^2) / 2 and tr(x o y) = x.y.

namespace jordan {

constexpr double sqrt2 = 1.4142135623730950488;

KOKKOS_INLINE_FUNCTION Vec3 product(const Vec3& x, const Vec3& y) {
  const double s = 1 / sqrt2;
  return {s * dot(x, y), s * (x.n * y.t1 + y.n * x.t1), s * (x.n * y.t2 + y.n * x.t2)};
}

/// Spectral values (n - |t|) / sqrt 2 <= (n + |t|) / sqrt 2.
KOKKOS_INLINE_FUNCTION void spectral_values(const Vec3& x, double& low, double& high) {
  const double t = tangential_norm(x);
  low = (x.n - t) / sqrt2;
  high = (x.n + t) / sqrt2;
}

/// det x as a product: n^2 - |t|^2 would cancel near the boundary of the cone.
KOKKOS_INLINE_FUNCTION double det(const Vec3& x) {
  const double t = tangential_norm(x);
  return 0.5 * (x.n - t) * (x.n + t);
}

/// Reflection J x = (n, -t).
KOKKOS_INLINE_FUNCTION Vec3 reflect(const Vec3& x) { return {x.n, -x.t1, -x.t2}; }

/// x^-1 = J x / det x.
KOKKOS_INLINE_FUNCTION Vec3 inverse(const Vec3& x) { return (1 / det(x)) * reflect(x); }

/// Strictly inside C.
KOKKOS_INLINE_FUNCTION bool is_interior(const Vec3& x) { return x.n > tangential_norm(x); }

/// Quadratic representation P(w) z = w (w.z) - det(w) J z.
KOKKOS_INLINE_FUNCTION Vec3 quadratic(const Vec3& w, double det_w, const Vec3& z) {
  const double s = dot(w, z);
  return {w.n * s - det_w * z.n, w.t1 * s + det_w * z.t1, w.t2 * s + det_w * z.t2};
}

/// A Nesterov-Todd scaling point with its determinant.
struct ScalingPoint {
  Vec3 w;
  double det = 0;
};

/// The point w with P(w) x = y for x, y in int C (seed 001 Lemma 3):
///     w = (y + lambda J x) / sqrt(x.y + 2 sqrt(det x det y)),  det w = lambda = sqrt(det y / det x).
KOKKOS_INLINE_FUNCTION ScalingPoint nt_scaling(const Vec3& x, const Vec3& y) {
  const double det_x = det(x), det_y = det(y);
  const double lambda = sqrt(det_y / det_x);
  const double denominator = sqrt(dot(x, y) + 2 * sqrt(det_x * det_y));
  return {(1 / denominator) * (y + lambda * reflect(x)), lambda};
}

/// Supremum of theta with x + theta d in int C, for x in int C (seed 001 Lemma 2); infinity (1e300)
/// where d never leaves the cone.
///     theta = det x / ( sqrt((d.Jx/2)^2 - det d det x) - d.Jx/2 )
KOKKOS_INLINE_FUNCTION double max_step(const Vec3& x, const Vec3& d) {
  constexpr double infinity = 1e300;
  const double det_x = det(x);
  const double half = 0.5 * dot(d, reflect(x));
  const double det_d = det(d);
  if (d.n >= tangential_norm(d)) return infinity;
  double discriminant = half * half - det_d * det_x;
  if (discriminant < 0) discriminant = 0;  // rounding only: it is a square on the boundary
  const double root = sqrt(discriminant);
  // The smallest positive root of det(x + theta d) = 0, in the form that does not cancel.
  const double denominator = half > 0 ? -det_d * det_x / (root + half) : root - half;
  return denominator > 0 ? det_x / denominator : infinity;
}

}  // namespace jordan
}  // namespace ccp
