#include "solvers/linear/krylov.hpp"

#include <fmt/format.h>

#include <BelosBiCGStabSolMgr.hpp>
#include <BelosLinearProblem.hpp>
#include <BelosMinresSolMgr.hpp>
#include <BelosPseudoBlockCGSolMgr.hpp>
#include <BelosPseudoBlockGmresSolMgr.hpp>
#include <cmath>
#include <stdexcept>

#include "problems/base/error.hpp"
#include "solvers/linear/belos_traits.hpp"

namespace ccp {
namespace {

using LinearProblem = ::Belos::LinearProblem<double, KrylovVector, Operator>;
using SolverManager = ::Belos::SolverManager<double, KrylovVector, Operator>;

Teuchos::RCP<SolverManager> make_manager(const std::string& method) {
  if (method == "cg") {
    return Teuchos::rcp(new ::Belos::PseudoBlockCGSolMgr<double, KrylovVector, Operator>);
  }
  if (method == "bicgstab") {
    return Teuchos::rcp(new ::Belos::BiCGStabSolMgr<double, KrylovVector, Operator>);
  }
  if (method == "gmres") {
    return Teuchos::rcp(new ::Belos::PseudoBlockGmresSolMgr<double, KrylovVector, Operator>);
  }
  if (method == "minres") {
    return Teuchos::rcp(new ::Belos::MinresSolMgr<double, KrylovVector, Operator>);
  }
  throw InputError("Krylov method", "", "cg, bicgstab, gmres or minres", "'" + method + "'");
}

/// A preconditioner whose applications are counted and, if asked for, looked at.
class WatchedInverse : public Operator {
 public:
  WatchedInverse(Teuchos::RCP<const Operator> inverse, bool watch)
      : inverse_(std::move(inverse)), watch_(watch) {}

  Teuchos::RCP<const Map> getDomainMap() const override { return inverse_->getDomainMap(); }
  Teuchos::RCP<const Map> getRangeMap() const override { return inverse_->getRangeMap(); }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override {
    ++applies_;
    inverse_->apply(x, y, mode, alpha, beta);
    if (!watch_) return;
    // x = 0 is no residual to judge by: the method has converged.
    const double product = dot(x, y);
    if (!(product > 0) && dot(x, x) > 0) {
      // Kept here as well, because some of Belos' methods throw on what they have caught as a plain
      // std::exception.
      fault_ = fmt::format("r.Mr = {:.2e} in application {}", product, applies_ - before_);
      throw std::runtime_error(fault_);
    }
  }

  void begin_solve() {
    before_ = applies_;
    fault_.clear();
  }
  /// What was wrong with it in this solve; "" if nothing was seen.
  const std::string& fault() const { return fault_; }
  long applies() const { return applies_; }
  long applies_in_solve() const { return applies_ - before_; }

 private:
  Teuchos::RCP<const Operator> inverse_;
  bool watch_;
  mutable long applies_ = 0;
  long before_ = 0;
  mutable std::string fault_;
};

}  // namespace

struct KrylovSolver::Belos {
  Teuchos::RCP<LinearProblem> problem;
  Teuchos::RCP<SolverManager> manager;
  Teuchos::RCP<Teuchos::ParameterList> parameters;
  Teuchos::RCP<WatchedInverse> inverse;  ///< null: none
};

const std::vector<std::string>& krylov_methods() {
  static const std::vector<std::string> names = {"cg", "bicgstab", "gmres", "minres"};
  return names;
}

KrylovSolver::KrylovSolver(const KrylovOptions& options, Teuchos::RCP<const Operator> a,
                           Teuchos::RCP<const Operator> preconditioner)
    : belos_(std::make_unique<Belos>()) {
  belos_->problem = Teuchos::rcp(new LinearProblem);
  belos_->problem->setOperator(a);
  if (!preconditioner.is_null()) {
    belos_->inverse = Teuchos::rcp(new WatchedInverse(preconditioner, options.watch));
    if (options.method == "cg" || options.method == "minres") {
      belos_->problem->setLeftPrec(belos_->inverse);
    } else {
      belos_->problem->setRightPrec(belos_->inverse);
    }
  }
  belos_->parameters = Teuchos::parameterList("ccp::KrylovSolver");
  belos_->parameters->set("Maximum Iterations", options.max_iterations);
  belos_->parameters->set("Verbosity", static_cast<int>(::Belos::Errors) * 0);
  if (options.method == "cg") {
    // A definite operator is what our systems are; Belos' check would throw at rounding level.
    belos_->parameters->set("Assert Positive Definiteness", false);
  }
  if (options.method == "gmres") {
    belos_->parameters->set("Num Blocks", options.restart);
    belos_->parameters->set("Maximum Restarts",
                            options.max_iterations / std::max(1, options.restart) + 1);
    belos_->parameters->set("Implicit Residual Scaling", "Norm of RHS");
    belos_->parameters->set("Explicit Residual Scaling", "Norm of RHS");
  }
  belos_->manager = make_manager(options.method);
  belos_->manager->setParameters(belos_->parameters);
}

KrylovSolver::~KrylovSolver() = default;

KrylovResult KrylovSolver::solve(const Teuchos::RCP<const Vector>& b, const Teuchos::RCP<Vector>& x,
                                 double tolerance) {
  KrylovResult result;
  belos_->parameters->set("Convergence Tolerance", tolerance);
  belos_->manager->setParameters(belos_->parameters);
  if (!belos_->inverse.is_null()) belos_->inverse->begin_solve();
  try {
    // Shallow copies: Belos works on the caller's data. A left preconditioner is applied here.
    belos_->problem->setProblem(Teuchos::rcp(new KrylovVector(*x)),
                                Teuchos::rcp(new KrylovVector(*b)));
    belos_->manager->setProblem(belos_->problem);
    result.converged = belos_->manager->solve() == ::Belos::Converged;
    result.iterations = belos_->manager->getNumIters();
  } catch (const std::exception& error) {  // Belos' count of iterations is the last solve's then
    result.breakdown = true;
    result.message = first_line(error.what());
    if (!belos_->inverse.is_null()) {
      result.indefinite = !belos_->inverse->fault().empty();
      if (result.indefinite) result.message = belos_->inverse->fault();
      result.iterations = static_cast<int>(belos_->inverse->applies_in_solve());
    }
  }
  return result;
}

long KrylovSolver::preconditioner_applies() const {
  return belos_->inverse.is_null() ? 0 : belos_->inverse->applies();
}

}  // namespace ccp
