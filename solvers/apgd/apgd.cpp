#include "solvers/apgd/apgd.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solvers/apgd/take_step.hpp"
#include "solvers/core/extremes.hpp"

namespace ccp {

using apgd::extrapolate, apgd::TakeStep;

OptionList ApgdSolver::options() {
  OptionList list("apgd");
  list.choice("metric", options_.metric, {"diagonal", "plain"},
              "steps relative to the contacts' own blocks of N, or to its mean diagonal")
      .number("shrink", options_.shrink, {0.1, 1}, "factor on the curvature L after an iteration")
      .flag("restart", options_.restart, "drop the momentum when it points uphill");
  options_.limits.add_to(list);
  return list;
}

void ApgdSolver::setup(const Problem& problem) {
  problem_ = &problem;
  delassus_ = problem.delassus();
  metric_ = gradient_metric(problem, options_.metric);
  const std::size_t size = 3 * static_cast<std::size_t>(problem.triples());
  x_ = VectorView("ccp::Apgd::x", size);
  x_old_ = VectorView("ccp::Apgd::x_old", size);
  z_ = VectorView("ccp::Apgd::z", size);
  image_x_ = delassus_->make_image("ccp::Apgd::image_x");
  image_y_ = delassus_->make_image("ccp::Apgd::image_y");
  image_z_ = delassus_->make_image("ccp::Apgd::image_z");
  if (delassus_->image_is_product()) d_ = VectorView("ccp::Apgd::d", size);
  if (problem.pools().empty()) return;
  y_ = VectorView("ccp::Apgd::y", size);
  u_ = VectorView("ccp::Apgd::u", size);
}

ApgdSolver::StepSums ApgdSolver::take_step(double beta, double length) const {
  if (!problem_->pools().empty()) return take_step_of_all(beta, length);
  StepSums sums;
  delassus_->sum_velocities(image_y_,
                            TakeStep{x_, x_old_, z_, problem_->r(), metric_, beta, length},
                            sums.descent, sums.size);
  return sums;
}

ApgdSolver::StepSums ApgdSolver::take_step_of_all(double beta, double length) const {
  const auto x = x_, x_old = x_old_, y = y_, u = u_, z = z_;
  Kokkos::parallel_for(
      "ccp::Apgd::extrapolate", range(problem_->triples()),
      KOKKOS_LAMBDA(const int t) { store3(y, t, extrapolate(x, x_old, beta, t)); });
  gradient_of(*problem_, *delassus_, image_y_, u);
  project_step(*problem_, metric_, y, u, length, z);
  const GradientMetric metric = metric_;
  StepSums sums;
  Kokkos::parallel_reduce(
      "ccp::Apgd::step_sums", range(problem_->triples()),
      KOKKOS_LAMBDA(const int t, double& descent, double& size) {
        const Vec3 to = load3(z, t);
        descent += dot(load3(u, t), to - load3(x, t));
        size += metric.square(t, to - load3(y, t));
      },
      Kokkos::Sum<double>(sums.descent), Kokkos::Sum<double>(sums.size));
  return sums;
}

double ApgdSolver::largest_step(double beta) const {
  const auto x = x_, x_old = x_old_, z = z_;
  const GradientMetric metric = metric_;
  return largest_finite(
      "ccp::Apgd::largest_step", problem_->triples(),
      KOKKOS_LAMBDA(const int c) {
        return metric.speed(c, load3(z, c) - extrapolate(x, x_old, beta, c));
      },
      &problem_->ranks());
}

void ApgdSolver::store_step(double beta) const {
  const auto x = x_, x_old = x_old_, z = z_, d = d_;
  Kokkos::parallel_for(
      "ccp::Apgd::store_step", range(problem_->triples()),
      KOKKOS_LAMBDA(const int c) { store3(d, c, load3(z, c) - extrapolate(x, x_old, beta, c)); });
}

/// Whether the quadratic model with curvature L lies below the objective at the step just taken.
bool ApgdSolver::overshoots(double size, double lipschitz, double beta) const {
  if (delassus_->image_is_product()) store_step(beta);
  return delassus_->energy_of_difference(image_z_, image_y_, d_) > lipschitz * size;
}

/// The image of y = x + beta (x - x_old); that of x_old is where the one of z was.
void ApgdSolver::blend(double beta) const {
  const auto x = image_x_, x_old = image_z_, y = image_y_;
  const int columns = static_cast<int>(x.extent(1));
  Kokkos::parallel_for(
      "ccp::Apgd::blend", range(x.extent(0)), KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < columns; ++k) y(i, k) = x(i, k) + beta * (x(i, k) - x_old(i, k));
      });
}

/// x.Nx / x.Dx for unit impulses along all normals (first axes): where L starts.
double ApgdSolver::curvature_of_ones() const {
  const auto z = z_;
  const auto normal = problem_->normal();
  const auto weight = metric_.weight;
  double size = 0;
  Kokkos::parallel_reduce(
      "ccp::Apgd::curvature_of_ones", range(problem_->triples()),
      KOKKOS_LAMBDA(const int c, double& total) {
        store3(z, c, row3(normal, c));
        total += weight(c, 0);
      },
      size);
  delassus_->compute_image(z_, image_z_);
  const double curvature = delassus_->energy(image_z_, z_) / problem_->ranks().sum(size);
  return curvature > 0 ? curvature : 1;
}

Info ApgdSolver::solve(Vector& gamma, Observer& observer) {
  Info info = fixed_point_info(*problem_, "projected step [m/s]");
  if (problem_->all_triples() == 0) return info;
  const double most = metric_.largest_curvature;
  double lipschitz = std::min(curvature_of_ones(), most), theta = 1, beta = 0;
  problem_->to_world_axes(read_view(gamma), x_);
  Kokkos::deep_copy(ExecSpace(), x_old_, x_);
  delassus_->compute_image(x_, image_x_);
  Kokkos::deep_copy(ExecSpace(), image_y_, image_x_);
  info.counters.operator_applies = 2;

  const auto write_gamma = [&](Vector& out) { problem_->to_contact_axes(x_, overwrite_view(out)); };
  const auto step = [&](bool measure) {
    StepSums sums;
    for (;;) {
      sums = take_step(beta, 1 / lipschitz);
      delassus_->compute_image(z_, image_z_);
      ++info.counters.operator_applies;
      ++info.counters.projections;
      if (lipschitz >= most || !overshoots(sums.size, lipschitz, beta)) break;
      lipschitz = std::min(2 * lipschitz, most);
    }
    const double measured = measure ? lipschitz * largest_step(beta) : 0;
    if (options_.restart && sums.descent > 0) {
      theta = 1;
      beta = 0;
    } else {
      const double next = 0.5 * theta * (std::sqrt(theta * theta + 4) - theta);
      beta = theta * (1 - theta) / (theta * theta + next);
      theta = next;
    }
    lipschitz *= options_.shrink;
    // x_old <- x <- z, and the images of x and of y = x + beta (x - x_old).
    std::swap(x_old_, x_);
    std::swap(x_, z_);
    std::swap(image_x_, image_z_);
    blend(beta);
    return measured;
  };
  info.status = iterate(options_.limits, *problem_, law(), observer, info, step, write_gamma);
  write_gamma(gamma);
  return info;
}

}  // namespace ccp
