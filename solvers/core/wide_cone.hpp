#pragma once

#include "solvers/core/cone.hpp"

namespace ccp::jordan {

/// A vector of the Jordan algebra of C = {n >= |t|} with up to three tangential parts: the triple
/// of a contact (t across its normal), or a normal impulse with its rolling triple. Normalised as
/// the functions of jordan:: are.
struct Wide {
  double n = 0;
  Vec3 t;
};
KOKKOS_INLINE_FUNCTION double dot(const Wide& a, const Wide& b) {
  return a.n * b.n + dot(a.t, b.t);
}
KOKKOS_INLINE_FUNCTION double det(const Wide& x) {
  const double size = norm(x.t);
  return 0.5 * (x.n - size) * (x.n + size);
}
/// J x / det x.
KOKKOS_INLINE_FUNCTION Wide inverse(const Wide& x) {
  const double factor = 1 / det(x);
  return {factor * x.n, -factor * x.t};
}

/// The Nesterov-Todd scaling of x and y, P(w) x = y: w by its eigenvalues high and low along
/// c+- = (1, +- direction) / sqrt 2, each of full relative accuracy.
struct WideScaling {
  Vec3 direction;
  double high = 0, low = 0;
};
/// @param any  a unit vector among the tangential ones, for w without a tangential part
KOKKOS_INLINE_FUNCTION WideScaling make_scaling(const Wide& x, const Wide& y, const Vec3& any) {
  const double det_x = det(x), det_y = det(y), det_w = sqrt(det_y / det_x);
  const Wide w{y.n + det_w * x.n, y.t - det_w * x.t};
  const double size = norm(w.t), denominator = sqrt(dot(x, y) + 2 * sqrt(det_x * det_y));
  WideScaling result;
  result.direction = size > 1e-14 * w.n ? (1 / size) * w.t : any;
  result.high = (w.n + size) / (sqrt2 * denominator);
  result.low = det_w / result.high;
  return result;
}

/// What a normal part n is to grow by to be more than the size of the tangential ones by some
/// rounding; 0: it is.
KOKKOS_INLINE_FUNCTION double lift_inside(double n, double size) {
  constexpr double rounding = 1e-15;
  const double misses = rounding * size - (n - size);
  return misses > 0 ? misses + rounding * size : 0;
}

/// Supremum of theta with x + theta d in C, as for triples.
KOKKOS_INLINE_FUNCTION double max_step(const Wide& x, const Wide& d) {
  constexpr double infinity = 1e300;
  const double det_x = det(x), det_d = det(d), half = 0.5 * (x.n * d.n - dot(x.t, d.t));
  const double square = half * half - det_d * det_x;
  const double root = sqrt(square < 0 ? 0 : square);
  const double denominator = half > 0 ? -det_d * det_x / (root + half) : root - half;
  const double step = denominator > 0 ? det_x / denominator : infinity;
  return d.n < norm(d.t) || d.n != d.n ? step : infinity;
}

}  // namespace ccp::jordan
