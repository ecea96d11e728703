#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/cone.hpp"

namespace ccp::vipm {

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

/// The Nesterov-Todd scaling of contact_step.hpp: P(w) x = y, w with the eigenvalues high and low
/// along c+- = (1, +- direction) / sqrt 2.
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
  result.high = (w.n + size) / (jordan::sqrt2 * denominator);
  result.low = det_w / result.high;
  return result;
}

/// W^-1 h with  lambda o h = (W dx) o (W^-1 dy),  lambda = W x,  W = P(w)^1/2: second_order() of
/// contact_step.hpp.
KOKKOS_INLINE_FUNCTION Wide second_order(const WideScaling& s, const Wide& x, const Wide& dx,
                                         const Wide& dy) {
  const double wp = s.high, wm = s.low, ws = sqrt(s.high * s.low);
  // P(w)^(1/2) or its inverse: factors of c+, c- and of what is across.
  const auto scaled = [&](const Wide& z, double plus, double minus, double side) {
    const double along = dot(z.t, s.direction);
    const double p = 0.5 * plus * (z.n + along), m = 0.5 * minus * (z.n - along);
    return Wide{p + m, (p - m) * s.direction + side * (z.t - along * s.direction)};
  };
  const Wide a = scaled(dx, wp, wm, ws), b = scaled(dy, 1 / wp, 1 / wm, 1 / ws),
             l = scaled(x, wp, wm, ws);
  const double zn = dot(a, b);
  const Vec3 zt = a.n * b.t + b.n * a.t;
  const double hn = (l.n * zn - dot(l.t, zt)) / (2 * det(l));
  const Vec3 ht = (1 / l.n) * (zt - hn * l.t);
  return scaled({hn, ht}, 1 / wp, 1 / wm, 1 / ws);
}

/// Supremum of theta with x + theta d in C (jordan::max_step).
KOKKOS_INLINE_FUNCTION double max_step(const Wide& x, const Wide& d) {
  constexpr double infinity = 1e300;
  const double det_x = det(x), det_d = det(d), half = 0.5 * (x.n * d.n - dot(x.t, d.t));
  const double square = half * half - det_d * det_x;
  const double root = sqrt(square < 0 ? 0 : square);
  const double denominator = half > 0 ? -det_d * det_x / (root + half) : root - half;
  const double step = denominator > 0 ? det_x / denominator : infinity;
  return d.n < norm(d.t) || d.n != d.n ? step : infinity;
}

/// K of one of two cones that share a normal impulse, taken apart so that the velocity on which
/// they agree can be eliminated without subtracting anything:
///     v . K v = along (n + tilt . t)^2 + t . across t,    v = (n, t).
struct TiltedStiffness {
  double along = 0;
  Vec3 tilt;
  Sym3 across;

  KOKKOS_INLINE_FUNCTION Wide operator()(const Wide& v) const {
    const double push = along * (v.n + dot(tilt, v.t));
    return {push, push * tilt + across * v.t};
  }
};

/// Of the half-line, whose cone has no tangential part.
KOKKOS_INLINE_FUNCTION TiltedStiffness tilted_half_line(double gamma, double u, double compliance) {
  return {gamma / (u + gamma * compliance), {}, {}};
}

/// K = (T P(w) T + Sigma)^-1, T = diag(limit, 1), of a cone |t| <= limit n. With a = (high^2 +
/// low^2)/2, b = (high^2 - low^2)/2 and s the compliance that is left along the direction,
///     across = (P_tt + Sigma_tt)^-1,  tilt = -limit b across direction,
///     1 / along = Sigma_n + limit^2 (high^2 low^2 + a s) / (a + s).
/// @param sigma  across the normal, @param normal  its axis, or zero where t has three parts
KOKKOS_INLINE_FUNCTION TiltedStiffness tilted_stiffness(const WideScaling& s, double limit,
                                                        double sigma_n, const Sym3& sigma,
                                                        const Vec3& normal) {
  const double hh = s.high * s.high, ll = s.low * s.low, a = 0.5 * (hh + ll), b = 0.5 * (hh - ll),
               hl = s.high * s.low;
  const bool planar = dot(normal, normal) > 0;
  Tangents side = tangents(s.direction);
  if (planar) side = {cross(normal, s.direction), {}};
  // Sigma in the frame (direction, side.s, side.t); the last is not there in the plane.
  const double ss = hl + weighted_square(sigma, side.s),
               tt = planar ? 1 : hl + weighted_square(sigma, side.t),
               st = planar ? 0 : dot(side.s, sigma * side.t);
  const double ds = dot(s.direction, sigma * side.s), dt = dot(s.direction, sigma * side.t);
  const double volume = ss * tt - st * st;
  const double is = (tt * ds - st * dt) / volume, it = (ss * dt - st * ds) / volume;
  const double left = weighted_square(sigma, s.direction) - ds * is - dt * it;
  const Vec3 bent = s.direction - is * side.s - it * side.t;
  const double weight = 1 / (a + left);
  TiltedStiffness k;
  k.along = 1 / (sigma_n + limit * limit * (hl * hl + a * left) * weight);
  k.tilt = (-limit * b * weight) * bent;
  const double d[3] = {bent.x, bent.y, bent.z}, v[3] = {side.s.x, side.s.y, side.s.z},
               w[3] = {side.t.x, side.t.y, side.t.z};
  k.across = symmetric([&](int i, int j) {
    return weight * d[i] * d[j] + (tt * v[i] * v[j] - st * (v[i] * w[j] + w[i] * v[j])) / volume +
           (planar ? 0 : ss * w[i] * w[j] / volume);
  });
  return k;
}

}  // namespace ccp::vipm
