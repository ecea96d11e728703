#include "solvers/coulomb/coulomb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/base/error.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/vector_kernels.hpp"
#include "solvers/coulomb/anderson.hpp"
#include "solvers/coulomb/best_impulses.hpp"
#include "solvers/coulomb/newton_shift.hpp"
#include "solvers/coulomb/sweep_observer.hpp"

namespace ccp {
namespace {

constexpr const char* own_residual_name = "coulomb_residual";

void add_work(const Counters& from, Counters& to) {
  to.krylov += from.krylov;
  to.operator_applies += from.operator_applies;
  to.preconditioner_applies += from.preconditioner_applies;
  to.factorizations += from.factorizations;
  to.projections += from.projections;
}

/// Ends an inner solve of the fixed point when its impulses are accurate enough in the terms of
/// `residual`, looked at in iterations 1, 2, ... 10, 11, 12, 13, 14, ... ever more rarely, and
/// passes limits on.
class InnerObserver : public Observer {
 public:
  InnerObserver(const ShiftedProblem& shifted, Observer& outer)
      : shifted_(shifted), outer_(outer), gamma_(shifted.problem().map(), 1) {}

  void aim(double target) {
    target_ = target;
    next_ = 1;
    accurate_ = false;
  }
  bool observe(const Progress& progress, const std::function<void(Vector&)>& write) override {
    iterations_ = progress.counters.outer;
    if (out_of_time()) return true;
    if (iterations_ < next_) return false;
    next_ = std::max(next_ + 1, next_ + next_ / 10);
    write(gamma_);
    return accurate_ = shifted_.convex_residual(gamma_) <= target_;
  }
  bool satisfied() const override { return accurate_; }
  bool out_of_time() override { return late_ = late_ || outer_.out_of_time(); }
  bool late() const { return late_; }
  /// Of the last solve.
  long iterations() const { return iterations_; }

 private:
  const ShiftedProblem& shifted_;
  Observer& outer_;
  Vector gamma_;
  double target_ = 0;
  long next_ = 1, iterations_ = 0;
  bool accurate_ = false, late_ = false;
};

/// Looks at every iteration of the inner solver as one of newton, ends it when Coulomb's law holds
/// and keeps the best impulses.
class NewtonObserver : public PhaseObserver {
 public:
  NewtonObserver(const Problem& problem, const CoulombOptions& options, const NewtonShift& shift,
                 Observer& outer)
      : PhaseObserver(problem, outer), options_(options), shift_(shift) {}

  bool observe(const Progress& progress, const std::function<void(Vector&)>& write) override {
    Counters counters = progress.counters;
    counters.krylov += shift_.iterations();
    look(write, counters, options_.tolerance);
    pass_on();
    gain_.see(residual(), counters.outer);
    return stopped() || reached() || stuck() || counters.outer >= options_.max_outer;
  }
  /// Nothing was gained in many iterations.
  bool stuck() const { return gain_.since() >= patience; }

  static constexpr long patience = 10;  ///< iterations

