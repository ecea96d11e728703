#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// A Krylov method of Belos for A x = b with one right-hand side.
struct KrylovOptions {
  std::string method = "cg";  ///< one of krylov_methods()
  int max_iterations = 500;   ///< per solve
  int restart = 50;           ///< basis size of gmres
  bool watch = false;         ///< end as a breakdown when the preconditioner proves not positive
                              ///< definite (one dot product per application)
};

/// Names accepted as KrylovOptions::method: cg, bicgstab, gmres, minres.
const std::vector<std::string>& krylov_methods();

struct KrylovResult {
  int iterations = 0;
  bool converged = false;
  bool breakdown = false;   ///< Belos gave up (indefinite operator, loss of accuracy)
  bool indefinite = false;  ///< a breakdown because the preconditioner is not positive definite
  std::string message;
};

/// Owns the Belos solver and its workspace, which is kept from one solve to the next.
class KrylovSolver {
 public:
  /// @param preconditioner  approximates A^-1; null = none. Applied from the left by cg and minres
  ///                        (where sides do not matter) and from the right by the others, so that
  ///                        all stop on the true residual
  KrylovSolver(const KrylovOptions& options, Teuchos::RCP<const Operator> a,
               Teuchos::RCP<const Operator> preconditioner);
  ~KrylovSolver();

  /// @param x          in: initial guess; out: solution
  /// @param tolerance  on |b - A x| / |b|
  KrylovResult solve(const Teuchos::RCP<const Vector>& b, const Teuchos::RCP<Vector>& x,
                     double tolerance);

  long preconditioner_applies() const;

 private:
  struct Belos;
  std::unique_ptr<Belos> belos_;
};

}  // namespace ccp
