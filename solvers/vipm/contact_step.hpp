#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/cone.hpp"
#include "solvers/velocity_space/impulse_root.hpp"

namespace ccp::vipm {

/// a b + c, rounded once wherever the processor can. Which products of a sum are fused with it is
/// otherwise the compiler's choice, made anew whenever a line nearby changes, and frozen problems
/// whose steps vipm solved come out bit for bit only if it stays: where it went another way once,
/// it is written out with this.
KOKKOS_INLINE_FUNCTION double fused(double a, double b, double c) {
#if defined(FP_FAST_FMA) || defined(__CUDA_ARCH__)
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}
KOKKOS_INLINE_FUNCTION Vec3 fused(double a, const Vec3& b, const Vec3& c) {
  return {fused(a, b.x, c.x), fused(a, b.y, c.y), fused(a, b.z, c.z)};
}
KOKKOS_INLINE_FUNCTION double fused_dot(const Vec3& a, const Vec3& b) {
  return fused(a.z, b.z, fused(a.x, b.x, a.y * b.y));
}
/// A v.
KOKKOS_INLINE_FUNCTION Vec3 fused_product(const Sym3& a, const Vec3& v) {
  return {fused(a.xz, v.z, fused(a.xy, v.y, a.xx * v.x)),
          fused(a.yz, v.z, fused(a.yy, v.y, a.xy * v.x)),
          fused(a.zz, v.z, fused(a.xz, v.x, a.yz * v.y))};
}

/// x = T gamma; for mu = 0, whose cone is the half-line, gamma itself.
KOKKOS_INLINE_FUNCTION Vec3 scaled_impulse(const Vec3& gamma, const Vec3& n, double mu) {
  return stretch(mu == 0 ? 1 : mu, 1, gamma, n);
}
/// y = T^-1 u; for mu = 0, of which only the normal part counts, u itself.
KOKKOS_INLINE_FUNCTION Vec3 scaled_velocity(const Vec3& u, const Vec3& n, double mu) {
  return stretch(mu == 0 ? 1 : 1 / mu, 1, u, n);
}

/// Moves z along the normal until its spectral values times sqrt 2 are at least `least`.
KOKKOS_INLINE_FUNCTION Vec3 push_inside(const Vec3& z, const Vec3& n, double least) {
  const Split s = split(z, n);
  const double missing = least - (s.n - s.size);
  return missing > 0 ? z + missing * n : z;
}

/// The Nesterov-Todd scaling of one contact in the frame in which it is diagonal.
///
/// With x = T gamma and y = T^-1 u, T = stretch(mu, 1), both cones are C = {n >= |t|}. The scaling
/// point w with P(w) x = y has the Jordan frame c+- = (normal +- direction) / sqrt 2 and the
/// eigenvalues high, low; P(w) is diag(high^2, low^2, high low) in the orthonormal frame (c+, c-,
/// side). Every matrix function of it is made from the two eigenvalues, each with full relative
/// accuracy, which formulas in w and det w lose near the boundary of the cone.
struct Scaling {
  Vec3 normal, direction, side;
  double high = 0, low = 0;
};

/// A vector in the frame (c+, c-, side).
struct Spectral {
  double plus = 0, minus = 0, side = 0;
};

KOKKOS_INLINE_FUNCTION Scaling make_scaling(const Vec3& x, const Vec3& y, const Vec3& normal) {
  const double det_x = jordan::det(x, normal), det_y = jordan::det(y, normal);
  const double det_w = sqrt(det_y / det_x);
  // w up to a positive factor: its eigenvalues' product is known, their ratio must not cancel.
  const Vec3 w = y + det_w * jordan::reflect(x, normal);
  const Split s = split(w, normal);
  Scaling result;
  result.normal = {normal.x, normal.y, normal.z};
  result.direction = select(s.size > 1e-14 * s.n, (1 / s.size) * s.t, tangents(normal).s);
  result.side = cross(normal, result.direction);
  const double denominator = sqrt(dot(x, y) + 2 * sqrt(det_x * det_y));
  result.high = (s.n + s.size) / (jordan::sqrt2 * denominator);
  result.low = det_w / result.high;
  return result;
}

KOKKOS_INLINE_FUNCTION Spectral to_frame(const Scaling& s, const Vec3& z) {
  const double n = dot(z, s.normal), t = dot(z, s.direction);
  return {(n + t) / jordan::sqrt2, (n - t) / jordan::sqrt2, dot(z, s.side)};
}
KOKKOS_INLINE_FUNCTION Vec3 from_frame(const Scaling& s, const Spectral& z) {
  return ((z.plus + z.minus) / jordan::sqrt2) * s.normal +
         ((z.plus - z.minus) / jordan::sqrt2) * s.direction + z.side * s.side;
}

/// K = T^-1 P(w)^-1 T^-1, the impulse per velocity of the linearised contact [kg].
KOKKOS_INLINE_FUNCTION Sym3 impulse_per_velocity(const Scaling& s, double mu) {
  const Vec3 plus = (1 / jordan::sqrt2) * ((1 / mu) * s.normal + s.direction);
  const Vec3 minus = (1 / jordan::sqrt2) * ((1 / mu) * s.normal - s.direction);
  const double a = 1 / (s.high * s.high), b = 1 / (s.low * s.low), c = 1 / (s.high * s.low);
  const double p[3] = {plus.x, plus.y, plus.z}, m[3] = {minus.x, minus.y, minus.z},
               t[3] = {s.side.x, s.side.y, s.side.z};
  return symmetric(
      [&](int i, int j) { return a * p[j] * p[i] + b * m[j] * m[i] + c * t[j] * t[i]; });
}

/// L with K = L L^T: one column for each eigenvalue of w, and one for their mean.
KOKKOS_INLINE_FUNCTION ImpulseRoot impulse_root(const Scaling& s, double mu) {
  constexpr double r = 1 / jordan::sqrt2;
  return {{(r / s.high) * ((1 / mu) * s.normal + s.direction),
           (r / s.low) * ((1 / mu) * s.normal - s.direction), (1 / sqrt(s.high * s.low)) * s.side}};
}

/// (K^-1 + Sigma)^-1 of a compliant contact, Sigma = along n n^T + across (1 - n n^T) [1/kg]: with
/// K = L L^T it is L (1 + L^T Sigma L)^-1 L^T, which never subtracts large numbers.
KOKKOS_INLINE_FUNCTION Sym3 yielding_impulse_per_velocity(const Scaling& s, double mu, double along,
                                                          double across) {
  const ImpulseRoot root = impulse_root(s, mu);
  const Vec3* const column = root.a;
  double c[3][3];  // the Cholesky factor of 1 + L^T Sigma L
  Vec3 y[3];       // the rows of its inverse times L^T
  for (int i = 0; i < 3; ++i) {
    const double normal_part = (along - across) * fused_dot(column[i], s.normal);
    const Vec3 given = fused(normal_part, s.normal, across * column[i]);  // Sigma L, column i
    y[i] = column[i];
    for (int j = 0; j <= i; ++j) {
      double sum = (i == j ? 1 : 0) + fused_dot(given, column[j]);
      for (int l = 0; l < j; ++l) sum = fused(-c[i][l], c[j][l], sum);
      c[i][j] = i == j ? sqrt(sum) : sum / c[j][j];
      y[i] = i == j ? (1 / c[i][i]) * y[i] : fused(-c[i][j], y[j], y[i]);
    }
  }
  const double v[3][3] = {
      {y[0].x, y[0].y, y[0].z}, {y[1].x, y[1].y, y[1].z}, {y[2].x, y[2].y, y[2].z}};
  return symmetric([&](int i, int j) {
    double sum = 0;
    for (const auto& row : v) sum = fused(row[i], row[j], sum);
    return sum;
  });
}

/// What takes the eigenvalues of a product from where they are to the nearest in [low, high]; what
/// lies far above `high` by that much only (Gondzio 1996).
struct Band {
  double low = 0, high = 0;

