#pragma once

#include "solvers/core/problem.hpp"

namespace ccp {

/// A problem with r + s n for r, s >= 0 [m/s] of every contact: what Coulomb's law is to the convex
/// one, with De Saxce's s = mu |u_t|.
class ShiftedProblem {
 public:
  /// s = 0.
  explicit ShiftedProblem(const Problem& problem);
  ShiftedProblem(const ShiftedProblem&) = delete;

  const Problem& problem() const { return shifted_; }
  /// n values; to be changed only between solves, and followed by apply().
  const VectorView& s() const { return s_; }
  /// r <- r + s n, after s <- max(0, s).
  void apply() const;

  /// f = mu |u_t| - s, m/s, at u = N gamma + r. @param gamma  contact axes, N s
  void residual(const Vector& gamma, const VectorView& f) const;
  /// The same for velocities u in world axes, and slide = mu u_t / |u_t| [3n], 0 where u_t = 0.
  void residual_at(const ConstVectorView& u, const VectorView& f, const VectorView& slide) const;

  /// `residual` of the shifted problem at gamma, in multiples of the problem's own q.
  double convex_residual(const Vector& gamma) const;

 private:
  const Problem& original_;
  VectorView s_, r_;
  Problem shifted_;
  Teuchos::RCP<DelassusOperator> delassus_;
  VectorView p_;
  double q_;  ///< rms of the problem's own r, m/s
};

}  // namespace ccp
