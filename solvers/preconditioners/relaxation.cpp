#include "solvers/preconditioners/ifpack2.hpp"

namespace ccp {
namespace {

/// Symmetric Gauss-Seidel, entry by entry: definite for 0 < damping < 2.
class RelaxationPreconditioner : public Ifpack2Preconditioner {
 public:
  RelaxationPreconditioner() : Ifpack2Preconditioner("RELAXATION", MatrixForm::crs) {}
  OptionList options() override {
    return OptionList("relaxation", "preconditioner")
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

PreconditionerEntry preconditioner_relaxation() {
  return {"relaxation",
          MatrixForm::crs,
          true,
          true,
          "Ifpack2's symmetric Gauss-Seidel",
          []() -> std::unique_ptr<Preconditioner> {
            return std::make_unique<RelaxationPreconditioner>();
          }};
}

}  // namespace ccp
