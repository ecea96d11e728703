#pragma once

#include <memory>

#include "solvers/preconditioners/shifts.hpp"

namespace ccp {

/// A factorisation of one matrix, whatever its blocks and the type of its factor.
class BlockFactor {
 public:
  virtual ~BlockFactor() = default;
  /// @param least     relative pivot that counts as failed  @param complete  go on all the same
  virtual bool factorize(double shift, double least, bool complete) = 0;
  virtual Teuchos::RCP<const Operator> inverse() const = 0;
};

/// Preconditioners that are such a factorisation of A + shift diag(A); setup() makes factor_.
class BlockFactorPreconditioner : public Preconditioner {
 public:
  PreconditionerReport compute() override {
    return factorize_with_shifts(rule_, [&](double shift, bool last) {
      return factor_->factorize(shift, rule_.smallest_pivot, last);
    });
  }
  Teuchos::RCP<const Operator> inverse() const override { return factor_->inverse(); }

 protected:
  ShiftRule rule_;
  std::unique_ptr<BlockFactor> factor_;

  /// Pivots and restarts of matrices in a space.
  void limit_shifts(Space space) {
    if (space == Space::contact) {
      // Diagonal blocks range over twelve orders of magnitude near the solution: only what is
      // rounding fails.
      rule_.smallest_pivot = 1e-14;
      rule_.max_restarts = 30;
    } else {
      rule_.smallest_pivot = 1e-10;
      rule_.max_restarts = 14;  // to a shift of 1,600, where A is as good as its diagonal
    }
  }
};

}  // namespace ccp
