#include "solvers/preconditioners/ifpack2.hpp"

namespace ccp {
namespace {

/// ILUT of Saad (1994): rows are thinned by size, which leaves the inverse without symmetry.
class IlutPreconditioner : public Ifpack2Preconditioner {
 public:
  IlutPreconditioner() : Ifpack2Preconditioner("ILUT", MatrixForm::crs) {}
  OptionList options() override {
    return OptionList("ilut", "preconditioner")
        .number("drop_tolerance", drop_tolerance_, {0}, "entries smaller than this are dropped")
        .number("fill", fill_, {1}, "entries kept per row, as a multiple of A's");
  }

 protected:
  Teuchos::ParameterList parameters(const PreconditionerInput&) const override {
    Teuchos::ParameterList list;
    list.set("fact: ilut level-of-fill", fill_);
    list.set("fact: drop tolerance", drop_tolerance_);
    return list;
  }

 private:
  double drop_tolerance_ = 1e-3, fill_ = 2;
};

}  // namespace

std::unique_ptr<Preconditioner> make_ilut() {
  return std::make_unique<IlutPreconditioner>();
}

}  // namespace ccp
