#include "solvers/preconditioners/ifpack2.hpp"

namespace ccp {
namespace {

/// Symmetric Gauss-Seidel, entry by entry or in 3x3 blocks: definite for 0 < damping < 2. Ifpack2's
/// Relaxation does both; its BlockRelaxation would keep a container per contact.
template <MatrixForm form>
class RelaxationPreconditioner : public Ifpack2Preconditioner {
 public:
  RelaxationPreconditioner() : Ifpack2Preconditioner("RELAXATION", form) {}
  OptionList options() override {
    return OptionList(form == MatrixForm::crs ? "relaxation" : "block_relaxation", "preconditioner")
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

std::unique_ptr<Preconditioner> make_relaxation() {
  return std::make_unique<RelaxationPreconditioner<MatrixForm::crs>>();
}

std::unique_ptr<Preconditioner> make_block_relaxation() {
  return std::make_unique<RelaxationPreconditioner<MatrixForm::block_crs>>();
}

}  // namespace ccp
