#include "solvers/pgj/pgj.hpp"

#include <cmath>
#include <limits>

#include "solvers/core/scales.hpp"

namespace ccp {

OptionList PgjSolver::options() {
  return OptionList("pgj")
      .number("omega", options_.omega, {0, 100, true}, "step relative to 3/trace(N_cc)")
      .number("lambda", options_.lambda, {0, 1, true}, "relaxation of the projected point")
      .number("tolerance", options_.tolerance, {0},
              "own residual to stop at, in multiples of rms(r) (0: never)")
      .integer("max_iterations", options_.max_iterations, {1}, "limit of iterations")
      .integer("check_interval", options_.check_interval, {1},
               "iterations between evaluations of the own residual");
}

void PgjSolver::setup(const Problem& problem) {
  problem_ = &problem;
  delassus_ = problem.delassus();
  const auto diagonal = problem.shared_delassus().diagonal_blocks();
  step_ = DeviceArray<double*>("ccp::Pgj::step", problem.contacts());
  step_norm_ = DeviceArray<double*>("ccp::Pgj::step_norm", problem.contacts());
  const auto step = step_;
  const double omega = options_.omega;
  Kokkos::parallel_for(
      "ccp::Pgj::setup", range(problem.contacts()), KOKKOS_LAMBDA(const int c) {
        const double trace = diagonal(c, 0, 0) + diagonal(c, 1, 1) + diagonal(c, 2, 2);
        step(c) = trace > 0 ? omega * 3 / trace : 0;  // a contact of two immovable bodies stays
      });
}

void PgjSolver::iterate(const VectorView& p, bool measure) const {
  const auto r = problem_->r();
  const auto normal = problem_->normal();
  const auto mu = problem_->mu();
  const auto step = step_;
  const double lambda = options_.lambda;
  if (!measure) {
    delassus_->advance(
        p, KOKKOS_LAMBDA(const int c, const Vec3& g, const Vec3& d) {
          const Vec3 u = d + load3(r, c);
          const Vec3 target = project_friction_cone(g - step(c) * u, row3(normal, c), mu(c));
          return lambda == 1 ? target : g + lambda * (target - g);
        });
    return;
  }
  const auto step_norm = step_norm_;
  delassus_->advance(
      p, KOKKOS_LAMBDA(const int c, const Vec3& g, const Vec3& d) {
        const Vec3 u = d + load3(r, c);
        const Vec3 target = project_friction_cone(g - step(c) * u, row3(normal, c), mu(c));
        step_norm(c) = step(c) > 0 ? norm(target - g) / step(c) : 0;
        return lambda == 1 ? target : g + lambda * (target - g);
      });
}

double PgjSolver::largest_step() const {
  const auto step_norm = step_norm_;
  double largest = 0, sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Pgj::largest_step", range(problem_->contacts()),
      KOKKOS_LAMBDA(const int c, double& maximum, double& total) {
        if (step_norm(c) > maximum) maximum = step_norm(c);
        total += step_norm(c);
      },
      Kokkos::Max<double>(largest), Kokkos::Sum<double>(sum));
  if (problem_->contacts() == 0) return 0;
  return std::isfinite(sum) ? largest : std::numeric_limits<double>::quiet_NaN();
}

Info PgjSolver::solve(Vector& gamma, Observer& observer) {
  constexpr double growth_that_is_divergence = 1e6;
  Info info;
  info.own_residual_name = "projected step [m/s]";
  info.own_residual = std::numeric_limits<double>::quiet_NaN();
  const VectorView p("ccp::Pgj::impulse", 3 * static_cast<std::size_t>(problem_->contacts()));
  const auto write_gamma = [&](Vector& out) { problem_->to_contact_axes(p, overwrite_view(out)); };
  const auto finish = [&](Status status) {
    write_gamma(gamma);
    info.status = status;
    return info;
  };
  if (problem_->contacts() == 0) {
    info.own_residual = 0;
    return finish(Status::converged);
  }
  problem_->to_world_axes(read_view(gamma), p);
  if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
    return finish(Status::stopped_by_observer);
  }
  const double tolerance = options_.tolerance * velocity_scale(*problem_);
  double first = 0;
  while (info.counters.outer < options_.max_iterations) {
    const bool measure = info.counters.outer % options_.check_interval == 0;
    iterate(p, measure);
    ++info.counters.outer;
    ++info.counters.operator_applies;
    ++info.counters.projections;
    if (measure) {
      info.own_residual = largest_step();
      if (!std::isfinite(info.own_residual)) return finish(Status::diverged);
      if (first == 0) first = info.own_residual;
      if (info.own_residual > growth_that_is_divergence * first) return finish(Status::diverged);
    }
    if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
      return finish(Status::stopped_by_observer);
    }
    if (measure && tolerance > 0 && info.own_residual <= tolerance) {
      return finish(Status::converged);
    }
  }
  return finish(Status::max_iterations);
}

}  // namespace ccp
