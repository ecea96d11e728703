#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/wide_cone.hpp"

namespace ccp::vipm {

using jordan::Wide;
using jordan::WideScaling;

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
