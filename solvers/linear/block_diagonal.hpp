#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/trilinos.hpp"
#include "solvers/linear/pair_blocks.hpp"

namespace ccp {

/// Inverse of a symmetric positive definite 3x3-block diagonal, as an operator: the block Jacobi
/// preconditioner of Kleinert 2017 Sect. 4.2. Stores 6 numbers per block; apply moves 96 bytes per
/// block. Rows that are a pair have a block of 6x6 together, inverted by the Schur complement of
/// the second.
class BlockDiagonalInverse : public Operator {
 public:
  BlockDiagonalInverse(Teuchos::RCP<const Map> map, int blocks, const PairBlocks& pairs = {});

  /// Takes new blocks, [n]. One that is not positive definite is replaced by its diagonal.
  void update(const DeviceArray<const Sym3*>& blocks);

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;

  long applies() const { return applies_; }

  // Public only because device lambdas may not live in private members.
  void find_pairs(int blocks);
  void update_pairs(const DeviceArray<const Sym3*>& blocks);

 private:
  Teuchos::RCP<const Map> map_;
  DeviceArray<Sym3*> inverse_;  ///< of a pair: S^-1 and B^-1 for [[A, X], [X^T, B]]
  PairBlocks pairs_;
  DeviceArray<int*> pair_;         ///< [n] -1: none; empty without pairs
  DeviceArray<CrossBlock*> tilt_;  ///< [pairs] B^-1 X^T
  mutable long applies_ = 0;
};

}  // namespace ccp
