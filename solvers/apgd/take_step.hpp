#pragma once

#include "solvers/core/gradient_metric.hpp"

/// What an iteration does with a contact, for kernels of one problem and of many (batch).
namespace ccp::apgd {

/// y = x + beta (x - x_old) of one triple.
KOKKOS_INLINE_FUNCTION Vec3 extrapolate(const VectorView& x, const VectorView& x_old, double beta,
                                        int c) {
  const Vec3 now = load3(x, c);
  return now + beta * (now - load3(x_old, c));
}

/// One contact of the step from y to z.
struct TakeStep {
  VectorView x, x_old, z;
  ConstVectorView r;
  GradientMetric metric;
  double beta, length;

  KOKKOS_INLINE_FUNCTION void operator()(const int c, const Vec3& velocity, double& descent,
                                         double& size) const {
    const Vec3 from = extrapolate(x, x_old, beta, c), u = velocity + load3(r, c);
    const Vec3 to = metric.project_step(c, from, u, length);
    descent = dot(u, to - load3(x, c));
    size = metric.square(c, to - from);
    store3(z, c, to);
  }
};

}  // namespace ccp::apgd
