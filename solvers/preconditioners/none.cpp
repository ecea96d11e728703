#include "solvers/preconditioners/preconditioner.hpp"

namespace ccp {
namespace {

class NoPreconditioner : public Preconditioner {
 public:
  void setup(const PreconditionerInput&) override {}
  PreconditionerReport compute() override { return {}; }
  Teuchos::RCP<const Operator> inverse() const override { return Teuchos::null; }
};

}  // namespace

PreconditionerEntry preconditioner_none() {
  return {"none", MatrixForm::none,          true,
          true,   "the plain Krylov method", construct<NoPreconditioner>};
}

}  // namespace ccp
