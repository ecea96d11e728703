#include "harness/simulation/measured_solver.hpp"

#include <algorithm>
#include <cmath>

#include "harness/measure/clock.hpp"
#include "harness/measure/referee.hpp"
#include "problems/base/error.hpp"
#include "solvers/core/known_aim.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/registry.hpp"

namespace ccp {
namespace {

class Judge : public Observer, public KnownAim {
 public:
  Judge(const Problem& problem, const StepAccuracy& accuracy, Law law,
        const MeasuredStepSolver::Watch& watch)
      : problem_(problem),
        referee_(problem),
        accuracy_(accuracy),
        gamma_(problem.map(), 1),
        law_(law),
        watch_(watch) {}

  bool observe(const Progress& progress, const std::function<void(Vector&)>& write_gamma) override {
    const long outer = progress.counters.outer;
    if (watch_) {
      clock_.pause();
      write_gamma(gamma_);
      watch_(problem_.host(), outer, download(read_view(gamma_)));
      clock_.resume();
    }
    if (outer >= accuracy_.max_iterations) return true;
    if (!accuracy_.bounded() || outer < next_) return false;
    next_ = std::max(outer + 1, outer + outer / 5);
    clock_.pause();
    write_gamma(gamma_);
    const Measures measures = measure(gamma_);
    good_ = accuracy_.met(measures[Measure::error], residual(measures));
    clock_.resume();
    return good_;
  }
  bool satisfied() const override { return good_; }
  /// Where an error is asked for too, that may decide.
  double aim(Law law) const override {
    const bool residual_alone = std::isfinite(accuracy_.residual) && std::isinf(accuracy_.error);
    return law == law_ && residual_alone && !accuracy_.converged ? accuracy_.residual : 0;
  }
  Measures measure(const Vector& gamma) { return referee_.measure(gamma); }
  double residual(const Measures& measures) const { return measures[residual_of(law_)]; }
  SolveClock& clock() { return clock_; }

 private:
  const Problem& problem_;
  Referee referee_;
  StepAccuracy accuracy_;
  Vector gamma_;
  Law law_;
  const MeasuredStepSolver::Watch& watch_;
  SolveClock clock_;
  long next_ = 1;
  bool good_ = false;
};

}  // namespace

MeasuredStepSolver::MeasuredStepSolver(const std::string& spec)
    : spec_(SolverSpec::parse(spec)), solver_(make_solver(spec_)) {}

MeasuredStepSolver::~MeasuredStepSolver() = default;

void MeasuredStepSolver::solve(const ContactProblem& host, const StepAccuracy& accuracy,
                               std::vector<double>& gamma) {
  const std::string reason = why_unsupported(spec_, host);
  if (!reason.empty()) throw InputError("solver of the steps: " + reason);
  const Problem problem(host);
  Judge judge(problem, accuracy, law(), watch_);
  Vector solution(problem.map(), 1);
  Kokkos::deep_copy(overwrite_view(solution),
                    upload<VectorView>("ccp::guess", gamma, gamma.size()));
  judge.clock().start();
  solver_->setup(problem);
  const Info info = solver_->solve(solution, judge);
  judge.clock().pause();
  const Measures measures = judge.measure(solution);
  const double residual = judge.residual(measures), error = measures[Measure::error];
  gamma = download(read_view(solution));
  const bool worse =
      tally_.solves == 0 || (!std::isnan(tally_.residual) && !(residual <= tally_.residual));
  if (worse) {
    tally_.residual = residual;
    tally_.status = to_string(info.status);
    tally_.message = info.message;
  }
  if (!std::isnan(tally_.error) && !(error <= tally_.error)) tally_.error = error;
  ++tally_.solves;
  tally_.outer += info.counters.outer;
  tally_.krylov += info.counters.krylov;
  tally_.seconds += judge.clock().elapsed();
}

}  // namespace ccp
