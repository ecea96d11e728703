#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/trilinos.hpp"
#include "solvers/linear/triangular_root.hpp"

namespace ccp {

/// Inverse of a symmetric positive definite 3x3-block diagonal, as an operator: the block Jacobi
/// preconditioner of Kleinert 2017 Sect. 4.2. Stores 6 numbers per block; apply moves 96 bytes per
/// block. Rows that have a root are solved with it, and pairs of rows together, as a block of 6x6.
class BlockDiagonalInverse : public Operator {
 public:
  /// @param roots  read at every product; whoever has them keeps their values those of A
  BlockDiagonalInverse(Teuchos::RCP<const Map> map, int blocks, const BlockRoots& roots = {});

  /// Takes new blocks, [n]. One that is not positive definite is replaced by its diagonal.
  void update(const DeviceArray<const Sym3*>& blocks);

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;

  long applies() const { return applies_; }

  // Public only because device lambdas may not live in private members.
  void apply_roots(const ConstVectorView& in, const VectorView& out, double alpha,
                   double beta) const;

 private:
  Teuchos::RCP<const Map> map_;
  DeviceArray<Sym3*> inverse_;
  BlockRoots roots_;
  mutable long applies_ = 0;
};

}  // namespace ccp
