#include "solvers/preconditioners/ifpack2.hpp"

namespace ccp {
namespace {

/// ILU(k) in blocks: pivots are inverses of 3x3 blocks. As symmetric as iluk, and as little
/// definite.
class BlockIlukPreconditioner : public Ifpack2Preconditioner {
 public:
  BlockIlukPreconditioner() : Ifpack2Preconditioner("RBILUK", MatrixForm::block_crs) {}
  OptionList options() override {
    return OptionList("block_iluk", "preconditioner")
        .integer("level", level_, {0, 10}, "level of fill");
  }

 protected:
  Teuchos::ParameterList parameters(const PreconditionerInput&) const override {
    Teuchos::ParameterList list;
    list.set("fact: iluk level-of-fill", level_);
    return list;
  }

 private:
  int level_ = 0;
};

}  // namespace

PreconditionerEntry preconditioner_block_iluk() {
  return {"block_iluk",
          MatrixForm::block_crs,
          true,
          false,
          "Ifpack2's incomplete LU with levels of fill, in 3x3 blocks",
          []() -> std::unique_ptr<Preconditioner> {
            return std::make_unique<BlockIlukPreconditioner>();
          }};
}

}  // namespace ccp
