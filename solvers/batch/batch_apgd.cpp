#include "solvers/batch/batch_apgd.hpp"

#include "solvers/apgd/take_step.hpp"
#include "solvers/batch/judge.hpp"
#include "solvers/batch/product.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

using apgd::extrapolate, apgd::TakeStep;
using batch::each, batch::each_stage, batch::sum, batch::sum_stages, batch::Team;

/// N y of one contact.
struct Extrapolated {
  VectorView d, d_old;
  double beta;
  KOKKOS_INLINE_FUNCTION Vec3 operator()(int c) const { return extrapolate(d, d_old, beta, c); }
};

struct ApgdSums {
  double descent = 0;  ///< (N y + r).(z - x)
  double size = 0;     ///< d.Dd
  KOKKOS_INLINE_FUNCTION void add(const ApgdSums& other) {
    descent += other.descent;
    size += other.size;
  }
};

/// Some iterations of one problem.
template <class Product>
struct ApgdIterations {
  BatchSolver::Progress progress;
  batch::Judge judge;
  Product product;  ///< of `next`
  BatchApgd::State state;
  GradientMetric metric;
  DeviceArray<const int*> body_offset;
  VectorView x[3], d[3], next;
  double shrink;
  bool restart;
  int check_interval, limit;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int k = progress.round.begin(team);
    int now = state.role(k, 0), old = state.role(k, 1), z = state.role(k, 2);
    double lipschitz = state.number(k, 0), theta = state.number(k, 1), beta = state.number(k, 2);
    const double most = state.number(k, 3);
    int outer = progress.outer(k), applies = progress.applies(k);
    double residual = progress.residual(k);
    Status status = Status::running;
    if (outer == 0) {
      lipschitz = curvature_of_ones(team, k);
      if (lipschitz > most) lipschitz = most;
      applies = 2;
    }
    for (int done = 0; progress.round.goes_on(team, done); ++done) {
      if (outer % check_interval == 0 || outer >= limit) {
        const VectorView& product_of_x = d[now];
        residual = judge(team, k, x[now], [&](const int c) { return load3(product_of_x, c); });
        status = !(residual < 1e300)         ? Status::numerical_error
                 : residual <= progress.goal ? Status::stopped_by_observer
                 : outer >= limit            ? Status::max_iterations
                                             : Status::running;
        if (status != Status::running) break;
      }
      ApgdSums sums;
      for (;;) {
        sums = take_step(team, k, now, old, z, beta, 1 / lipschitz);
        const double energy = make_product(team, k, now, old, z, beta);
        ++applies;
        if (lipschitz >= most || !(energy > lipschitz * sums.size)) break;
        lipschitz = 2 * lipschitz < most ? 2 * lipschitz : most;
      }
      if (restart && sums.descent > 0) {
        theta = 1;
        beta = 0;
      } else {
        const double following = 0.5 * theta * (sqrt(theta * theta + 4) - theta);
        beta = theta * (1 - theta) / (theta * theta + following);
        theta = following;
      }
      lipschitz *= shrink;
      const int free = old;
      old = now, now = z, z = free;
      ++outer;
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      state.role(k, 0) = now, state.role(k, 1) = old, state.role(k, 2) = z;
      state.number(k, 0) = lipschitz, state.number(k, 1) = theta, state.number(k, 2) = beta;
      progress.outer(k) = outer;
      progress.applies(k) = applies;
      progress.residual(k) = residual;
      progress.status(k) = static_cast<int>(status);
    });
  }

  /// z from y = x + beta (x - x_old).
  KOKKOS_INLINE_FUNCTION ApgdSums take_step(const Team& team, int k, int now, int old, int z,
                                            double beta, double length) const {
    const TakeStep step{x[now], x[old], x[z], judge.r, metric, beta, length};
    const StagedSum<Extrapolated, TakeStep> staged{0, {d[now], d[old], beta}, step};
    return sum_stages<ApgdSums>(team, judge.offset(k), judge.offset(k + 1),
                                [&](const int first, const int count, ApgdSums& sums) {
                                  if (count == stage) {
                                    staged.run(first, stage, sums.descent, sums.size);
                                    return;
                                  }
                                  // One by one: how a compiler splits a loop into lanes may depend
                                  // on where it begins in memory, and so would the last digits.
                                  for (int i = 0; i < count; ++i) {
                                    staged.run(first + i, 1, sums.descent, sums.size);
                                  }
                                });
  }

  /// N z. @return (z - y).N (z - y)
  KOKKOS_INLINE_FUNCTION double make_product(const Team& team, int k, int now, int old, int z,
                                             double beta) const {
    const int begin = judge.offset(k), end = judge.offset(k + 1);
    each(team, begin, end, [&](const int c) { store3(next, c, load3(x[z], c)); });
    product.load(team, body_offset(k), body_offset(k + 1));
    return sum<batch::Number>(team, begin, end,
                              [&](const int c, batch::Number& energy) {
                                const Vec3 of_z = product.velocity(c);
                                store3(d[z], c, of_z);
                                energy.value +=
                                    dot(of_z - extrapolate(d[now], d[old], beta, c),
                                        load3(x[z], c) - extrapolate(x[now], x[old], beta, c));
                              })
        .value;
  }

  /// x.Nx / x.Dx for unit impulses along all normals: where L starts.
  KOKKOS_INLINE_FUNCTION double curvature_of_ones(const Team& team, int k) const {
    const int begin = judge.offset(k), end = judge.offset(k + 1);
    each(team, begin, end, [&](const int c) { store3(next, c, row3(judge.normal, c)); });
    product.load(team, body_offset(k), body_offset(k + 1));
    const ApgdSums sums = sum<ApgdSums>(team, begin, end, [&](const int c, ApgdSums& part) {
      part.descent += dot(product.velocity(c), row3(judge.normal, c));
      part.size += metric.weight(c, 0);
    });
    const double curvature = sums.descent / sums.size;
    return curvature > 0 ? curvature : 1;
  }
};

}  // namespace

