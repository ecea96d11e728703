#pragma once

#include <functional>

#include "solvers/core/ranks.hpp"
#include "solvers/core/trilinos.hpp"
#include "solvers/linear/krylov.hpp"

namespace ccp {

/// Conjugate gradients (Hestenes and Stiefel 1952) under a stopping rule of the caller's own, where
/// KrylovSolver's relative residual will not do, and for solves of a few iterations: Belos applies
/// the preconditioner twice before the first iteration and once after the last, and allocates its
/// vectors for every solve. Here it is applied once an iteration. Iterates have the bits of Belos'
/// own.
class ConjugateGradients {
 public:
  /// Looks at the residual b - A x before every iteration. @return true to stop: solved
  using Solved = std::function<bool(const ConstVectorView& residual)>;
  /// Asked before every iteration after that. @return true to give up
  using GiveUp = std::function<bool(int iterations)>;
  struct Result : KrylovResult {
    int products = 0;  ///< with A
  };

  /// @param preconditioner  symmetric positive definite; null = none
  ConjugateGradients(Teuchos::RCP<const Operator> a, Teuchos::RCP<const Operator> preconditioner);

  /// @param x  in: initial guess, which costs a product with A unless it is zero; out: solution, or
  ///           as far as it got
  /// @return converged is what `solved` said last; an exception of an operator is a breakdown
  Result solve(const Vector& b, Vector& x, const Solved& solved, const GiveUp& give_up);

 private:
  double dot(const ConstVectorView& x, const ConstVectorView& y) const;
  bool residual(const ConstVectorView& b, const Vector& x);
  void improve(const VectorView& x, double& product, bool first);

  Teuchos::RCP<const Operator> a_, preconditioner_;
  Ranks ranks_;
  Vector r_, z_, p_, ap_;  ///< residual, the same preconditioned, direction, A times it
};

}  // namespace ccp
