#include "solvers/linear/conjugate_gradients.hpp"

#include <BelosLinearProblem.hpp>
#include <BelosOutputManager.hpp>
#include <BelosPseudoBlockCGIter.hpp>
#include <BelosStatusTest.hpp>

#include "problems/base/error.hpp"
#include "solvers/linear/belos_traits.hpp"

namespace ccp {
namespace {

using LinearProblem = ::Belos::LinearProblem<double, KrylovVector, Operator>;
using Iteration = ::Belos::Iteration<double, KrylovVector, Operator>;
using CgIteration = ::Belos::PseudoBlockCGIter<double, KrylovVector, Operator>;

/// The caller's rules, as Belos asks for them.
class Rule : public ::Belos::StatusTest<double, KrylovVector, Operator> {
 public:
  Rule(const ConjugateGradients::Solved& solved, const ConjugateGradients::GiveUp& give_up)
      : solved_(solved), give_up_(give_up) {}

  ::Belos::StatusType checkStatus(Iteration* iteration) override {
    converged_ = solved_(read_view(*iteration->getNativeResiduals(nullptr)));
    const bool stop = converged_ || give_up_(iteration->getNumIters());
    return status_ = stop ? ::Belos::Passed : ::Belos::Failed;
  }
  ::Belos::StatusType getStatus() const override { return status_; }
  void reset() override { status_ = ::Belos::Undefined; }
  void print(std::ostream&, int) const override {}

  bool converged() const { return converged_; }

 private:
  const ConjugateGradients::Solved& solved_;
  const ConjugateGradients::GiveUp& give_up_;
  ::Belos::StatusType status_ = ::Belos::Undefined;
  bool converged_ = false;
};

}  // namespace

struct ConjugateGradients::Belos {
  Teuchos::RCP<LinearProblem> problem;
};

ConjugateGradients::ConjugateGradients(Teuchos::RCP<const Operator> a,
                                       Teuchos::RCP<const Operator> preconditioner)
    : belos_(std::make_unique<Belos>()) {
  belos_->problem = Teuchos::rcp(new LinearProblem);
  belos_->problem->setOperator(a);
  if (!preconditioner.is_null()) belos_->problem->setLeftPrec(preconditioner);
}

ConjugateGradients::~ConjugateGradients() = default;

KrylovResult ConjugateGradients::solve(const Teuchos::RCP<const Vector>& b,
                                       const Teuchos::RCP<Vector>& x, const Solved& solved,
                                       const GiveUp& give_up) {
  KrylovResult result;
  LinearProblem& problem = *belos_->problem;
  problem.setProblem(Teuchos::rcp(new KrylovVector(*x)), Teuchos::rcp(new KrylovVector(*b)));
  problem.setLSIndex({0});
  const auto rule = Teuchos::rcp(new Rule(solved, give_up));
  Teuchos::ParameterList parameters;
  parameters.set("Assert Positive Definiteness", false);  // would throw at rounding level
  CgIteration iteration(belos_->problem, Teuchos::rcp(new ::Belos::OutputManager<double>), rule,
                        parameters);
  try {
    start_cg(iteration, *belos_->problem);
    iteration.iterate();
  } catch (const std::exception& error) {
    result.breakdown = true;
    result.message = first_line(error.what());
  }
  result.converged = rule->converged();
  result.iterations = iteration.getNumIters();
  return result;
}

}  // namespace ccp
