#pragma once

#include <memory>
#include <string>

#include "solvers/ipm/newton_matrix.hpp"
#include "solvers/linear/direct.hpp"
#include "solvers/linear/krylov.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

namespace ccp {

/// The ways to apply A: matrix_free, crs, block_crs.
const std::vector<std::string>& newton_operators();

/// krylov_methods() and then direct_methods().
const std::vector<std::string>& newton_methods();

/// Why the method cannot work with the preconditioner ("" if it can): cg and minres need a
/// symmetric one, a direct method none.
std::string combination_fault(const std::string& method, const PreconditionerEntry& preconditioner);

/// Solves the Newton systems of one problem, one after the other, by a Krylov method with a
/// preconditioner or by a direct method. Whoever needs A as a matrix gets it assembled here:
/// structure at construction, values in prepare(); the operator may stay matrix-free.
class NewtonSolver {
 public:
  /// @param method          one of newton_methods()
  /// @param krylov          its `method` is not looked at
  /// @param apply           one of newton_operators(): who makes the products with A
  /// @param preconditioner  of this entry, with its options set; not used by direct methods
  NewtonSolver(const Problem& problem, Teuchos::RCP<NewtonSystem> system, const std::string& method,
               KrylovOptions krylov, const std::string& apply, const PreconditionerEntry& entry,
               std::shared_ptr<Preconditioner> preconditioner);

  /// Assembles A and computes the preconditioner or the factors for the system's scaling.
  PreconditionerReport prepare();

  /// @param x  in: zero; out: the solution, of relative residual `tolerance` (Krylov) or rounding
  KrylovResult solve(const Teuchos::RCP<const Vector>& b, const Teuchos::RCP<Vector>& x,
                     double tolerance);

  bool is_direct() const { return direct_ != nullptr; }
  /// The preconditioner as an operator; null: the identity. Not for direct methods.
  Teuchos::RCP<const Operator> inverse() const {
    return is_direct() ? Teuchos::null : preconditioner_->inverse();
  }
  long preconditioner_applies() const { return krylov_ ? krylov_->preconditioner_applies() : 0; }
  double factor_entries() const { return is_direct() ? direct_->factor_entries() : 0; }

  /// Seconds of the last prepare() and solve().
  struct Times {
    double assembly = 0;  ///< values of A
    double setup = 0;     ///< preconditioner or factors
    double solve = 0;
  };
  const Times& times() const { return times_; }

 private:
  std::string name_;  ///< of the preconditioner, for messages
  Teuchos::RCP<NewtonSystem> system_;
  std::unique_ptr<NewtonMatrix> matrix_;
  std::shared_ptr<Preconditioner> preconditioner_;
  std::unique_ptr<KrylovSolver> krylov_;
  std::unique_ptr<DirectSolver> direct_;
  Times times_;
};

}  // namespace ccp
