#include "solvers/linear/krylov.hpp"

#include <BelosBiCGStabSolMgr.hpp>
#include <BelosLinearProblem.hpp>
#include <BelosPseudoBlockCGSolMgr.hpp>
#include <BelosPseudoBlockGmresSolMgr.hpp>

#include "problems/error.hpp"
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
  throw InputError("Krylov method", "", "cg, bicgstab or gmres", "'" + method + "'");
}

}  // namespace

struct KrylovSolver::Belos {
  Teuchos::RCP<LinearProblem> problem;
  Teuchos::RCP<SolverManager> manager;
  Teuchos::RCP<Teuchos::ParameterList> parameters;
};

const std::vector<std::string>& krylov_methods() {
  static const std::vector<std::string> names = {"cg", "bicgstab", "gmres"};
  return names;
}

KrylovSolver::KrylovSolver(const KrylovOptions& options, Teuchos::RCP<const Operator> a,
                           Teuchos::RCP<const Operator> preconditioner)
    : belos_(std::make_unique<Belos>()) {
  belos_->problem = Teuchos::rcp(new LinearProblem);
  belos_->problem->setOperator(a);
  if (!preconditioner.is_null()) {
    if (options.method == "cg") {
      belos_->problem->setLeftPrec(preconditioner);
    } else {
      belos_->problem->setRightPrec(preconditioner);
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
  // Shallow copies: Belos works on the caller's data.
  belos_->problem->setProblem(Teuchos::rcp(new KrylovVector(*x)),
                              Teuchos::rcp(new KrylovVector(*b)));
  belos_->manager->setProblem(belos_->problem);
  try {
    result.converged = belos_->manager->solve() == ::Belos::Converged;
  } catch (const std::exception& error) {
    result.breakdown = true;
    result.message = error.what();
    result.message = result.message.substr(0, result.message.find('\n'));
  }
  result.iterations = belos_->manager->getNumIters();
  return result;
}

}  // namespace ccp
