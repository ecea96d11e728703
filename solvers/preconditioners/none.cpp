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

std::unique_ptr<Preconditioner> make_none() {
  return std::make_unique<NoPreconditioner>();
}

}  // namespace ccp
