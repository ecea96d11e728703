#include "solvers/ipm/newton_solver.hpp"

#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_CrsMatrix.hpp>

#include "solvers/core/stopwatch.hpp"

namespace ccp {
namespace {

bool needs_symmetry(const std::string& method) {
  return method == "cg" || method == "minres";
}

}  // namespace

const std::vector<std::string>& newton_operators() {
  static const std::vector<std::string> names = {"matrix_free", "crs", "block_crs"};
  return names;
}

const std::vector<std::string>& newton_methods() {
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

NewtonSolver::NewtonSolver(const Problem& problem, Teuchos::RCP<NewtonSystem> system,
                           const std::string& method, KrylovOptions krylov,
                           const std::string& apply, const PreconditionerEntry& entry,
                           std::shared_ptr<Preconditioner> preconditioner)
    : name_(entry.id), system_(std::move(system)), preconditioner_(std::move(preconditioner)) {
  const bool direct = is_direct_method(method);
  NewtonMatrix::Forms forms;
  forms.crs = direct || apply == "crs" || entry.form == MatrixForm::crs;
  forms.block_crs = !direct && (apply == "block_crs" || entry.form == MatrixForm::block_crs);
  matrix_ = std::make_unique<NewtonMatrix>(problem, forms);
  system_->use_matrix(Teuchos::null);
  if (direct) {
    direct_ = make_direct_solver(method, matrix_->crs());
    return;
  }
  if (apply == "crs") system_->use_matrix(matrix_->crs());
  if (apply == "block_crs") system_->use_matrix(matrix_->block_crs());
  preconditioner_->setup({problem.map(), problem.contacts(), matrix_->diagonal(), matrix_->crs(),
                          matrix_->block_crs()});
  krylov.method = method;
  krylov.watch = needs_symmetry(method) && !entry.definite;
  krylov_ = std::make_unique<KrylovSolver>(krylov, system_, preconditioner_->inverse());
}

PreconditionerReport NewtonSolver::prepare() {
  times_ = {};
  {
    const Stopwatch watch(times_.assembly);
    matrix_->update(*system_);
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

KrylovResult NewtonSolver::solve(const Teuchos::RCP<const Vector>& b, const Teuchos::RCP<Vector>& x,
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
