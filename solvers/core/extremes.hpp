#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "solvers/core/ranks.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// Reductions to the largest or smallest value of a loop, zero or infinity at first, that keep a
/// NaN: Kokkos' own may lose it, and what is measured of iterates that broke down must not look
/// well.
///
///     double largest = 0;
///     Kokkos::parallel_reduce(
///         label, range(n), KOKKOS_LAMBDA(const int i, double& m) { raise(m, fabs(x(i))); },
///         Largest(largest));
KOKKOS_INLINE_FUNCTION void raise(double& maximum, double value) {
  if (value > maximum || value != value) maximum = value;
}
KOKKOS_INLINE_FUNCTION void lower(double& minimum, double value) {
  if (value < minimum || value != value) minimum = value;
}

struct Largest : Kokkos::Max<double> {
  using reducer = Largest;
  using Kokkos::Max<double>::Max;
  KOKKOS_INLINE_FUNCTION void init(double& value) const { value = 0; }
  KOKKOS_INLINE_FUNCTION void join(double& total, const double& part) const { raise(total, part); }
  // Kokkos before 4.0 joins through volatile references.
  KOKKOS_INLINE_FUNCTION void join(volatile double& total, const volatile double& part) const {
    raise(const_cast<double&>(total), part);
  }
};

struct Smallest : Kokkos::Min<double> {
  using reducer = Smallest;
  using Kokkos::Min<double>::Min;
  KOKKOS_INLINE_FUNCTION void join(double& total, const double& part) const { lower(total, part); }
  KOKKOS_INLINE_FUNCTION void join(volatile double& total, const volatile double& part) const {
    lower(const_cast<double&>(total), part);
  }
};

/// The largest size(c) >= 0 of contacts 0 to count - 1 on all ranks, if they are given; NaN if one
/// is not finite.
template <class Size>
double largest_finite(const std::string& label, int count, const Size& size,
                      const Ranks* ranks = nullptr) {
  double largest = 0;
  Kokkos::parallel_reduce(
      label, range(count), KOKKOS_LAMBDA(const int c, double& maximum) { raise(maximum, size(c)); },
      Largest(largest));
  if (ranks) largest = ranks->largest(largest);
  return std::isfinite(largest) ? largest : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace ccp
