#pragma once

#include <functional>
#include <memory>

#include "solvers/linear/krylov.hpp"

namespace ccp {

/// Belos' conjugate gradient iteration under a stopping rule of the caller's own, where
/// KrylovSolver's relative residual will not do.
class ConjugateGradients {
 public:
  /// Looks at the residual b - A x before every iteration. @return true to stop: solved
  using Solved = std::function<bool(const ConstVectorView& residual)>;
  /// Asked before every iteration after that. @return true to give up
  using GiveUp = std::function<bool(int iterations)>;

  /// @param preconditioner  symmetric positive definite; null = none
  ConjugateGradients(Teuchos::RCP<const Operator> a, Teuchos::RCP<const Operator> preconditioner);
  ~ConjugateGradients();

  /// @param x  in: initial guess; out: solution, or as far as it got
  /// @return converged is what `solved` said last
  KrylovResult solve(const Teuchos::RCP<const Vector>& b, const Teuchos::RCP<Vector>& x,
                     const Solved& solved, const GiveUp& give_up);

 private:
  struct Belos;
  std::unique_ptr<Belos> belos_;
};

}  // namespace ccp
