#include "solvers/preconditioners/linear_solver.hpp"

#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_CrsMatrix.hpp>

#include "solvers/core/stopwatch.hpp"

namespace ccp {
namespace {

bool needs_symmetry(const std::string& method) {
  return method == "cg" || method == "minres";
}

}  // namespace

const std::vector<std::string>& linear_operators() {
  static const std::vector<std::string> names = {"matrix_free", "crs", "block_crs"};
  return names;
}

const std::vector<std::string>& linear_methods() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = krylov_methods();
    all.insert(all.end(), direct_methods().begin(), direct_methods().end());
    return all;
  }();
  return names;
}

std::string combination_fault(const std::string& method,
                              const PreconditionerEntry& preconditioner) {
  if (is_direct_method(method) && preconditioner.id != "none") {
    return method + " is a direct method and takes no preconditioner";
  }
  if (needs_symmetry(method) && !preconditioner.symmetric) {
    return method + " needs a symmetric preconditioner; bicgstab and gmres take any";
  }
  return "";
}

LinearSolver::LinearSolver(ChangingMatrix& matrix, const std::string& method, KrylovOptions krylov,
                           const std::string& apply, const PreconditionerEntry& entry,
                           std::shared_ptr<Preconditioner> preconditioner)
    : name_(entry.id), matrix_(matrix), preconditioner_(std::move(preconditioner)) {
  const bool direct = is_direct_method(method);
  const bool in_contact_space = matrix_.space() == Space::contact;
  ChangingMatrix::Forms forms;
  forms.crs = direct || apply == "crs" || entry.form == MatrixForm::crs;
  forms.block_crs = !direct && (apply == "block_crs" || entry.form == MatrixForm::block_crs ||
                                (entry.form == MatrixForm::blocks && in_contact_space));
  matrix_.keep(forms);
  if (direct) {
    direct_ = make_direct_solver(method, matrix_.input().crs);
    return;
  }
  const auto product = matrix_.product(apply);
  preconditioner_->setup(matrix_.input());
  krylov.method = method;
  krylov.watch = needs_symmetry(method) && !entry.definite;
  krylov_ = std::make_unique<KrylovSolver>(krylov, product, preconditioner_->inverse());
}

PreconditionerReport LinearSolver::prepare() {
  times_ = {};
  {
    const Stopwatch watch(times_.assembly);
    matrix_.update();
  }
  const Stopwatch watch(times_.setup);
  PreconditionerReport report;
  if (is_direct()) {
    report.message = direct_->factorize();
    report.good = report.message.empty();
  } else {
    report = preconditioner_->compute();
    if (!report.good) report.message = "preconditioner " + name_ + ": " + report.message;
  }
  return report;
}

KrylovResult LinearSolver::solve(const Teuchos::RCP<const Vector>& b, const Teuchos::RCP<Vector>& x,
                                 double tolerance) {
  times_.solve = 0;
  const Stopwatch watch(times_.solve);
  KrylovResult result;
  if (is_direct()) {
    direct_->solve(*b, *x);
    result.converged = true;
    return result;
  }
  result = krylov_->solve(b, x, tolerance);
  if (result.indefinite) {
    result.message = "preconditioner " + name_ + " is not positive definite: " + result.message;
  }
  return result;
}

}  // namespace ccp
