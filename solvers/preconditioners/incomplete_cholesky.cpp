#include "solvers/preconditioners/incomplete_cholesky.hpp"

#include <fmt/format.h>

#include "solvers/core/stopwatch.hpp"

namespace ccp {
void ZeroFillCholesky::setParameters(const Teuchos::ParameterList& parameters) {
  if (parameters.isParameter("shift")) first_shift_ = parameters.get<double>("shift");
}

void ZeroFillCholesky::initialize() {
  const Stopwatch watch(initialize_time_);
  analyze();
  initialized_ = true;
  computed_ = false;
  ++initializations_;
}

void ZeroFillCholesky::compute() {
  if (!initialized_) initialize();
  const Stopwatch watch(compute_time_);
  shift_ = 0;
  restarts_ = 0;
  while (!(computed_ = factorize(shift_)) && restarts_ < max_restarts) {
    shift_ = restarts_ == 0 ? first_shift_ : shift_growth * shift_;
    ++restarts_;
  }
  ++computations_;
}

void ZeroFillCholesky::apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
                             double beta) const {
  ++applications_;
  const auto in = x.getLocalViewHost(Tpetra::Access::ReadOnly);
  if (alpha == 1 && beta == 0) {
    const auto out = y.getLocalViewHost(Tpetra::Access::OverwriteAll);
    solve(in.data(), out.data());
    return;
  }
  solution_.resize(in.extent(0));
  solve(in.data(), solution_.data());
  const auto out = y.getLocalViewHost(Tpetra::Access::ReadWrite);
  for (std::size_t i = 0; i < solution_.size(); ++i) {
    out(i, 0) = alpha * solution_[i] + (beta == 0 ? 0 : beta * out(i, 0));
  }
}

OptionList IncompleteCholeskyPreconditioner::options() {
  return OptionList("ic0 and block_ic0", "preconditioner")
      .number("shift", shift_, OptionList::Range::positive(),
              "first relative diagonal shift after a failed pivot; 3 times as much each time");
}

PreconditionerReport IncompleteCholeskyPreconditioner::compute() {
  factor_->compute();
  PreconditionerReport report;
  report.good = factor_->isComputed();
  report.shift = factor_->shift();
  report.restarts = factor_->restarts();
  if (!report.good) {
    report.message =
        fmt::format("no positive pivots with a diagonal shift of {:.1e} either", report.shift);
  }
  return report;
}

}  // namespace ccp
