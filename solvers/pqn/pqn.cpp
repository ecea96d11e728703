#include "solvers/pqn/pqn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/core/optimality.hpp"
#include "solvers/core/scales.hpp"
#include "solvers/core/stopwatch.hpp"

namespace ccp {
OptionList PqnSolver::options() {
  return OptionList("pqn")
      .choice("law", options_.law, {"coulomb", "convex"}, "of contact")
      .number("delta", options_.delta, {0}, "regularisation of the matrix")
      .choice("delta_relative_to", options_.delta_relative_to, {"absolute", "min", "avg", "max"},
              "delta counts in 1/kg, or in diagonal entries of N")
      .integer("krylov_max_iterations", options_.krylov.max_iterations, {1},
               "m: limit per step; the step is used all the same")
      .number("krylov_tolerance", options_.krylov_tolerance, {0, 1, true},
              "eps: relative residual of a step")
      .integer("gmres_restart", options_.krylov.restart, {1}, "basis size of gmres")
      .number("omega", options_.omega, OptionList::Range::positive(),
              "smoothing, relative to rms(r)")
      .number("impulse_scale", options_.impulse_scale, {0},
              "rho, times trace(N)/3n (0: 1/kg, the paper's)")
      .number("tolerance", options_.tolerance, {0}, "stop: merit g (0: never)")
      .integer("max_iterations", options_.max_iterations, {1}, "limit of quasi-Newton steps")
      .integer("max_products", options_.max_products, {1}, "limit of products in GMRES")
      .choice("fallback", options_.fallback, {"none", "gauss_seidel"},
              "what goes on from the best iterate where the method fails")
      .integer("fallback_sweeps", options_.fallback_sweeps, {1}, "limit of Gauss-Seidel sweeps");
}

void PqnSolver::setup(const Problem& problem) {
  problem_ = &problem;
  krylov_.reset();
  gauss_seidel_.reset();
  system_ = Teuchos::rcp(new pqn::Linearisation(problem));
  if (problem.contacts() == 0) return;
  pqn::Linearisation::Parameters parameters;
  parameters.coulomb = options_.law == "coulomb";
  parameters.rho =
      options_.impulse_scale > 0 ? options_.impulse_scale * problem.delassus_scale() : 1;
  parameters.omega = options_.omega * velocity_scale(problem);
  const auto w = system_->diagonal();
  const std::string& unit = options_.delta_relative_to;
  parameters.delta = options_.delta * (unit == "min"   ? w.least
                                       : unit == "avg" ? w.mean
                                       : unit == "max" ? w.largest
                                                       : 1);
  system_->set_parameters(parameters);
  krylov_ = std::make_unique<KrylovSolver>(options_.krylov, system_, system_->block_inverse());
  if (options_.fallback == "gauss_seidel") {
    SweepOptions sweep;
    sweep.law = law();
    gauss_seidel_ = std::make_unique<GaussSeidel>(problem, sweep);
  }
}

Info PqnSolver::solve(Vector& gamma, Observer& observer) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double growth_that_is_divergence = 1e12;
  Info info;
  info.own_residual_name = "merit g (Koziara 2019 eq. 40)";
  const std::size_t size = 3 * static_cast<std::size_t>(problem_->contacts());
  if (size == 0) {
    info.status = Status::converged;
    return info;
  }
  const VectorView p("ccp::Pqn::impulse", size), best("ccp::Pqn::best", size);
  const auto c_vector = Teuchos::rcp(new Vector(problem_->map(), 1)),
             dp_vector = Teuchos::rcp(new Vector(problem_->map(), 1));
  const VectorView c = read_write_view(*c_vector), dp = read_write_view(*dp_vector);
  const auto write_gamma = [&](Vector& out) { problem_->to_contact_axes(p, overwrite_view(out)); };
  const long applies_before = system_->applies(),
             preconditioner_before = krylov_->preconditioner_applies();
  long sweeps = 0;
  const auto count = [&] {
    info.counters.operator_applies = system_->applies() - applies_before + sweeps;
    info.counters.preconditioner_applies =
        krylov_->preconditioner_applies() - preconditioner_before;
  };
  // The merit does not fall from step to step: what is handed back is the best iterate.
  double best_merit = infinity, early_merit = infinity;
  const auto look = [&] {
    if (info.own_residual < best_merit) {
      best_merit = info.own_residual;
      Kokkos::deep_copy(ExecSpace(), best, p);
    }
  };
  const auto take_best = [&] {
    if (best_merit == infinity || info.own_residual <= best_merit) return;
    Kokkos::deep_copy(p, best);
    info.own_residual = best_merit;
  };
  const auto finish = [&](Status status, const std::string& message = "") {
    system_->on_apply = nullptr;  // the observer may not outlive this call
    count();
    if (!observer.satisfied()) take_best();
    write_gamma(gamma);
    info.message = message;
    // The merit is a sum of squares over the contacts, of which one may have all.
    const double tolerance = std::sqrt(options_.tolerance * problem_->contacts());
    info.status = confirmed(status, *problem_, law(), gamma, tolerance, info.message);
    return info;
  };
  // The last line of the paper's Algorithm 1.
  const auto fail = [&](Status status, const std::string& why) {
    if (!gauss_seidel_) return finish(status, why);
    constexpr int sweeps_between_looks = 10;
    const Stopwatch watch(info.timers["gauss_seidel"]);
    const long steps = info.counters.outer;
    take_best();
    gauss_seidel_->set(p);
    const auto end = [&](Status result) {
      return finish(result,
                    fmt::format("{} after {} steps ({}), then {} Gauss-Seidel sweeps",
                                to_string(status), steps, why, info.counters.outer - steps));
    };
    for (int k = 1; k <= options_.fallback_sweeps; ++k) {
      gauss_seidel_->sweep(false, false);
      ++info.counters.outer;
      ++info.counters.projections;
      gauss_seidel_->get(p);
      if (k % sweeps_between_looks == 0 || k == options_.fallback_sweeps) {
        gauss_seidel_->refresh();
        info.own_residual = system_->update(p, c);
        if (!std::isfinite(info.own_residual)) return end(Status::diverged);
        look();
      }
      sweeps = k;
      count();
      if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
        return end(Status::stopped_by_observer);
      }
      if (info.own_residual <= options_.tolerance) return end(Status::converged);
    }
    return end(status);
  };
  system_->on_apply = [&observer] {
    if (observer.out_of_time()) throw OutOfTime{};
  };

  problem_->to_world_axes(read_view(gamma), p);
  while (true) {
    {
      const Stopwatch watch(info.timers["assembly"]);
      info.own_residual = system_->update(p, c);
    }
    count();
    if (!std::isfinite(info.own_residual) ||
        info.own_residual > growth_that_is_divergence * std::max(best_merit, 1.0)) {
      return fail(Status::diverged, "the merit grows without bound");
    }
    look();
    if (info.counters.outer <= options_.max_iterations / 2) early_merit = best_merit;
    if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
      return finish(Status::stopped_by_observer);
    }
    if (info.own_residual <= options_.tolerance) return finish(Status::converged);
    if (info.counters.outer >= options_.max_iterations ||
        info.counters.krylov >= options_.max_products) {
      if (best_merit < early_merit) return fail(Status::max_iterations, "too slow");
      return fail(Status::diverged, "no progress in the later half of the iterations");
    }

    Kokkos::deep_copy(dp, 0.0);
    KrylovResult result;
    try {
      const Stopwatch watch(info.timers["krylov"]);
      result = krylov_->solve(c_vector, dp_vector, options_.krylov_tolerance);
    } catch (const OutOfTime&) {
      count();
      observer.observe({info.counters, info.own_residual}, write_gamma);
      return finish(Status::stopped_by_observer, "limit passed inside a Krylov solve");
    }
    info.counters.krylov += result.iterations;
    if (result.breakdown) return fail(Status::diverged, "GMRES broke down: " + result.message);
    system_->step(p, dp);
    ++info.counters.outer;
    ++info.counters.projections;
  }
}

}  // namespace ccp
