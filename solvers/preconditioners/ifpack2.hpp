#pragma once

#include <Ifpack2_Factory.hpp>
#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_CrsMatrix.hpp>

#include "problems/base/error.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

namespace ccp {

/// A preconditioner of Ifpack2 by its factory name. Include it in .cpp files only.
class Ifpack2Preconditioner : public Preconditioner {
 public:
  /// @param name  of Ifpack2::Factory, e.g. "RILUK"
  Ifpack2Preconditioner(std::string name, MatrixForm form) : name_(std::move(name)), form_(form) {}

  void setup(const PreconditionerInput& input) override {
    using Matrix = Tpetra::RowMatrix<double>;
    const Teuchos::RCP<const Matrix> matrix = form_ == MatrixForm::crs
                                                  ? Teuchos::RCP<const Matrix>(input.crs)
                                                  : Teuchos::RCP<const Matrix>(input.block_crs);
    preconditioner_ = Ifpack2::Factory::create(name_, matrix);
    preconditioner_->setParameters(parameters(input));
    preconditioner_->initialize();
  }

  PreconditionerReport compute() override {
    PreconditionerReport report;
    try {
      preconditioner_->compute();
    } catch (const std::exception& error) {  // e.g. a zero pivot, or a matrix full of NaN
      report.good = false;
      report.message = first_line(error.what());
    }
    return report;
  }

  Teuchos::RCP<const Operator> inverse() const override { return preconditioner_; }

 protected:
  virtual Teuchos::ParameterList parameters(const PreconditionerInput& input) const = 0;

 private:
  std::string name_;
  MatrixForm form_;
  Teuchos::RCP<Ifpack2::Preconditioner<double>> preconditioner_;
};

}  // namespace ccp
