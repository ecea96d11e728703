#pragma once

#include <memory>
#include <string>

#include "solvers/linear/direct.hpp"
#include "solvers/linear/krylov.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

namespace ccp {

/// The ways to apply A: matrix_free (as its owner does), crs, block_crs.
const std::vector<std::string>& linear_operators();

/// krylov_methods() and then direct_methods().
const std::vector<std::string>& linear_methods();

/// Why the method cannot work with the preconditioner ("" if it can): cg and minres need a
/// symmetric one, a direct method none.
std::string combination_fault(const std::string& method, const PreconditionerEntry& preconditioner);

/// A matrix A whose values change and whose structure stays, as LinearSolver sees it.
class ChangingMatrix {
 public:
  /// Assembled forms beside the product.
  struct Forms {
    bool crs = false, block_crs = false;
  };
  virtual ~ChangingMatrix() = default;

  virtual Space space() const = 0;
  /// Makes the forms that are to be kept from now on.
  virtual void keep(Forms forms) = 0;
  /// Gives them, and the diagonal blocks, the values that A has now.
  virtual void update() = 0;
  /// y = A x, made as `apply` says (one of linear_operators(), the form kept).
  virtual Teuchos::RCP<const Operator> product(const std::string& apply) = 0;
  virtual PreconditionerInput input() const = 0;
};

/// Solves A x = b for one value of A after the other, by a Krylov method with a preconditioner or
/// by a direct method. Whoever needs A as a matrix gets it assembled here: structure at
/// construction, values in prepare().
class LinearSolver {
 public:
  /// @param matrix          must outlive the solver
  /// @param method          one of linear_methods()
  /// @param krylov          its `method` is not looked at
  /// @param apply           one of linear_operators(): who makes the products with A
  /// @param entry           whose blocks A's are
  /// @param preconditioner  of this entry, with its options set; not used by direct methods
  LinearSolver(ChangingMatrix& matrix, const std::string& method, KrylovOptions krylov,
               const std::string& apply, const PreconditionerEntry& entry,
               std::shared_ptr<Preconditioner> preconditioner);

  /// Takes A's present values, and computes the preconditioner or the factors.
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
  ChangingMatrix& matrix_;
  std::shared_ptr<Preconditioner> preconditioner_;
  std::unique_ptr<KrylovSolver> krylov_;
  std::unique_ptr<DirectSolver> direct_;
  Times times_;
};

}  // namespace ccp
