#pragma once

#include <functional>

#include "problems/base/sym3.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/linear/krylov.hpp"

namespace ccp::pqn {

/// 3x3 blocks, one per contact, as a block-diagonal operator.
class ContactBlocks : public Operator {
 public:
  explicit ContactBlocks(const Problem& problem)
      : blocks("ccp::Pqn::block_inverse", problem.contacts()), map_(problem.map()) {}
  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode, double alpha,
             double beta) const override;

  DeviceArray<double* [9]> blocks;  ///< row-major

 private:
  Teuchos::RCP<const Map> map_;
};

/// The contact laws as roots of C, and the linear system of a quasi-Newton step (Koziara 2019
/// Sects. 4-7), never formed. With W = N, B = r, R = gamma, U = W R + B, in world axes,
///
///     F(U) = U + mu (sqrt(|U_t|^2 + omega^2) - omega) n     (eq. 39; convex law: F = U)
///     C(R) = F(U) + m_omega(rho R - F(U))                   (eq. 15 with eq. 30)
///     A = X W + rho Y + delta I,  X = (I - Y) dF/dU,  Y = dm_omega/dS    (eqs. 43, 44, 49, 52)
///
/// C is a velocity. rho [1/kg] turns impulses into velocities before the two are subtracted; the
/// paper has 1. Y and the slope mu U_t / sqrt(|U_t|^2 + omega^2) of F are all that is stored of X
/// and Y, since
///     A z = e + Y (rho z - e) + delta z,   e = W z + n (slope . W z).
///
/// As an operator it is A. Storage: 43 numbers (344 bytes) per contact.
class Linearisation : public Operator {
 public:
  struct Parameters {
    bool coulomb = true;
    double omega = 0;  ///< smoothing, m/s, > 0
    double delta = 0;  ///< 1/kg
    double rho = 1;    ///< 1/kg, > 0
  };

  explicit Linearisation(const Problem& problem);

  void set_parameters(const Parameters& parameters) { parameters_ = parameters; }

  Teuchos::RCP<const Map> getDomainMap() const override { return problem_.map(); }
  Teuchos::RCP<const Map> getRangeMap() const override { return problem_.map(); }
  /// y = A z; alpha and beta must be 1 and 0.
  void apply(const Vector& z, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;

  /// Linearises at the impulses p (world axes) and writes C(p) to `c`.
  /// @return the merit g of eq. 40, with the C that has no smoothing
  double update(const ConstVectorView& p, const VectorView& c);

  /// The inverses of the 3x3 diagonal blocks of A.
  Teuchos::RCP<const Operator> block_inverse() const { return block_inverse_; }

  /// p <- P(p - dp), P the projection onto all cones.
  void step(const VectorView& p, const ConstVectorView& dp) const;

  /// Smallest, mean and largest diagonal entry of W, 1/kg.
  struct Diagonal {
    double least = 0, mean = 0, largest = 0;
  };
  Diagonal diagonal() const;

  long applies() const { return applies_; }

  /// Called at every product with A; throws what it likes to leave the Krylov method.
  std::function<void()> on_apply;

 private:
  const Problem& problem_;
  Parameters parameters_;
  Teuchos::RCP<DelassusOperator> delassus_;
  DeviceArray<double* [3][3]> diagonal_;  ///< blocks of W
  DeviceArray<Sym3*> weight_;             ///< their inverses; zero where there is none
  DeviceArray<Sym3*> y_;
  VectorView slope_;
  VectorView merit_;  ///< [n] a contact's part of the merit's numerator
  Teuchos::RCP<ContactBlocks> block_inverse_;
  double merit_scale_ = 1;
  mutable long applies_ = 0;
};

}  // namespace ccp::pqn
