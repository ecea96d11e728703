#include "solvers/vipm/vipm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/base/error.hpp"
#include "solvers/core/scales.hpp"
#include "solvers/core/stopwatch.hpp"
#include "solvers/core/vector_kernels.hpp"
#include "solvers/velocity_space/make_system.hpp"
#include "solvers/velocity_space/velocity_solver.hpp"
#include "solvers/vipm/contact_state.hpp"

namespace ccp {
OptionList VipmSolver::options() {
  return OptionList("vipm")
      .choice("linear_solver", options_.linear_solver, {"auto", "cg", "cholesky"},
              "for S: cg until a factorisation is cheaper, or one of the two throughout")
      .choice("preconditioner", options_.preconditioner, VelocitySystem::preconditioners(),
              "of cg; auto: block_ic0, block_ic1 when iterations become many")
      .choice("ordering", options_.ordering, VelocitySystem::orderings(),
              "bodies that block_ic0 eliminates first: high ones, those far from the ground")
      .number("forcing", options_.forcing, {0, 1, true},
              "cg: largest momentum error of a body per mu / mean(gamma_n)")
      .number("predictor_factor", options_.predictor_factor, {1},
              "the predictor's is so much larger")
      .integer("cg_max_iterations", options_.cg_max_iterations, {1},
               "limit per direction; a direction that meets it is not used")
      .integer("refinements", options_.refinements, {0}, "of a direction solved by factorisation")
      .number("step_fraction", options_.step_fraction, {0, 1, true},
              "part of the largest step inside the cones that is taken")
      .number("start", options_.start, OptionList::Range::positive(),
              "scales the starting impulses")
      .number("tolerance", options_.tolerance, {0}, "stop: own residual")
      .integer("max_outer", options_.max_outer, {1}, "limit of outer iterations");
}

void VipmSolver::check_options(const std::vector<std::string>& given) const {
  const std::vector<std::string> of_cg = {"preconditioner", "ordering", "forcing",
                                          "predictor_factor", "cg_max_iterations"};
  const auto refuse = [&](const std::string& name, const std::string& expected) {
    throw InputError("solver vipm", "option " + name, expected,
                     "it beside linear_solver=" + options_.linear_solver);
  };
  for (const std::string& name : given) {
    if (options_.linear_solver == "cholesky" &&
        std::find(of_cg.begin(), of_cg.end(), name) != of_cg.end()) {
      refuse(name, "only with conjugate gradients: a factorisation needs none");
    }
    if (options_.linear_solver == "cg" && name == "refinements") {
      refuse(name, "only with a factorisation");
    }
  }
}

void VipmSolver::setup(const Problem& problem) {
  problem_ = &problem;
  system_ = make_velocity_system(problem, options_.ordering, options_.preconditioner);
  if (!system_->iterative() && options_.linear_solver == "cg") {
    throw InputError("solver vipm", "option linear_solver", "cholesky or auto",
                     "cg, for a problem of which only N is known");
  }
}

Info VipmSolver::solve(Vector& gamma, Observer& observer) {
  Info info;
  info.own_residual_name = "max(gamma.u s/(n q^2), momentum error/q)";
  const int n = problem_->contacts();
  if (n == 0) {
    info.status = Status::converged;
    return info;
  }
  vipm::ContactState state(*problem_, system_->contact_order());
  const std::string method = system_->iterative() ? options_.linear_solver : "cholesky";
  VelocitySolver linear({method, options_.cg_max_iterations}, *system_, observer, info);
  const std::size_t size = 3 * static_cast<std::size_t>(n), unknowns = system_->size();
  const auto dz_vector = Teuchos::rcp(new Vector(system_->map(), 1)),
             b_vector = Teuchos::rcp(new Vector(system_->map(), 1));
  const VectorView dz = read_write_view(*dz_vector), b = read_write_view(*b_vector);
  const VectorView z("ccp::Vipm::z", unknowns), momentum("ccp::Vipm::momentum", unknowns),
      correction("ccp::Vipm::correction", unknowns);
  const VectorView d("ccp::Vipm::d", size);  // contact velocities, or impulses on their way to load
  const auto write_gamma = [&](Vector& out) {
    const VectorView view = overwrite_view(out);
    state.write_gamma(view);
    problem_->to_contact_axes(view, view);
  };
  const double s = problem_->delassus_scale();
  const double q = velocity_scale(*problem_);

  const auto balance = [&](const ConstVectorView& impulses) {
    system_->load(impulses, z);
    system_->contact_velocities(z, d);
  };
  const auto guess = read_view(gamma);
  if (vector_kernels::dot(guess, guess) > 0) {
    // Warm: as far inside the cones as the guess is wrong.
    const VectorView start("ccp::Vipm::start", size);
    problem_->to_world_axes(guess, d);
    state.reorder(d, start);
    const double typical = root_mean_square(start);
    balance(start);
    const vipm::ContactState::Guess quality = state.judge(start, d);
    const double wrong = std::clamp(std::max({quality.product / (n * typical * q),
                                              quality.impulse / typical, quality.velocity / q}),
                                    1e-8, 1.0);
    state.start_impulses(start, 0.1 * wrong * typical);
    balance(state.gamma());
    state.start_velocities(d, wrong * q);
  } else {
    // Cold: impulses that would give velocities above the size of r.
    state.start_impulses(options_.start * q / s);
    balance(state.gamma());
    state.start_velocities(d, q);
  }

  // The best iterate is the present one as a rule; `best` is filled when a step made it worse.
  VectorView best;
  double best_residual = std::numeric_limits<double>::infinity(), theta = 0;
  bool best_is_present = true;
  const auto keep_best = [&] {
    if (info.own_residual < best_residual) {
      best_residual = info.own_residual;
      best_is_present = true;
    } else if (best_is_present) {
      if (best.extent(0) == 0) best = VectorView("ccp::Vipm::best", size);
      vector_kernels::add(1, state.gamma(), -theta, state.dgamma(), best);  // the step undone
      best_is_present = false;
    }
  };
  const auto finish = [&](Status status, const std::string& message = "") {
    if (!best_is_present) {
      Kokkos::deep_copy(state.gamma(), best);
      info.own_residual = best_residual;
    }
    write_gamma(gamma);
    info.status = status;
    info.message = message;
    return info;
  };
  using Outcome = VelocitySolver::Outcome;
  const auto give_up = [&](Outcome outcome) {
    if (outcome == Outcome::out_of_time) {
      observer.observe({info.counters, info.own_residual}, write_gamma);
      return finish(Status::stopped_by_observer, "limit passed inside a linear solve");
    }
    return finish(Status::stagnated, linear.message());
  };

  while (true) {
    system_->contact_velocities(z, d);
    const vipm::ContactState::Sums sums = state.scale(d);
    system_->load(state.gamma(), momentum);
    vector_kernels::add(1, z, -1, momentum, momentum);
    const double unbalanced = system_->speed(momentum);
    const double mu = sums.product / (2.0 * n);
    info.own_residual = std::max(sums.product * s / (n * q * q), (unbalanced + sums.gap) / q);
    keep_best();
    if (!std::isfinite(info.own_residual)) {
      return finish(Status::numerical_error, "iterate left the cone or became NaN");
    }
    if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
      return finish(Status::stopped_by_observer);
    }
    if (info.own_residual <= options_.tolerance) return finish(Status::converged);
    if (info.counters.outer >= options_.max_outer) return finish(Status::max_iterations);

    {
      const Stopwatch watch(info.timers["assembly"]);
      system_->assemble(state.k());
    }
    linear.matrix_changed();
    const double speed = options_.forcing * mu / (sums.normal / n);

    // Predictor: the affine direction.
    const auto right_hand_side = [&](bool predictor) {
      state.right_hand_side(predictor, d);
      system_->load(d, b);
      vector_kernels::add(1, b, -1, z, b);
    };
    right_hand_side(true);
    Kokkos::deep_copy(dz, 0.0);
    Outcome outcome = linear.solve(b_vector, dz_vector, options_.predictor_factor * speed);
    if (outcome != Outcome::solved) return give_up(outcome);
    system_->contact_velocities(dz, d);
    auto step = state.predictor(d);
    const double reach = std::min(1.0, step.theta);
    const double ahead = (step.product + reach * (step.cross + reach * step.square)) / (2.0 * n);
    const double sigma = std::clamp(std::pow(ahead / mu, 2), 1e-8, 1.0);

    // Corrector.
    state.corrector_target(sigma * mu);
    right_hand_side(false);
    outcome = linear.solve(b_vector, dz_vector, speed);
    if (outcome != Outcome::solved) return give_up(outcome);
    system_->contact_velocities(dz, d);
    step = state.direction(d);
    if (linear.direct()) {
      for (int k = 0; k < options_.refinements; ++k) {
        // What the direction leaves of the momentum balance, from the direction as it is rounded.
        state.next_impulses(d);
        system_->load(d, b);
        vector_kernels::add(1, b, -1, z, b);
        vector_kernels::add(1, b, -1, dz, b);
        Kokkos::deep_copy(correction, dz);
        if (linear.solve(b_vector, dz_vector, 0) != Outcome::solved) break;
        system_->contact_velocities(dz, d);
        step = state.refine(d);
        vector_kernels::add(1, dz, 1, correction, dz);
      }
    }

    theta = std::min(1.0, options_.step_fraction * step.theta);
    ++info.counters.outer;
    if (!std::isfinite(step.cross)) {
      return finish(Status::numerical_error, "the direction has become NaN");
    }
    if (theta <= 1e-8) return finish(Status::stagnated, "step length fell below 1e-8");
    state.advance(theta);
    vector_kernels::add(1, z, theta, dz, z);
  }
}

}  // namespace ccp
