#include "solvers/bb/bb.hpp"

#include <algorithm>
#include <deque>

#include "solvers/core/extremes.hpp"
#include "solvers/core/vector_kernels.hpp"

namespace ccp {
namespace {

/// One contact: takes the last step, x <- x + lambda d, and finds the next direction d.
struct FindDirection {
  VectorView x, d;
  ConstVectorView r;
  GradientMetric metric;
  double length, lambda;

  KOKKOS_INLINE_FUNCTION void operator()(const int c, const Vec3& velocity, double& slope,
                                         double& size) const {
    const Vec3 from = load3(x, c) + lambda * load3(d, c), u = velocity + load3(r, c);
    const Vec3 step = metric.project_step(c, from, u, length) - from;
    slope = dot(u, step);
    size = metric.square(c, step);
    store3(x, c, from);
    store3(d, c, step);
  }
};

/// One triple's part of (N d).D^-1 (N d): nothing where x + lambda d is zero, as the gradient there
/// says nothing of the next step.
struct ImageSquare {
  ConstVectorView x, d;
  GradientMetric metric;
  double lambda;

  KOKKOS_INLINE_FUNCTION void operator()(const int t, const Vec3& velocity, double& square,
                                         double& unused) const {
    const Vec3 to = load3(x, t) + lambda * load3(d, t);
    square = dot(to, to) > 0 ? metric.inverse_square(t, velocity) : 0;
    unused = 0;
  }
};

}  // namespace

OptionList BbSolver::options() {
  OptionList list("bb");
  list.choice("metric", options_.metric, {"diagonal", "plain"},
              "steps relative to the contacts' own blocks of N, or to its mean diagonal")
      .choice("step", options_.step, {"bb1", "bb2", "alternate"},
              "Barzilai-Borwein length: long, short (one more pass), or in turns")
      .integer("memory", options_.memory, {1, 1000},
               "objectives that the line search looks back on (1: monotone)");
  options_.limits.add_to(list);
  return list;
}

void BbSolver::setup(const Problem& problem) {
  problem_ = &problem;
  delassus_ = problem.delassus();
  metric_ = gradient_metric(problem, options_.metric);
  const std::size_t size = 3 * static_cast<std::size_t>(problem.triples());
  x_ = VectorView("ccp::Bb::x", size);
  d_ = VectorView("ccp::Bb::d", size);
  image_x_ = delassus_->make_image("ccp::Bb::image_x");
  image_d_ = delassus_->make_image("ccp::Bb::image_d");
  if (!problem.pools().empty()) u_ = VectorView("ccp::Bb::u", size);
}

BbSolver::Direction BbSolver::find_direction(double length, double lambda) const {
  if (!problem_->pools().empty()) return find_direction_of_all(length, lambda);
  Direction found;
  delassus_->sum_velocities(image_x_, FindDirection{x_, d_, problem_->r(), metric_, length, lambda},
                            found.slope, found.size);
  return found;
}

BbSolver::Direction BbSolver::find_direction_of_all(double length, double lambda) const {
  const auto x = x_, d = d_, u = u_;
  vector_kernels::add(1, x, lambda, d, x);
  gradient_of(*problem_, *delassus_, image_x_, u);
  project_step(*problem_, metric_, x, u, length, d);
  const GradientMetric metric = metric_;
  Direction found;
  Kokkos::parallel_reduce(
      "ccp::Bb::direction_sums", range(problem_->triples()),
      KOKKOS_LAMBDA(const int t, double& slope, double& size) {
        const Vec3 step = load3(d, t) - load3(x, t);
        slope += dot(load3(u, t), step);
        size += metric.square(t, step);
        store3(d, t, step);
      },
      Kokkos::Sum<double>(found.slope), Kokkos::Sum<double>(found.size));
  return found;
}

double BbSolver::largest_step() const {
  const auto d = d_;
  const GradientMetric metric = metric_;
  return largest_finite(
      "ccp::Bb::largest_step", problem_->triples(),
      KOKKOS_LAMBDA(const int c) { return metric.speed(c, load3(d, c)); }, &problem_->ranks());
}

double BbSolver::image_square(double lambda) const {
  double square = 0, unused = 0;
  const ImageSquare part{x_, d_, metric_, lambda};
  if (problem_->pools().empty()) {
    delassus_->sum_velocities(image_d_, part, square, unused);
    return square;
  }
  delassus_->product_of(image_d_, u_);
  const auto u = u_;
  Kokkos::parallel_reduce(
      "ccp::Bb::image_square", range(problem_->triples()),
      KOKKOS_LAMBDA(const int t, double& sum) {
        double one = 0, none = 0;
        part(t, load3(u, t), one, none);
        sum += one;
      },
      square);
  return square;
}

Info BbSolver::solve(Vector& gamma, Observer& observer) {
  constexpr double sufficient_decrease = 1e-4, shortest = 1e-10, longest = 1e10;
  constexpr long iterations_between_refreshes = 1000;  // of what is carried along
  Info info = fixed_point_info(*problem_, "projected step [m/s]");
  if (problem_->all_triples() == 0) return info;
  problem_->to_world_axes(read_view(gamma), x_);
  Kokkos::deep_copy(ExecSpace(), d_, 0);
  double alpha = 1 / metric_.largest_curvature, lambda = 0, objective = 0;
  std::deque<double> history;
  const auto refresh = [&] {
    delassus_->compute_image(x_, image_x_);
    const double work = problem_->ranks().sum(vector_kernels::dot(problem_->r(), x_));
    objective = 0.5 * delassus_->energy(image_x_, x_) + work;
    ++info.counters.operator_applies;
  };
  refresh();
  history.push_back(objective);

  // The step of the last iteration is taken in the next one's pass.
  const auto catch_up = [&] {
    if (lambda != 0) vector_kernels::add(1, x_, lambda, d_, x_);
    lambda = 0;
  };
  const auto write_gamma = [&](Vector& out) {
    const VectorView view = overwrite_view(out);
    vector_kernels::add(1, x_, lambda, d_, view);
    problem_->to_contact_axes(view, view);
  };
  const auto step = [&](bool measure) {
    if (info.counters.outer % iterations_between_refreshes == iterations_between_refreshes - 1) {
      catch_up();
      refresh();
    }
    const Direction d = find_direction(alpha, lambda);
    delassus_->compute_image(d_, image_d_);
    ++info.counters.operator_applies;
    ++info.counters.projections;
    const double curvature = delassus_->energy(image_d_, d_);
    const double measured = measure ? largest_step() / alpha : 0;

    const auto change = [&](double length) {
      return length * (d.slope + 0.5 * length * curvature);
    };
    const double ceiling = *std::max_element(history.begin(), history.end());
    const double best = curvature > 0 ? -d.slope / curvature : 1;  // least objective along d
    lambda = 1;
    for (int k = 0; k < 30; ++k) {
      if (objective + change(lambda) <= ceiling + sufficient_decrease * lambda * d.slope) break;
      lambda = std::clamp(best, 0.1 * lambda, 0.5 * lambda);
    }
    add_image(image_x_, lambda, image_d_);
    objective += change(lambda);
    history.push_back(objective);
    if (static_cast<int>(history.size()) > options_.memory) history.pop_front();

    if (curvature > 0) {
      const bool is_short =
          options_.step == "bb2" || (options_.step == "alternate" && info.counters.outer % 2 == 1);
      const double image = is_short ? image_square(lambda) : 0;
      alpha = std::clamp(image > 0 ? curvature / image : d.size / curvature, shortest, longest);
    } else {
      alpha = std::min(10 * alpha, longest);
    }
    return measured;
  };
  info.status = iterate(options_.limits, *problem_, law(), observer, info, step, write_gamma);
  write_gamma(gamma);
  return info;
}

}  // namespace ccp
