#pragma once

#include "solvers/core/problem.hpp"
#include "solvers/linear/block_diagonal.hpp"

namespace ccp {

/// The matrix of the interior point method's Newton step in the variables x = T gamma,
///
///     A = P(w) + N' + R,    N' = T^-1 N T^-1,    T = diag(mu, 1, 1) per contact,
///
/// applied without being formed (seed 000 Sect. 4.2). With T on both sides N' is symmetric for any
/// friction coefficients; for equal ones it is the papers' T_y N T_x^-1 divided by mu.
/// A contact with mu = 0 has the cone n >= 0, t = 0: T^-1 drops its tangential part, and the two idle
/// rows of A are those of the identity.
///
/// Storage: 13 numbers (104 bytes) per contact besides the shared Delassus data.
class NewtonSystem : public Operator {
 public:
  /// @param regularization  R in gamma's units, [n][2] normal and tangential, 1/kg
  NewtonSystem(const Problem& problem, DeviceArray<double* [2]> regularization);

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  /// y = A x (alpha and beta other than 1 and 0 are not used by any caller and not supported).
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;

  /// y = N' x.
  void apply_delassus(const VectorView& x, const VectorView& y) const;
  /// y = T^-1 (N T^-1 x + r): the scaled contact velocity.
  void velocity(const VectorView& x, const VectorView& y) const;
  /// gamma = T^-1 x.
  void impulse(const VectorView& x, const VectorView& gamma) const;

  /// Takes the Nesterov-Todd point of (x, y), both in the interior of the cones.
  void set_scaling(const VectorView& x, const VectorView& y);
  /// Hands the diagonal blocks of A to the preconditioner.
  void update(BlockDiagonalInverse& preconditioner) const;

  long applies() const { return applies_; }

  /// Called at every product; throws what it likes to leave the Krylov method.
  std::function<void()> on_apply;

 private:
  Teuchos::RCP<const Map> map_;
  Teuchos::RCP<DelassusOperator> delassus_;
  ConstVectorView r_;
  DeviceArray<double* [2]> inverse_scale_;   ///< diagonal of T^-1: (1/mu, 1) or (1, 0)
  DeviceArray<double* [2]> regularization_;  ///< R, already in x's units
  DeviceArray<double* [4]> scaling_;         ///< w and det w; for mu = 0: (0, 0, 0) and y_n / x_n
  DeviceArray<double* [6]> diagonal_;        ///< diagonal blocks of N' + R
  mutable long applies_ = 0;
};

}  // namespace ccp