 private:
  const CoulombOptions& options_;
  const NewtonShift& shift_;
  GainWatch gain_;
};

void set_if_known(OptionList& options, const std::string& name, double value) {
  if (options.has(name)) options.set(name, number_text(value));
}

}  // namespace

OptionList CoulombSolver::options() {
  return OptionList("coulomb")
      .text("inner", options_.inner, "a solver of the convex law, id or id[name=value,...]")
      .choice("iteration", options_.iteration, {"auto", "newton", "anderson", "plain", "lagged"},
              "of s = mu |u_t|; lagged: one pass; auto: newton where the inner solver can, with "
              "sweeps and anderson where it gives up, else anderson")
      .integer("memory", options_.memory, {1}, "differences that anderson keeps")
      .number("inner_accuracy", options_.inner_accuracy, {0, 1, true, true},
              "anderson, plain, lagged: residual of an inner solve per smallest own residual")
      .number("sweep_to", options_.sweep_to, {0, 1, true, true},
              "auto: where newton gives up, pgs[law=coulomb] sweeps to that own residual")
      .number("krylov_tolerance", options_.krylov_tolerance, {0, 1, true, true},
              "newton: of its linear systems")
      .number("tolerance", options_.tolerance, {0}, "stop: own residual (0: never)")
      .integer("max_outer", options_.max_outer, {1},
               "limit of inner solves; with newton, of inner iterations");
}

void CoulombSolver::check_options(const std::vector<std::string>& given) const {
  const SolverSpec spec = SolverSpec::parse(options_.inner);
  const auto refuse = [&](const std::string& option, const std::string& expected,
                          const std::string& found) {
    throw InputError("solver coulomb", "option " + option, expected, found);
  };
  for (const auto& [name, value] : spec.options) {
    if (name == "tolerance") {
      refuse("inner", "no tolerance: coulomb sets it", name + "=" + value);
    }
  }
  const std::unique_ptr<Solver> inner = inner_solvers_.make(spec);
  if (inner->law() != Law::convex || !inner->can_be_inner()) {
    refuse("inner", "a solver of the convex law and of its cones",
           "'" + options_.inner + "'" +
               (inner->law() == Law::convex ? "" : ", which solves Coulomb's law itself"));
  }
  const bool can = dynamic_cast<FollowsVelocity*>(inner.get()) != nullptr;
  if (options_.iteration == "newton" && !can) {
    refuse("iteration", "anderson, plain or lagged with inner=" + spec.id,
           "newton, which needs an inner solver that solves for s as well (vipm)");
  }
  const bool newton = options_.iteration == "newton" || (options_.iteration == "auto" && can);
  for (const std::string& name : given) {
    if (name == "memory" &&
        (newton || options_.iteration == "plain" || options_.iteration == "lagged")) {
      refuse(name, "only with iteration=anderson", "it");
    }
    if (name == "inner_accuracy" && newton) refuse(name, "it without newton", "it with newton");
    if (name == "sweep_to" && !(newton && options_.iteration == "auto")) {
      refuse(name, "only with iteration=auto and an inner solver that newton takes (vipm)", "it");
    }
    if (name == "krylov_tolerance" && !newton) refuse(name, "only with newton", "it");
  }
}

std::string CoulombSolver::why_unsupported(const ContactProblem& problem) const {
  return inner_solvers_.why_unsupported(SolverSpec::parse(options_.inner), problem);
}

void CoulombSolver::setup(const Problem& problem) {
  problem_ = &problem;
  sweeper_ = nullptr;  // it is of the problem before
  shifted_ = std::make_unique<ShiftedProblem>(problem);
  f_ = VectorView("ccp::Coulomb::f", problem.contacts());
  inner_ = inner_solvers_.make(SolverSpec::parse(options_.inner));
  follows_ = options_.iteration == "auto" || options_.iteration == "newton"
                 ? dynamic_cast<FollowsVelocity*>(inner_.get())
                 : nullptr;
  inner_->setup(shifted_->problem());
}

Info CoulombSolver::solve(Vector& gamma, Observer& observer) {
  Info info;
  info.own_residual = optimality(*problem_, Law::coulomb, gamma).residual();
  if (info.own_residual <= options_.tolerance) {  // the guess will do, or there are no contacts
    const auto write_gamma = [&](Vector& out) {
      Kokkos::deep_copy(overwrite_view(out), read_view(gamma));
    };
    const bool stopped = problem_->contacts() > 0 &&
                         observer.observe({info.counters, info.own_residual}, write_gamma);
    info.status = stopped ? Status::stopped_by_observer : Status::converged;
  } else {
    info = follows_ ? newton(gamma, observer) : fixed_point(gamma, observer, info);
    // The nearer the answer, the better the fixed point converges: sweeps bring it nearer. Where
    // they are slow it is tried from where it is, and each time they may go on for longer.
    double aim = options_.sweep_to;
    long patience = 4 * SweepObserver::sweeps_per_outer;
    const auto gave_up = [&] {
      return follows_ && options_.iteration == "auto" &&
             (info.status == Status::stagnated || info.status == Status::numerical_error);
    };
    while (gave_up()) {
      if (info.own_residual > aim) info = sweep(aim, patience, gamma, observer, info);
      if (gave_up()) info = fixed_point(gamma, observer, info);
      if (info.own_residual <= aim) aim = 0.1 * info.own_residual;
      patience *= 2;
    }
  }
  info.own_residual_name = own_residual_name;
  return info;
}

/// s = mu |u_t|.
void CoulombSolver::start(const Vector& gamma) {
  Kokkos::deep_copy(shifted_->s(), 0.0);
  shifted_->residual(gamma, f_);
  Kokkos::deep_copy(shifted_->s(), f_);
  shifted_->apply();
}

Info CoulombSolver::newton(Vector& gamma, Observer& observer) {
  start(gamma);
  NewtonShift shift(*shifted_, {options_.krylov_tolerance});
  NewtonObserver watch(*problem_, options_, shift, observer);
  OptionList inner_options = inner_->options();
  set_if_known(inner_options, "tolerance", 0);
  set_if_known(inner_options, "max_outer", options_.max_outer);
  follows_->following = &shift;
  Info info = inner_->solve(gamma, watch);
  follows_->following = nullptr;
  info.counters.krylov += shift.iterations();
  info.own_residual = watch.hand_back_best(observer.satisfied(), gamma);
  if (watch.stopped() || observer.out_of_time()) {
    info.status = Status::stopped_by_observer;
  } else if (info.own_residual <= options_.tolerance) {
    info.status = Status::converged;
    info.message.clear();
  } else if (watch.stuck()) {
    info.status = Status::stagnated;
    info.message = fmt::format("newton gained nothing in {} iterations", NewtonObserver::patience);
  } else if (info.status == Status::stopped_by_observer) {
    info.status = Status::max_iterations;
  }
  return info;
}

/// Sweeps of pgs[law=coulomb] until the own residual is at most aim, or they are slow.
/// @param patience  sweeps before that is asked
/// @param before    what was done until then
/// @return with the status stagnated where the fixed point is to go on
Info CoulombSolver::sweep(double aim, long patience, Vector& gamma, Observer& observer,
                          const Info& before) {
  if (!sweeper_) {
    sweeper_ = inner_solvers_.make(SolverSpec::parse("pgs[law=coulomb,tolerance=0]"));
    sweeper_->setup(*problem_);
  }
  const long most = options_.max_outer * SweepObserver::sweeps_per_outer;
  SweepObserver watch(*problem_, std::max(aim, options_.tolerance), most, patience, before.counters,
                      observer);
  const Info swept = sweeper_->solve(gamma, watch);
  Info info = before;
  for (const auto& [part, time] : swept.timers) info.timers[part] += time;
  info.counters = watch.counters();
  info.own_residual = watch.hand_back_best(watch.satisfied(), gamma);
  info.message += fmt::format(", then {} sweeps", swept.counters.outer);
  if (watch.stopped()) {
    info.status = Status::stopped_by_observer;
  } else if (info.own_residual <= options_.tolerance) {
    info.status = Status::converged;
  } else if (watch.reached() || watch.slow()) {
    info.status = Status::stagnated;
  } else {
    info.status = Status::max_iterations;
  }
  return info;
}

/// @param before  what newton and sweeps did, whose best impulses are the guess
Info CoulombSolver::fixed_point(Vector& gamma, Observer& observer, const Info& before) {
  Info info = before;
  start(gamma);
  const bool accelerated = options_.iteration == "auto" || options_.iteration == "anderson";
  const bool after_sweeps = follows_ != nullptr;
  // Near the answer what an inner solve leaves must not be larger than what s has left to change;
  // and `residual` is quadratic in velocities.
  const double inner_accuracy = after_sweeps ? 1e-6 : options_.inner_accuracy;
  const long first = info.counters.outer;
  const long most = first + (options_.iteration == "lagged" ? 1 : options_.max_outer);
  InnerObserver watch(*shifted_, observer);
  Anderson anderson(f_.extent(0), accelerated ? options_.memory : 0);
  OptionList inner_options = inner_->options();
  BestImpulses best(*problem_);
  GainWatch gain;
  long iterations = 0;
  double own_units = 0.1;  ///< of the inner solver's tolerance, per `residual`
  const auto write_gamma = [&](Vector& out) {
    Kokkos::deep_copy(overwrite_view(out), read_view(gamma));
  };
  const auto finish = [&](Status status, const std::string& message = "") {
    if (!observer.satisfied() && std::isfinite(best.residual())) {
      Kokkos::deep_copy(overwrite_view(gamma), read_view(best.gamma()));
      info.own_residual = best.residual();
    }
    info.status = status;
    info.message =
        fmt::format("{}{} iterations in {} inner solves", message.empty() ? "" : message + "; ",
                    iterations, info.counters.outer - first);
    if (!before.message.empty()) info.message = before.message + ", then " + info.message;
    return info;
  };
  info.own_residual = optimality(*problem_, Law::coulomb, gamma).residual();
  best.offer(gamma, info.own_residual);
  if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
    return finish(Status::stopped_by_observer);
  }
  while (true) {
    const double target =
        std::max(inner_accuracy * std::min(best.residual(), 1.0), 0.1 * options_.tolerance);
    set_if_known(inner_options, "tolerance", own_units * target);
    watch.aim(target);
    const Info inner = inner_->solve(gamma, watch);
    ++info.counters.outer;
    iterations += watch.iterations();
    add_work(inner.counters, info.counters);
    for (const auto& [part, time] : inner.timers) info.timers[part] += time;
    // The inner solver has a measure of its own: where that ends it too early, less of it.
    if (inner.status == Status::converged && shifted_->convex_residual(gamma) > target) {
      own_units = std::max(own_units / 100, 1e-12);
    }
    shifted_->residual(gamma, f_);
    info.own_residual = optimality(*problem_, Law::coulomb, gamma).residual();
    best.offer(gamma, info.own_residual);
    if (observer.observe({info.counters, info.own_residual}, write_gamma) || watch.late()) {
      return finish(Status::stopped_by_observer);
    }
    if (!std::isfinite(info.own_residual)) {
      return finish(Status::numerical_error, "the inner solve became NaN");
    }
    if (info.own_residual <= options_.tolerance) return finish(Status::converged);
    if (info.counters.outer >= most) return finish(Status::max_iterations);
    gain.see(info.own_residual, info.counters.outer);
    if (after_sweeps && gain.since() >= 60) return finish(Status::stagnated);
    anderson.step(shifted_->s(), f_);
    shifted_->apply();
  }
}

}  // namespace ccp