void BatchApgd::add_options(OptionList& list) {
  list.number("shrink", shrink_, {0.1, 1}, "factor on the curvature L after an iteration")
      .flag("restart", restart_, "drop the momentum when it points uphill")
      .integer("max_iterations", max_iterations_, {1}, "limit of iterations")
      .integer("check_interval", check_interval_, {1}, "iterations between looks at the residual");
}

void BatchApgd::setup(const Batch& batch) {
  make_progress(batch);
  const std::size_t size = 3 * batch.host().contacts();
  for (int i = 0; i < 3; ++i) {
    x_[i] = VectorView(to_be_filled("ccp::BatchApgd::x"), size);
    d_[i] = VectorView(to_be_filled("ccp::BatchApgd::d"), size);
  }
  next_ = VectorView(to_be_filled("ccp::BatchApgd::next"), size);
  v_ = VectorView("ccp::BatchApgd::v", 6 * (batch.host().bodies() + 1));
  metric_ = gradient_metric(batch.problem(), "diagonal");
  weigh_idle_contacts();
  std::vector<double> most(batch.size());
  Kokkos::parallel_for("ccp::BatchApgd::most_neighbours",
                       Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, batch.size()),
                       [&](const int k) { most[k] = most_neighbours(*batch.problems()[k]); });
  most_ = upload<DeviceArray<double*>>("ccp::BatchApgd::most", most, most.size());
  state_.number = DeviceArray<double* [4]>("ccp::BatchApgd::number", batch.size());
  state_.role = DeviceArray<int* [3]>("ccp::BatchApgd::role", batch.size());
  batch::with_product(batch, next_, v_, [this](const auto& product) {
    run_ = [this, product] { iterate(product); };
  });
}

/// Contacts that nothing moves have s of their problem for a weight, not of the batch.
void BatchApgd::weigh_idle_contacts() {
  const auto trace = batch_->trace();
  const auto problem_of = batch_->problem_of();
  const auto scales = batch_->scales();
  const auto weight = metric_.weight;
  Kokkos::parallel_for(
      "ccp::BatchApgd::weigh_idle_contacts", range(batch_->problem().contacts()),
      KOKKOS_LAMBDA(const int c) {
        if (trace(c) > 0) return;
        const double s = scales(problem_of(c), 1);
        weight(c, 0) = s;
        weight(c, 1) = weight(c, 2) = 1 / s;
        weight(c, 3) = 1;
      });
}

void BatchApgd::start() {
  for (int i = 0; i < 3; ++i) {
    Kokkos::deep_copy(ExecSpace(), x_[i], 0.0);
    Kokkos::deep_copy(ExecSpace(), d_[i], 0.0);
  }
  const auto state = state_;
  const auto most = most_;
  Kokkos::parallel_for(
      "ccp::BatchApgd::start", range(batch_->size()), KOKKOS_LAMBDA(const int k) {
        for (int i = 0; i < 3; ++i) state.role(k, i) = i;
        state.number(k, 1) = 1;
        state.number(k, 2) = 0;
        state.number(k, 3) = most(k);
      });
}

template <class Product>
void BatchApgd::iterate(const Product& product) {
  Kokkos::parallel_for(
      "ccp::BatchApgd::iterations", batch::policy(progress_.round.size),
      ApgdIterations<Product>{progress_,
                              batch::Judge(*batch_, law()),
                              product,
                              state_,
                              metric_,
                              batch_->body_offset(),
                              {x_[0], x_[1], x_[2]},
                              {d_[0], d_[1], d_[2]},
                              next_,
                              shrink_,
                              restart_,
                              check_interval_,
                              std::min(max_iterations_, progress_.iteration_limit)});
}

void BatchApgd::advance() {
  run_();
}

void BatchApgd::answer(const VectorView& p) {
  const auto role = state_.role;
  const auto offset = batch_->contact_offset();
  const VectorView a = x_[0], b = x_[1], c = x_[2];
  Kokkos::parallel_for(
      "ccp::BatchApgd::answer", range(batch_->size()), KOKKOS_LAMBDA(const int k) {
        for (int i = 3 * offset(k); i < 3 * offset(k + 1); ++i) {
          p(i) = role(k, 0) == 0 ? a(i) : role(k, 0) == 1 ? b(i) : c(i);
        }
      });
}

void BatchApgd::count(int, Info& info) const {
  info.counters.projections = info.counters.operator_applies;
}

}  // namespace ccp
