#include <limits>

#include "solvers/preconditioners/ifpack2.hpp"

namespace ccp {
namespace {

/// Chebyshev polynomial of D^-1 A, lambda_max by power iteration: definite if that is not too
/// small.
class ChebyshevPreconditioner : public Ifpack2Preconditioner {
 public:
  ChebyshevPreconditioner() : Ifpack2Preconditioner("CHEBYSHEV", MatrixForm::crs) {}
  OptionList options() override {
    return OptionList("chebyshev", "preconditioner")
        .integer("degree", degree_, {1, 100}, "products with A per application")
        .number("eigenvalue_ratio", eigenvalue_ratio_,
                {1, std::numeric_limits<double>::infinity(), true},
                "the interval is [lambda_max / this, lambda_max]");
  }

 protected:
  Teuchos::ParameterList parameters(const PreconditionerInput&) const override {
    Teuchos::ParameterList list;
    list.set("chebyshev: degree", degree_);
    list.set("chebyshev: ratio eigenvalue", eigenvalue_ratio_);
    return list;
  }

 private:
  int degree_ = 3;
  double eigenvalue_ratio_ = 30;
};

}  // namespace

std::unique_ptr<Preconditioner> make_chebyshev() {
  return std::make_unique<ChebyshevPreconditioner>();
}

}  // namespace ccp
