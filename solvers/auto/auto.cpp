#include "solvers/auto/auto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/auto/trial_observer.hpp"
#include "solvers/auto/work.hpp"
#include "solvers/core/known_aim.hpp"
#include "solvers/core/stopwatch.hpp"
#include "solvers/core/vector_kernels.hpp"

namespace ccp {
namespace {

/// Passes on what the second solver does, with what the first has counted.
class SecondObserver : public Observer {
 public:
  SecondObserver(const Counters& before, Observer& outer) : before_(before), outer_(outer) {}
  bool observe(const Progress& progress, const std::function<void(Vector&)>& write) override {
    return outer_.observe({sum(before_, progress.counters), progress.own_residual}, write);
  }
  bool satisfied() const override { return outer_.satisfied(); }
  bool out_of_time() override { return outer_.out_of_time(); }

  static Counters sum(const Counters& a, const Counters& b) {
    Counters result;
    result.outer = a.outer + b.outer;
    result.krylov = a.krylov + b.krylov;
    result.operator_applies = a.operator_applies + b.operator_applies;
    result.preconditioner_applies = a.preconditioner_applies + b.preconditioner_applies;
    result.factorizations = a.factorizations + b.factorizations;
    result.projections = a.projections + b.projections;
    return result;
  }

 private:
  Counters before_;
  Observer& outer_;
};

}  // namespace

OptionList AutoSolver::options() {
  return OptionList("auto")
      .choice("law", options_.law, {"convex", "coulomb"}, "of contact")
      .integer("trial", options_.trial, {0},
               "iterations of apgd before it is judged; 0: vipm alone")
      .number("enough", options_.enough, OptionList::Range::positive(),
              "residual after them with which apgd goes on")
      .number("patience", options_.patience, {0},
              "most iterations of apgd, in parts of those that vipm is worth")
      .integer("few", options_.few, {0},
               "contacts between bodies up to which apgd may go on after its trial")
      .number("loose", options_.loose, {0}, "residual from which on it may with any number")
      .number("tolerance", options_.tolerance, {0}, "stop: own residual (0: never)");
}

SolverSpec AutoSolver::second_spec() const {
  return {law() == Law::convex ? "vipm" : "coulomb",
          {{"tolerance", number_text(options_.tolerance)}}};
}

std::string AutoSolver::why_unsupported(const ContactProblem& problem) const {
  return inner_solvers_.why_unsupported(second_spec(), problem);
}

void AutoSolver::setup(const Problem& problem) {
  problem_ = &problem;
  first_ = {"apgd", nullptr};
  second_ = {second_spec().id, nullptr};
}

Solver& AutoSolver::ready(Stage& stage, const SolverSpec& spec, Info& info) {
  if (!stage.solver) {
    const Stopwatch watch(info.timers[stage.id + "_setup"]);
    stage.solver = inner_solvers_.make(spec);
    stage.solver->setup(*problem_);
  }
  return *stage.solver;
}

/// The residual after the trial with which apgd goes on. Contacts between many bodies take it
/// hundreds of iterations to a residual of 1e-2 and thousands beyond it, more than vipm is worth;
/// between few it must nearly be there for more than a loose accuracy. Where N alone is known vipm
/// is dearer.
double AutoSolver::enough(double aim) const {
  if (aim >= options_.loose) return std::numeric_limits<double>::infinity();
  if (problem_->host().form == ContactProblem::Form::assembled) return options_.enough;
  if (problem_->contacts() > options_.few) return 0;
  return aim >= 1e-3 ? options_.enough : 0.01 * options_.enough;
}

Info AutoSolver::solve(Vector& gamma, Observer& observer) {
  Info info;
  info.own_residual_name = "residual in apgd, then that of " + second_.id;
  if (problem_->all_triples() == 0) {
    info.status = Status::converged;
    return info;
  }
  info.own_residual = std::numeric_limits<double>::quiet_NaN();
  if (vector_kernels::dot(read_view(gamma), read_view(gamma)) > 0) {
    info.own_residual = optimality(*problem_, law(), gamma).residual();
    if (info.own_residual <= options_.tolerance) {
      const auto write_gamma = [&](Vector& out) { Tpetra::deep_copy(out, gamma); };
      info.status = observer.observe({info.counters, info.own_residual}, write_gamma)
                        ? Status::stopped_by_observer
                        : Status::converged;
      info.message = "the guess will do";
      return info;
    }
  }
  const double aim = std::max(aim_of(observer, law()), options_.tolerance);
  if (law() == Law::convex && options_.trial > 0 && first(gamma, observer, aim, info)) return info;
  second(gamma, observer, info);
  return info;
}

/// @return whether that is the end
bool AutoSolver::first(Vector& gamma, Observer& observer, double aim, Info& info) {
  TrialObserver::Plan plan;
  plan.aim = aim;
  plan.tolerance = options_.tolerance;
  plan.trial = options_.trial;
  plan.enough = enough(aim);
  plan.worth = expected_work(*problem_, aim).worth();
  plan.patience = options_.patience;
  TrialObserver watch(*problem_, law(), plan, observer);
  Info end;
  {
    // It does not end by a measure of its own before the residual says so.
    Solver& solver = ready(first_, {first_.id, {{"tolerance", "0"}}}, info);
    const Stopwatch timer(info.timers[first_.id]);
    end = solver.solve(gamma, watch);
  }
  info.counters = end.counters;
  info.own_residual = watch.residual();
  info.message = fmt::format("{} {} iterations", first_.id, info.counters.outer);
  if (watch.stopped() || observer.out_of_time()) {
    info.status = Status::stopped_by_observer;
    return true;
  }
  if (!std::isfinite(watch.residual())) Kokkos::deep_copy(overwrite_view(gamma), 0.0);
  if (watch.done()) info.status = Status::converged;
  return watch.done();
}

void AutoSolver::second(Vector& gamma, Observer& observer, Info& info) {
  SecondObserver watch(info.counters, observer);
  Info end;
  {
    Solver& solver = ready(second_, second_spec(), info);
    const Stopwatch timer(info.timers[second_.id]);
    end = solver.solve(gamma, watch);
  }
  for (const auto& [part, time] : end.timers) info.timers[part] += time;
  info.message += fmt::format("{}{} {} iterations", info.message.empty() ? "" : ", then ",
                              second_.id, end.counters.outer);
  if (!end.message.empty()) info.message += ": " + end.message;
  info.counters = SecondObserver::sum(info.counters, end.counters);
  info.own_residual = end.own_residual;
  info.status = end.status;
}

}  // namespace ccp
