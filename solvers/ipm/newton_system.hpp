#pragma once

#include <functional>

#include "problems/base/sym3.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/ipm/newton_roots.hpp"

namespace ccp {

/// The linear system of the interior point method's Newton step, applied without being formed
/// (Kleinert 2017 Sect. 4.2), or by a matrix that somebody has assembled (NewtonMatrix).
///
/// The method works with x = T gamma and y = T^-1 u, T = diag(mu, 1, 1) in contact axes, for which
/// both cones become C = {n >= |t|}; with T on both sides N' = T^-1 N T^-1 is symmetric for any
/// friction coefficients (for equal ones it is the papers' T_y N T_x^-1 divided by mu). The step
///     (P(w) + N' + R') dx = b
/// is solved for the impulse increment dgamma = T^-1 dx instead (the congruent form of Kleinert
/// 2014 Sect. 4.5),
///     A dgamma = T b,    A = T P(w) T + N + R,
/// so that N acts as it is. Everything is in world axes, where T is stretch(mu, 1) along the
/// normal.
///
/// A contact with mu = 0 has the cone n >= 0, t = 0: T^-1 drops its tangential part, and the idle
/// rows and columns of A are those of the identity.
///
/// Rolling resistance and equality constraints are triples beside the contacts, see NewtonPools.
///
/// Storage: 14 numbers (112 bytes) per contact besides the shared problem data.
class NewtonSystem : public Operator {
 public:
  /// @param regularization  R, [n][2] along and across the normal, 1/kg
  /// @param of_pools        R of rolling triples, 1/kg
  NewtonSystem(const Problem& problem, DeviceArray<double* [2]> regularization,
               double of_pools = 0);

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  /// y = A p. Krylov methods need no more: alpha and beta must be 1 and 0.
  void apply(const Vector& p, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;

  /// y = T^-1 (N T^-1 x + r).
  void velocity(const VectorView& x, const VectorView& y) const;
  /// dx = T dgamma and dy = T^-1 N dgamma.
  void direction(const VectorView& dgamma, const VectorView& dx, const VectorView& dy) const;
  /// gamma = T^-1 x.
  void impulse(const VectorView& x, const VectorView& gamma) const;
  /// b <- T b.
  void scale_rhs(const VectorView& b) const;

  /// Takes the Nesterov-Todd point of (x, y), both in the interior of the cones.
  void set_scaling(const VectorView& x, const VectorView& y);
  /// Takes scaling points as scaling() gives them.
  void set_scaling(const DeviceArray<const double* [4]>& scaling);
  /// Writes the diagonal blocks of A, [triples].
  void diagonal_blocks(const DeviceArray<Sym3*>& blocks) const;

  /// From now on products are the matrix's, who keeps its values those of A; null: matrix-free.
  void use_matrix(Teuchos::RCP<const Operator> matrix) { matrix_ = std::move(matrix); }

  /// [n][4]: T w and det w of the scaling point; where mu = 0, (0, 0, 0) and y_n / x_n.
  const DeviceArray<double* [4]>& scaling() const { return scaling_; }
  /// R, [n][2] along and across the normal, 1/kg.
  const DeviceArray<double* [2]>& regularization() const { return regularization_; }

  /// The triples beside the contacts, and their part of the iterate.
  NewtonPools& pools() {
    return pools_;
  }
  const NewtonPools& pools() const { return pools_; }
  /// The diagonal blocks of A by their roots; none without such triples.
  BlockRoots roots() const { return roots_.blocks(); }

  long applies() const { return applies_; }

  /// Called at every product with A; throws what it likes to leave the Krylov method.
  std::function<void()> on_apply;

 private:
  Teuchos::RCP<const Map> map_;
  Teuchos::RCP<DelassusOperator> delassus_;
  ConstVectorView r_;
  DeviceArray<const double*> mu_;
  DeviceArray<const double* [3]> normal_;
  Teuchos::RCP<const Operator> matrix_;      ///< null: matrix-free
  bool has_idle_ = false;                    ///< whether there is a contact with mu = 0
  VectorView scaled_;                        ///< T^-1 x where a product needs it
  DeviceArray<double* [2]> regularization_;  ///< R
  DeviceArray<double* [4]> scaling_;         ///< T w and det w; for mu = 0: zero and y_n / x_n
  DeviceArray<Sym3*> diagonal_;              ///< [n] diagonal blocks of N + R
  NewtonPools pools_;
  NewtonRoots roots_;
  mutable long applies_ = 0;
};

}  // namespace ccp
