#include "solvers/preconditioners/ifpack2.hpp"

namespace ccp {
namespace {

/// Symmetric Gauss-Seidel in 3x3 blocks. Ifpack2's Relaxation does this for a BlockCrsMatrix; its
/// BlockRelaxation would keep a container per contact.
class BlockRelaxationPreconditioner : public Ifpack2Preconditioner {
 public:
  BlockRelaxationPreconditioner() : Ifpack2Preconditioner("RELAXATION", MatrixForm::block_crs) {}
  OptionList options() override {
    return OptionList("block_relaxation", "preconditioner")
        .integer("sweeps", sweeps_, {1, 100}, "sweeps per application")
        .number("damping", damping_, {0, 2, true}, "factor on every update");
  }

 protected:
  Teuchos::ParameterList parameters(const PreconditionerInput&) const override {
    Teuchos::ParameterList list;
    list.set("relaxation: type", "Symmetric Gauss-Seidel");
    list.set("relaxation: sweeps", sweeps_);
    list.set("relaxation: damping factor", damping_);
    return list;
  }

 private:
  int sweeps_ = 1;
  double damping_ = 1;
};

}  // namespace

PreconditionerEntry preconditioner_block_relaxation() {
  return {"block_relaxation",
          MatrixForm::block_crs,
          true,
          true,
          "Ifpack2's symmetric Gauss-Seidel in 3x3 blocks",
          []() -> std::unique_ptr<Preconditioner> {
            return std::make_unique<BlockRelaxationPreconditioner>();
          }};
}

}  // namespace ccp
