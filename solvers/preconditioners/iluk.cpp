#include "solvers/preconditioners/ifpack2.hpp"

namespace ccp {
namespace {

/// ILU(k) without pivoting. For a symmetric A its U is D L^T, so that the inverse is symmetric; it
/// need not be definite (seed 001).
class IlukPreconditioner : public Ifpack2Preconditioner {
 public:
  IlukPreconditioner() : Ifpack2Preconditioner("RILUK", MatrixForm::crs) {}
  OptionList options() override {
    return OptionList("iluk", "preconditioner").integer("level", level_, {0, 10}, "level of fill");
  }

 protected:
  Teuchos::ParameterList parameters(const PreconditionerInput&) const override {
    Teuchos::ParameterList list;
    list.set("fact: iluk level-of-fill", static_cast<double>(level_));
    return list;
  }

 private:
  int level_ = 0;
};

}  // namespace

PreconditionerEntry preconditioner_iluk() {
  return {
      "iluk",
      MatrixForm::crs,
      true,
      false,
      "Ifpack2's incomplete LU with levels of fill",
      []() -> std::unique_ptr<Preconditioner> { return std::make_unique<IlukPreconditioner>(); }};
}

}  // namespace ccp
