#include "harness/simulation/step_solver.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "harness/measure/referee.hpp"
#include "problems/base/error.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/registry.hpp"

namespace ccp {
namespace {

class StepObserver : public Observer {
 public:
  StepObserver(const Problem& problem, const StepAccuracy& accuracy)
      : accuracy_(accuracy), gamma_(problem.map(), 1) {
    if (accuracy.bounded() && !accuracy.converged) referee_.emplace(problem);
  }

  bool observe(const Progress& progress, const std::function<void(Vector&)>& write_gamma) override {
    if (progress.counters.outer >= accuracy_.max_iterations) return true;
    if (!referee_ || progress.counters.outer % accuracy_.interval != 0) return false;
    write_gamma(gamma_);
    const Measures measures = referee_->measure(gamma_);
    return good_ = accuracy_.met(measures[Measure::error], measures[Measure::residual]);
  }
  bool satisfied() const override { return good_; }

 private:
  std::optional<Referee> referee_;
  StepAccuracy accuracy_;
  Vector gamma_;
  bool good_ = false;
};

}  // namespace

RegisteredStepSolver::RegisteredStepSolver(const std::string& spec) {
  spec_ = SolverSpec::parse(spec);
  solver_ = make_solver(spec_);
}

void RegisteredStepSolver::solve(const ContactProblem& host, const StepAccuracy& accuracy,
                                 std::vector<double>& gamma) {
  const std::string reason = why_unsupported(spec_, host);
  if (!reason.empty()) throw InputError("step solver: " + reason);
  const Problem problem(host);
  StepObserver observer(problem, accuracy);
  Vector solution(problem.map(), 1);
  Kokkos::deep_copy(overwrite_view(solution),
                    upload<VectorView>("ccp::guess", gamma, gamma.size()));
  solver_->setup(problem);
  const Info info = solver_->solve(solution, observer);
  if (accuracy.converged && info.status != Status::converged) {
    const Measure judge = residual_of(solver_->law());
    throw InputError(fmt::format(
        "the step solver ended as {}, at a {} of {:.2g}, where it was to "
        "converge by its own tolerance{}{}",
        to_string(info.status), name_of(judge), Referee(problem).measure(solution)[judge],
        info.message.empty() ? "" : ": ", info.message));
  }
  gamma = download(read_view(solution));
}

}  // namespace ccp
