#pragma once

#include <string>

#include "solvers/core/contact_metric.hpp"
#include "solvers/core/problem.hpp"

namespace ccp {

/// The metric D in which a gradient method takes its steps, diag(a_c, b_c, b_c) for every contact
/// and a multiple of the identity for every other triple:
///     x <- P_D( x - length D^-1 (N x + r) )
struct GradientMetric {
  /// [triples][4]: a, 1/a, 1/b, b/a; all > 0; a = b of triples that are no contacts.
  DeviceArray<double* [4]> weight;
  /// Not less than the largest eigenvalue of D^-1 N: steps of 1 / largest_curvature never
  /// overshoot.
  double largest_curvature = 1;

  DeviceArray<const double* [3]> normal;
  DeviceArray<const double*> mu;

  KOKKOS_INLINE_FUNCTION double along(int c) const { return weight(c, 0); }
  KOKKOS_INLINE_FUNCTION double ratio(int c) const { return weight(c, 3); }

  /// One contact's part of a projected step from y, where the gradient is u.
  KOKKOS_INLINE_FUNCTION Vec3 project_step(int c, const Vec3& y, const Vec3& u,
                                           double length) const {
    const Vec3 n = row3(normal, c);
    return project_in_metric(y - stretch(length * weight(c, 1), length * weight(c, 2), u, n), n,
                             mu(c), weight(c, 3));
  }
  /// d . D d of one triple.
  KOKKOS_INLINE_FUNCTION double square(int c, const Vec3& d) const {
    const double along = dot(d, row3(normal, c));
    return weight(c, 0) * (along * along + weight(c, 3) * (dot(d, d) - along * along));
  }
  /// |d| as a velocity, m/s (of triples on angular velocities rad/s): times the larger of a and b.
  KOKKOS_INLINE_FUNCTION double speed(int c, const Vec3& d) const {
    const double ratio = weight(c, 3);
    return norm(d) * weight(c, 0) * (ratio > 1 ? ratio : 1);
  }
  /// d . D^-1 d of one triple.
  KOKKOS_INLINE_FUNCTION double inverse_square(int c, const Vec3& d) const {
    const double along = dot(d, row3(normal, c));
    return weight(c, 1) * along * along + weight(c, 2) * (dot(d, d) - along * along);
  }
};

/// @param kind  "diagonal": the contacts' own blocks (ContactMetric); "plain": trace(N) / 3n for
/// all
GradientMetric gradient_metric(const Problem& problem, const std::string& kind);

/// The step of a problem with triples beside the contacts, z = P_D( from - length D^-1 u ), where
/// the parts of K6 are projected together. @param from, u, z  3 values per triple; z may be from
void project_step(const Problem& problem, const GradientMetric& metric, const ConstVectorView& from,
                  const ConstVectorView& u, double length, const VectorView& z);

/// u = N p + r of all triples, from the image of p.
void gradient_of(const Problem& problem, const DelassusOperator& delassus,
                 const DelassusOperator::Image& image, const VectorView& u);

/// image <- image + factor * other.
void add_image(const DelassusOperator::Image& image, double factor,
               const DelassusOperator::Image& other);

}  // namespace ccp
