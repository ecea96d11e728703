#pragma once

#include <limits>

#include "solvers/core/problem.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// The impulses with the smallest own residual so far.
class BestImpulses {
 public:
  explicit BestImpulses(const Problem& problem) : gamma_(problem.map(), 1) {}
  void offer(const Vector& gamma, double residual) {
    if (!(residual < residual_)) return;
    Kokkos::deep_copy(overwrite_view(gamma_), read_view(gamma));
    residual_ = residual;
  }
  const Vector& gamma() const { return gamma_; }
  double residual() const { return residual_; }

 private:
  Vector gamma_;
  double residual_ = std::numeric_limits<double>::infinity();
};

/// Counts without a gain: a residual is one that is below 0.9 of the last.
class GainWatch {
 public:
  /// @param count  of iterations, solves, ... so far
  void see(double residual, long count) {
    since_ = count - marked_;
    if (!(residual < 0.9 * mark_)) return;
    mark_ = residual;
    marked_ = count;
    since_ = 0;
  }
  long since() const { return since_; }

 private:
  double mark_ = std::numeric_limits<double>::infinity();
  long marked_ = 0, since_ = 0;
};

}  // namespace ccp
