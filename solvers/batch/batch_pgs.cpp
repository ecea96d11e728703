#include "solvers/batch/batch_pgs.hpp"

#include "solvers/batch/judge.hpp"
#include "solvers/batch/product.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

using batch::each;
using batch::Team;

/// The sequential orders of the problems, one behind the other.
SweepOrder order_of(const Batch& batch, std::vector<int>& group_offsets) {
  std::vector<SweepOrder> orders(batch.size());
  Kokkos::parallel_for("ccp::BatchPgs::orders",
                       Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, batch.size()),
                       [&](const int k) { orders[k] = sequential_order(*batch.problems()[k]); });
  SweepOrder all;
  for (int k = 0; k < batch.size(); ++k) {
    group_offsets.push_back(static_cast<int>(all.groups.size()));
    const SweepOrder& own = orders[k];
    const int first = batch.contact_offsets()[k];
    for (const int contact : own.contacts) all.contacts.push_back(first + contact);
    for (std::size_t g = 0; g + 1 < own.groups.size(); ++g) {
      all.groups.push_back(first + own.groups[g]);
    }
  }
  group_offsets.push_back(static_cast<int>(all.groups.size()));
  all.groups.push_back(batch.contact_offsets().back());
  return all;
}

/// A group by a team: a contact for each of its threads.
template <class Visit>
KOKKOS_INLINE_FUNCTION void visit_group(const Team& team, const Visit& visit, int group) {
  if constexpr (batch::on_host) {
    visit(group);
  } else {
    each(team, visit.groups(group), visit.groups(group + 1), [&](const int i) { visit.run(i, 1); });
  }
}

/// Some sweeps of one problem.
template <class Visit, class Product>
struct Sweeps {
  /// Of GaussSeidel users, too: rounding of the bodies' velocities grows by about 1e-16 a sweep.
  static constexpr int between_refreshes = 1000;

  BatchSolver::Progress progress;
  batch::Judge judge;
  Product product;
  Visit visit;
  DeviceArray<int*> group_offset;
  DeviceArray<const int*> body_offset, contact_at;
  VectorView by_place, p, v;
  GaussSeidel::BodyVelocities velocity;
  int check_interval, limit;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int k = progress.round.begin(team);
    int outer = progress.outer(k);
    double residual = progress.residual(k);
    Status status = Status::running;
    for (int done = 0; status == Status::running && progress.round.goes_on(team, done); ++done) {
      if (outer % check_interval == 0) {
        gather(team, k);
        residual = judge(team, k, p, [&](const int c) { return product.velocity(c); });
        status = !(residual < 1e300)         ? Status::numerical_error
                 : residual <= progress.goal ? Status::stopped_by_observer
                                             : Status::running;
      }
      if (status == Status::running && outer >= limit) status = Status::max_iterations;
      if (status != Status::running) break;
      if (outer % between_refreshes == between_refreshes - 1) refresh(team, k);
      for (int group = group_offset(k); group < group_offset(k + 1); ++group) {
        visit_group(team, visit, group);
      }
      ++outer;
    }
    if (status == Status::max_iterations) {  // what the answer is worth
      gather(team, k);
      residual = judge(team, k, p, [&](const int c) { return product.velocity(c); });
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      progress.outer(k) = progress.applies(k) = outer;
      progress.residual(k) = residual;
      progress.status(k) = static_cast<int>(status);
    });
  }

  /// The impulses in the problem's order, and what they do to the bodies.
  KOKKOS_INLINE_FUNCTION void gather(const Team& team, int k) const {
    each(team, judge.offset(k), judge.offset(k + 1),
         [&](const int i) { store3(p, contact_at(i), load3(by_place, i)); });
    product.load(team, body_offset(k), body_offset(k + 1));
  }
  KOKKOS_INLINE_FUNCTION void refresh(const Team& team, int k) const {
    if constexpr (!std::is_same_v<Product, batch::AssembledProduct>) {
      constexpr int width = Product::width;
      gather(team, k);
      each(team, body_offset(k), body_offset(k + 1), [&](const int i) {
        for (int l = 0; l < 3; ++l) {
          velocity.linear(i, l) = v(width * i + l);
          if (width == 6) velocity.angular(i, l) = v(width * i + 3 % width + l);
        }
      });
    }
  }
};

}  // namespace