  KOKKOS_INLINE_FUNCTION double missing(double value) const {
    const double least = value < low ? low : value, wanted = least > high ? high : least;
    const double change = wanted - value;
    return change < -high ? -high : change;
  }
};

/// W^-1 h with  lambda o h = t,  lambda = W x: t moves the eigenvalues of sqrt 2 (X o Y),
/// X = W (x + theta dx), Y = W^-1 (y + theta dy), into the band. In the units of x.
KOKKOS_INLINE_FUNCTION Vec3 centrality(const Scaling& s, const Vec3& x, const Vec3& dx,
                                       const Vec3& dy, double det_x, double det_y, double theta,
                                       const Band& band) {
  constexpr double r = 1 / jordan::sqrt2, least = 1e-290;
  const double wp = s.high, wm = s.low, ws = sqrt(s.high * s.low);
  const Spectral fx = to_frame(s, x), fdx = to_frame(s, dx), fdy = to_frame(s, dy);
  const Spectral l{wp * fx.plus, wm * fx.minus, ws * fx.side};
  const Spectral a{l.plus + theta * wp * fdx.plus, l.minus + theta * wm * fdx.minus,
                   l.side + theta * ws * fdx.side};
  const Spectral b{l.plus + theta * fdy.plus / wp, l.minus + theta * fdy.minus / wm,
                   l.side + theta * fdy.side / ws};
  const double an = r * (a.plus + a.minus), at = r * (a.plus - a.minus);
  const double bn = r * (b.plus + b.minus), bt = r * (b.plus - b.minus);
  const double ln = r * (l.plus + l.minus), lt = r * (l.plus - l.minus);
  const double n = an * bn + at * bt + a.side * b.side;
  const double t = an * bt + bn * at, side = an * b.side + bn * a.side;
  const double size = sqrt(t * t + side * side);
  const double up = band.missing(n + size), down = band.missing(n - size);
  const double along = 0.5 * (up - down) / (size > least ? size : 1);
  const double zn = 0.5 * (up + down), zt = along * t, zs = along * side;
  const double hn = (ln * zn - lt * zt - l.side * zs) / (2 * sqrt(det_x * det_y));
  const double ht = (zt - hn * lt) / ln, hs = (zs - hn * l.side) / ln;
  return from_frame(s, {r * (hn + ht) / wp, r * (hn - ht) / wm, hs / ws});
}

/// W^-1 h with  lambda o h = (W dx) o (W^-1 dy),  lambda = W x,  W = P(w)^1/2: the second-order
/// term of Mehrotra's corrector, in the units of x.
KOKKOS_INLINE_FUNCTION Vec3 second_order(const Scaling& s, const Vec3& x, const Vec3& dx,
                                         const Vec3& dy, double det_x, double det_y) {
  const double wp = s.high, wm = s.low, ws = sqrt(s.high * s.low);
  const Spectral fx = to_frame(s, x), fdx = to_frame(s, dx), fdy = to_frame(s, dy);
  const Spectral a{wp * fdx.plus, wm * fdx.minus, ws * fdx.side};
  const Spectral b{fdy.plus / wp, fdy.minus / wm, fdy.side / ws};
  const Spectral l{wp * fx.plus, wm * fx.minus, ws * fx.side};
  // Normal and tangential parts, with every 1/sqrt 2 of the product and of the frame in its place.
  constexpr double r = 1 / jordan::sqrt2;
  const double an = r * (a.plus + a.minus), at = r * (a.plus - a.minus);
  const double bn = r * (b.plus + b.minus), bt = r * (b.plus - b.minus);
  const double ln = r * (l.plus + l.minus), lt = r * (l.plus - l.minus);
  // sqrt 2 (a o b)
  const double zn = an * bn + at * bt + a.side * b.side;
  const double zt = an * bt + bn * at, zs = an * b.side + bn * a.side;
  // sqrt 2 (lambda o h) = (lambda.h, lambda_n h_t + h_n lambda_t); 2 det lambda = 2 sqrt(det x det
  // y) is known without cancellation.
  const double hn = (ln * zn - lt * zt - l.side * zs) / (2 * sqrt(det_x * det_y));
  const double ht = (zt - hn * lt) / ln, hs = (zs - hn * l.side) / ln;
  return from_frame(s, {r * (hn + ht) / wp, r * (hn - ht) / wm, hs / ws});
}

}  // namespace ccp::vipm
