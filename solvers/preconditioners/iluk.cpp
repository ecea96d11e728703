#include "solvers/preconditioners/ifpack2.hpp"

namespace ccp {
namespace {

/// ILU(k) without pivoting, entry by entry or with inverses of 3x3 blocks as pivots. For a
/// symmetric A its U is D L^T, so that the inverse is symmetric; it need not be definite (seed
/// 001).
template <MatrixForm form>
class IlukPreconditioner : public Ifpack2Preconditioner {
  static constexpr bool scalar = form == MatrixForm::crs;

 public:
  IlukPreconditioner() : Ifpack2Preconditioner(scalar ? "RILUK" : "RBILUK", form) {}
  OptionList options() override {
    return OptionList(scalar ? "iluk" : "block_iluk", "preconditioner")
        .integer("level", level_, {0, 10}, "level of fill");
  }

 protected:
  Teuchos::ParameterList parameters(const PreconditionerInput&) const override {
    Teuchos::ParameterList list;
    if (scalar) {  // RILUK takes a double, RBILUK an int
      list.set("fact: iluk level-of-fill", static_cast<double>(level_));
    } else {
      list.set("fact: iluk level-of-fill", level_);
    }
    return list;
  }

 private:
  int level_ = 0;
};

}  // namespace

std::unique_ptr<Preconditioner> make_iluk() {
  return std::make_unique<IlukPreconditioner<MatrixForm::crs>>();
}

std::unique_ptr<Preconditioner> make_block_iluk() {
  return std::make_unique<IlukPreconditioner<MatrixForm::block_crs>>();
}

}  // namespace ccp
