#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/cone.hpp"
#include "solvers/core/contact_metric.hpp"
#include "solvers/core/law.hpp"

namespace ccp {

/// The problem of one contact while all others hold still: find g in K_mu with
///     K_mu ∋ g  ⊥  w ∈ K_mu*,     w = A g + b  (convex),  w = A g + b + mu |(A g + b)_t| n
///     (Coulomb)
/// in any axes; A is the contact's own block of N [1/kg], n its normal.

/// Coulomb's law for A = diag(a, b, b) in contact axes. @param target  -A^-1 b: where w would be 0
KOKKOS_INLINE_FUNCTION Vec3 project_coulomb(const Vec3& target, const Vec3& normal, double mu) {
  // Normal and tangential parts do not touch each other: the normal one is cut at 0, then the
  // tangential one at mu times it.
  const double along = dot(target, normal);
  const double x = target.x - along * normal.x, y = target.y - along * normal.y,
               z = target.z - along * normal.z;
  const double size = sqrt(x * x + y * y + z * z);
  const double n = along <= 0 ? 0 : along;  // a NaN stays
  const double scale = size <= mu * n ? 1 : mu * n / (size > 0 ? size : 1);
  return {n * normal.x + scale * x, n * normal.y + scale * y, n * normal.z + scale * z};
}

/// The best point on the boundary of the cone: along the edge d = n + mu (cos phi s + sin phi t)
/// the objective is least at -b.d / d.Ad, where it is -(b.d)^2 / (2 d.Ad); phi by sampling, then by
/// golden sections around the best sample.
KOKKOS_INLINE_FUNCTION Vec3 best_edge_point(const Sym3& block, const Vec3& b, const Vec3& normal,
                                            double mu) {
  constexpr int samples = 12;
  constexpr double golden = 0.6180339887498949, turn = 6.283185307179586;
  const Tangents axes = tangents(normal);
  const auto edge = [&](double phi) {
    return normal + (mu * cos(phi)) * axes.s + (mu * sin(phi)) * axes.t;
  };
  const auto gain = [&](double phi) {
    const Vec3 d = edge(phi);
    const double along = dot(b, d);
    return along < 0 ? along * along / dot(d, block * d) : 0;
  };
  int best = 0;
  double most = -1;
  for (int k = 0; k < samples; ++k) {
    const double value = gain(k * turn / samples);
    if (value > most) most = value, best = k;
  }
  double low = (best - 1) * turn / samples, high = (best + 1) * turn / samples;
  double x = high - golden * (high - low), y = low + golden * (high - low);
  double at_x = gain(x), at_y = gain(y);
  for (int k = 0; k < 40; ++k) {
    if (at_x > at_y) {
      high = y;
      y = x, at_y = at_x;
      x = high - golden * (high - low), at_x = gain(x);
    } else {
      low = x;
      x = y, at_x = at_y;
      y = low + golden * (high - low), at_y = gain(y);
    }
  }
  const Vec3 d = edge(0.5 * (low + high));
  const double along = dot(b, d);
  return along < 0 ? (-along / dot(d, block * d)) * d : Vec3{0, 0, 0};
}

/// The convex law for any symmetric positive definite A: projected steps in the contact's metric
/// until they are 1e-14 of the impulse; from the best point on the boundary where they are slow.
/// @param inverse_n, inverse_t, ratio  1/a, 1/b and b/a of ContactMetric
KOKKOS_INLINE_FUNCTION Vec3 solve_local_convex(const Sym3& block, const Vec3& b, Vec3 g,
                                               const Vec3& normal, double mu, double inverse_n,
                                               double inverse_t, double ratio) {
  constexpr int patience = 20, most_steps = 2000;
  for (int k = 0; k < most_steps; ++k) {
    if (k == patience && mu > 0) {
      const Vec3 edge = best_edge_point(block, b, normal, mu);
      const auto objective = [&](const Vec3& x) { return 0.5 * dot(x, block * x) + dot(b, x); };
      if (objective(edge) < objective(g)) g = edge;
    }
    const Vec3 w = block * g + b;
    const Vec3 next =
        project_in_metric(g - stretch(inverse_n, inverse_t, w, normal), normal, mu, ratio);
    const double change = norm(next - g);
    g = next;
    if (!(change > 1e-14 * norm(g))) break;
  }
  return g;
}

/// Coulomb's law for any symmetric positive definite A. With the normal part eliminated, a sliding
/// contact has  (S + lambda 1) g_t = -c  for the lambda >= 0 at which |g_t| = mu g_n: a scalar
/// equation (a quartic, Bonnefon and Daviet 2011), solved by Newton steps inside a bracket.
KOKKOS_INLINE_FUNCTION Vec3 solve_local_coulomb(const Sym3& block, const Vec3& b,
                                                const Vec3& normal, double mu) {
  const double b_n = dot(b, normal);
  if (b_n >= 0) return {0, 0, 0};  // it separates by itself
  const Tangents axes = tangents(normal);
  const Vec3 s = axes.s, t = axes.t;
  const Vec3 an = block * normal, as = block * s, at = block * t;
  const double a_nn = dot(normal, an), a_ns = dot(s, an), a_nt = dot(t, an);
  if (mu == 0) return (-b_n / a_nn) * normal;
  const double s11 = dot(s, as) - a_ns * a_ns / a_nn, s12 = dot(s, at) - a_ns * a_nt / a_nn,
               s22 = dot(t, at) - a_nt * a_nt / a_nn;
  const double c1 = dot(s, b) - a_ns * b_n / a_nn, c2 = dot(t, b) - a_nt * b_n / a_nn;

  double g1 = 0, g2 = 0, g_n = 0, excess = 0, slope = 0;
  const auto evaluate = [&](double lambda) {
    const double d11 = s11 + lambda, d22 = s22 + lambda, det = d11 * d22 - s12 * s12;
    g1 = (-c1 * d22 + c2 * s12) / det;
    g2 = (-c2 * d11 + c1 * s12) / det;
    g_n = (-b_n - a_ns * g1 - a_nt * g2) / a_nn;
    const double size = sqrt(g1 * g1 + g2 * g2);
    // (S + lambda) g' = -g
    const double h1 = (-g1 * d22 + g2 * s12) / det, h2 = (-g2 * d11 + g1 * s12) / det;
    excess = size - mu * g_n;
    slope = (size > 0 ? (g1 * h1 + g2 * h2) / size : 0) + mu * (a_ns * h1 + a_nt * h2) / a_nn;
  };
  evaluate(0);
  if (excess > 0) {  // it slides
    double low = 0, high = s11 + s22;
    for (int k = 0; k < 200; ++k) {
      evaluate(high);
      if (!(excess > 0)) break;
      low = high;
      high *= 4;
    }
    double lambda = 0.5 * (low + high);
    for (int k = 0; k < 100; ++k) {
      evaluate(lambda);
      if (excess > 0) {
        low = lambda;
      } else {
        high = lambda;
      }
      if (fabs(excess) <= 1e-14 * mu * fabs(g_n) || high - low <= 1e-15 * high) break;
      const double newton = lambda - excess / slope;
      lambda = newton > low && newton < high ? newton : 0.5 * (low + high);
    }
    // Exactly on the cone, whatever is left of the excess.
    const double size = sqrt(g1 * g1 + g2 * g2);
    g_n = g_n > 0 ? g_n : 0;
    const double scale = size > 0 ? mu * g_n / size : 0;
    g1 *= scale;
    g2 *= scale;
  }
  return g_n * normal + g1 * s + g2 * t;
}

}  // namespace ccp
