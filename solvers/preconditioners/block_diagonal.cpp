#include "solvers/linear/block_diagonal.hpp"

#include "solvers/preconditioners/preconditioner.hpp"

namespace ccp {
namespace {

class BlockDiagonalPreconditioner : public Preconditioner {
 public:
  void setup(const PreconditionerInput& input) override {
    diagonal_ = input.diagonal;
    inverse_ = Teuchos::rcp(new BlockDiagonalInverse(input.map, input.blocks));
  }
  PreconditionerReport compute() override {
    inverse_->update(diagonal_);
    return {};
  }
  Teuchos::RCP<const Operator> inverse() const override { return inverse_; }

 private:
  DeviceArray<const Sym3*> diagonal_;
  Teuchos::RCP<BlockDiagonalInverse> inverse_;
};

}  // namespace

PreconditionerEntry preconditioner_block_diagonal() {
  return {"block_diagonal",
          MatrixForm::none,
          true,
          true,
          "inverse 3x3 blocks of the diagonal (Kleinert 2017 Sect. 4.2)",
          construct<BlockDiagonalPreconditioner>};
}

}  // namespace ccp
