#include "solvers/linear/block_diagonal.hpp"

#include "solvers/preconditioners/block_cholesky.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

namespace ccp {
namespace {

/// Inverse 3x3 blocks that are formed, and roots.
class OfContacts : public Preconditioner {
 public:
  void setup(const PreconditionerInput& input) override {
    diagonal_ = input.diagonal;
    inverse_ = Teuchos::rcp(new BlockDiagonalInverse(input.map, input.blocks, input.roots));
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

/// Cholesky factors of the blocks, of which only the inverses are kept.
template <int NB>
class OfBodies : public Preconditioner {
 public:
  void setup(const PreconditionerInput& input) override {
    matrix_ = Teuchos::rcp_dynamic_cast<const SymmetricBlockMatrix<NB>>(input.ordered, true);
    inverse_ =
        Teuchos::rcp(new IncompleteCholesky<NB, double>(matrix_->pattern(), FactorKind::diagonal));
  }
  PreconditionerReport compute() override {
    inverse_->factorize(StoredBlocks<NB>(*matrix_), 0, 1e-10, true);
    return {};
  }
  Teuchos::RCP<const Operator> inverse() const override { return inverse_; }

 private:
  Teuchos::RCP<const SymmetricBlockMatrix<NB>> matrix_;
  Teuchos::RCP<IncompleteCholesky<NB, double>> inverse_;
};

/// M = the diagonal blocks of A; a block that is not positive definite is replaced by what is
/// positive of its diagonal.
class BlockDiagonalPreconditioner : public Preconditioner {
 public:
  void setup(const PreconditionerInput& input) override {
    if (input.space == Space::contact) {
      chosen_ = std::make_unique<OfContacts>();
    } else if (input.block_size() == 3) {
      chosen_ = std::make_unique<OfBodies<3>>();
    } else {
      chosen_ = std::make_unique<OfBodies<6>>();
    }
    chosen_->setup(input);
  }
  PreconditionerReport compute() override { return chosen_->compute(); }
  Teuchos::RCP<const Operator> inverse() const override { return chosen_->inverse(); }

 private:
  std::unique_ptr<Preconditioner> chosen_;
};

}  // namespace

std::unique_ptr<Preconditioner> make_block_diagonal() {
  return std::make_unique<BlockDiagonalPreconditioner>();
}

}  // namespace ccp
