#include "solvers/pgj/pgj.hpp"

#include "solvers/core/extremes.hpp"

namespace ccp {

OptionList PgjSolver::options() {
  OptionList list("pgj");
  list.number("omega", options_.omega, {0, 100, true}, "step relative to 3/trace(N_cc)")
      .number("lambda", options_.lambda, {0, 1, true}, "relaxation of the projected point");
  options_.limits.add_to(list);
  return list;
}

void PgjSolver::setup(const Problem& problem) {
  problem_ = &problem;
  delassus_ = problem.delassus();
  const auto diagonal = problem.shared_delassus().diagonal_blocks();
  step_ = DeviceArray<double*>("ccp::Pgj::step", problem.contacts());
  step_norm_ = DeviceArray<double*>("ccp::Pgj::step_norm", problem.triples());
  const auto step = step_;
  const double omega = options_.omega, scale = problem.delassus_scale();
  Kokkos::parallel_for(
      "ccp::Pgj::setup", range(problem.contacts()), KOKKOS_LAMBDA(const int c) {
        const double trace = diagonal(c, 0, 0) + diagonal(c, 1, 1) + diagonal(c, 2, 2);
        // Two immovable bodies have one, too: their contact must count in largest_step().
        step(c) = trace > 0 ? omega * 3 / trace : omega / scale;
      });
  if (!problem.pools().empty()) set_up_pools(problem);
}

void PgjSolver::set_up_pools(const Problem& problem) {
  const std::size_t size = 3 * static_cast<std::size_t>(problem.triples());
  u_ = VectorView("ccp::Pgj::u", size);
  target_ = VectorView("ccp::Pgj::target", size);
  metric_ = gradient_metric(problem, "diagonal");
  const auto weight = metric_.weight;
  const auto step = step_;
  const int contacts = problem.contacts();
  const double omega = options_.omega;
  Kokkos::parallel_for(
      "ccp::Pgj::set_up_pools", range(problem.triples()), KOKKOS_LAMBDA(const int t) {
        const double length = t < contacts ? step(t) : omega * weight(t, 1);
        weight(t, 0) = 1 / length;
        weight(t, 1) = weight(t, 2) = length;
        weight(t, 3) = 1;
      });
}

void PgjSolver::iterate_all(const VectorView& p, bool measure) const {
  const auto r = problem_->r();
  const auto u = u_, target = target_;
  delassus_->apply_fused(
      p, KOKKOS_LAMBDA(const int t, const Vec3& d) { store3(u, t, d + load3(r, t)); });
  project_step(*problem_, metric_, p, u, 1, target);
  const auto step_norm = step_norm_;
  const GradientMetric metric = metric_;
  const double lambda = options_.lambda;
  Kokkos::parallel_for(
      "ccp::Pgj::iterate_all", range(problem_->triples()), KOKKOS_LAMBDA(const int t) {
        const Vec3 old = load3(p, t), change = load3(target, t) - old;
        if (measure) step_norm(t) = metric.speed(t, change);
        store3(p, t, old + lambda * change);
      });
}

void PgjSolver::iterate(const VectorView& p, bool measure) const {
  if (!problem_->pools().empty()) return iterate_all(p, measure);
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
        step_norm(c) = norm(target - g) / step(c);
        return lambda == 1 ? target : g + lambda * (target - g);
      });
}

double PgjSolver::largest_step() const {
  const auto step_norm = step_norm_;
  return largest_finite(
      "ccp::Pgj::largest_step", problem_->triples(),
      KOKKOS_LAMBDA(const int c) { return step_norm(c); }, &problem_->ranks());
}

Info PgjSolver::solve(Vector& gamma, Observer& observer) {
  Info info = fixed_point_info(*problem_, "projected step [m/s]");
  if (problem_->all_triples() == 0) return info;
  const VectorView p("ccp::Pgj::impulse", 3 * static_cast<std::size_t>(problem_->triples()));
  problem_->to_world_axes(read_view(gamma), p);
  const auto write_gamma = [&](Vector& out) { problem_->to_contact_axes(p, overwrite_view(out)); };
  const auto step = [&](bool measure) {
    iterate(p, measure);
    ++info.counters.operator_applies;
    ++info.counters.projections;
    return measure ? largest_step() : 0;
  };
  info.status = ccp::iterate(options_.limits, *problem_, law(), observer, info, step, write_gamma);
  write_gamma(gamma);
  return info;
}

}  // namespace ccp