void BatchPgs::add_options(OptionList& list) {
  list.choice("law", law_, {"convex", "coulomb"}, "contact law")
      .choice("local", local_, {"exact", "step"},
              "solve the contact's own problem, or take one projected step of 3/trace(N_cc)")
      .number("omega", omega_, {0, 2, true}, "relaxation")
      .integer("max_iterations", max_iterations_, {1}, "limit of iterations")
      .integer("check_interval", check_interval_, {1}, "sweeps between looks at the residual");
}

void BatchPgs::setup(const Batch& batch) {
  make_progress(batch);
  SweepOptions options;
  options.law = law();
  options.exact = local_ == "exact";
  options.omega = omega_;
  std::vector<int> group_offsets;
  const SweepOrder order = order_of(batch, group_offsets);
  groups_ = upload<DeviceArray<int*>>("ccp::BatchPgs::groups", order.groups, order.groups.size());
  group_offset_ =
      upload<DeviceArray<int*>>("ccp::BatchPgs::group_offset", group_offsets, group_offsets.size());
  sweeps_ = std::make_unique<GaussSeidel>(batch.problem(), options, order);
  weigh_idle_contacts();
  p_ = VectorView(to_be_filled("ccp::BatchPgs::p"), 3 * batch.host().contacts());
  v_ = VectorView("ccp::BatchPgs::v", 6 * (batch.host().bodies() + 1));
  batch::with_product(batch, p_, v_,
                      [this](const auto& product) { run_ = [this, product] { sweep(product); }; });
}

/// Contacts that nothing moves have s of their problem for a weight, not of the batch.
void BatchPgs::weigh_idle_contacts() {
  gauss_seidel::Records record;
  sweeps_->with_visits([&](const auto& visit) { record = visit.contacts.record; });
  const auto trace = batch_->trace();
  const auto problem_of = batch_->problem_of(), contact_at = sweeps_->contact_at();
  const auto scales = batch_->scales();
  Kokkos::parallel_for(
      "ccp::BatchPgs::weigh_idle_contacts", range(batch_->problem().contacts()),
      KOKKOS_LAMBDA(const int i) {
        using namespace gauss_seidel;
        const int c = contact_at(i);
        if (trace(c) > 0) return;
        const double s = scales(problem_of(c), 1);
        record(i, inverse_n) = record(i, inverse_t) = record(i, step) = 1 / s;
        record(i, ratio) = 1;
        record(i, heavier) = s;
      });
}

void BatchPgs::start() {
  Kokkos::deep_copy(ExecSpace(), p_, 0.0);
  sweeps_->set(p_);
}

template <class Product>
void BatchPgs::sweep(const Product& product) {
  sweeps_->with_visits([&](const auto& visit) {
    using Visit = std::decay_t<decltype(visit)>;
    Kokkos::parallel_for(
        "ccp::BatchPgs::sweeps", batch::policy(progress_.round.size),
        Sweeps<Visit, Product>{progress_, batch::Judge(*batch_, law()), product, visit,
                               group_offset_, batch_->body_offset(), sweeps_->contact_at(),
                               sweeps_->impulses(), p_, v_, sweeps_->velocities(), check_interval_,
                               std::min(max_iterations_, progress_.iteration_limit)});
  });
}

void BatchPgs::advance() {
  run_();
}

void BatchPgs::answer(const VectorView& p) {
  sweeps_->get(p);
}

void BatchPgs::count(int outer, Info& info) const {
  info.counters.projections = outer;
}

}  // namespace ccp
