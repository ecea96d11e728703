#include "solvers/gauss_seidel/gauss_seidel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solvers/core/extremes.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {

using namespace gauss_seidel;

namespace {

/// All groups in their order, by one thread, or colour by colour in parallel.
template <class Visit>
void visit_all(const Visit& visit, const SweepOrder& order, bool backward) {
  if (order.colors.empty()) {
    const int last = static_cast<int>(order.groups.size()) - 2;
    Kokkos::parallel_for(
        "ccp::GaussSeidel::sweep", range(1), KOKKOS_LAMBDA(const int) {
          for (int k = 0; k <= last; ++k) visit(backward ? last - k : k);
        });
    return;
  }
  const int last = static_cast<int>(order.colors.size()) - 2;
  for (int k = 0; k <= last; ++k) {
    const int color = backward ? last - k : k;
    const int begin = order.colors[color];
    Kokkos::parallel_for(
        "ccp::GaussSeidel::color", range(order.colors[color + 1] - begin),
        KOKKOS_LAMBDA(const int group) { visit(begin + group); });
  }
}

/// How many ranks have contacts with each body of this rank's part, [m].
std::vector<double> ranks_of_bodies(const ContactProblem& part, const BodyExchange& exchange) {
  const std::size_t m = part.bodies();
  const DeviceArray<double**> rows("ccp::GaussSeidel::ranks_of_bodies", m, 1);
  const auto mirror = host_mirror(rows);
  for (const std::int32_t body : part.contact_bodies) {
    if (body >= 0) mirror(body, 0) = 1;
  }
  send(rows, mirror);
  exchange.sum(rows);
  const auto sums = host_copy(rows);
  std::vector<double> count(m);
  for (std::size_t i = 0; i < m; ++i) count[i] = sums(i, 0);
  return count;
}

/// The part with bodies as light as they count in the sweeps of one of several ranks.
ContactProblem split_masses(ContactProblem part, const std::vector<double>& ranks_of_body) {
  for (std::size_t i = 0; i < part.bodies(); ++i) {
    const double factor = std::max(1.0, ranks_of_body[i]);
    part.inverse_mass[i] *= factor;
    for (std::size_t k = 9 * i; part.rotates() && k < 9 * (i + 1); ++k) {
      part.inverse_inertia[k] *= factor;
    }
  }
  return part;
}

}  // namespace

GaussSeidel::GaussSeidel(const Problem& problem, const SweepOptions& options)
    : GaussSeidel(
          problem, options,
          options.colored ? colored_order(problem.host()) : sequential_order(problem.host())) {}

GaussSeidel::GaussSeidel(const Problem& problem, const SweepOptions& options, SweepOrder order)
    : problem_(problem),
      options_(options),
      order_(std::move(order)),
      delassus_(problem.delassus()) {
  const std::size_t n = problem.host().contacts(), m = problem.host().bodies();
  ContactProblem split;  // empty on one rank
  if (problem.ranks().size() > 1) {
    shared_.exchange = std::make_shared<BodyExchange>(*problem.distribution());
    const std::vector<double> ranks = ranks_of_bodies(problem.host(), *shared_.exchange);
    split = split_masses(problem.host(), ranks);
    std::vector<char> pushes(m, 0);
    for (const std::int32_t body : split.contact_bodies) {
      if (body >= 0) pushes[static_cast<std::size_t>(body)] = 1;
    }
    std::vector<double> share(m, 1.0);  // also where nobody does
    for (std::size_t i = 0; i < m; ++i) {
      if (ranks[i] > 0) share[i] = pushes[i] != 0 ? 1 / ranks[i] : 0;
    }
    shared_.share = upload<DeviceArray<double*>>("ccp::GaussSeidel::share", share, m);
    shared_.rows = DeviceArray<double**>("ccp::GaussSeidel::rows", m, split.rotates() ? 6 : 3);
  }
  const ContactProblem& host = shared_.exchange ? split : problem.host();
  std::vector<int> triples = order_.contacts;
  for (std::size_t t = n; t < host.triples(); ++t) triples.push_back(static_cast<int>(t));
  contact_ = upload<DeviceArray<int*>>("ccp::GaussSeidel::contact", triples, triples.size());
  p_ = VectorView("ccp::GaussSeidel::p", 3 * triples.size());
  group_ =
      upload<DeviceArray<int*>>("ccp::GaussSeidel::group", order_.groups, order_.groups.size());
  gather_records(shared_.exchange ? ConstraintMap(host).diagonal_blocks()
                                  : problem.shared_delassus().diagonal_blocks());

  if (host.form == ContactProblem::Form::assembled) {
    rows_ = make_block_rows(with_compliance(host, host.delassus), order_.contacts);
    return;
  }
  map_ = ConstraintMap(host, {order_.contacts, {}});
  std::vector<double> velocity(4 * (m + 1), 0.0);
  for (std::size_t i = 0; i < m; ++i) velocity[4 * i + 3] = host.inverse_mass[i];
  velocity_ = upload<DeviceArray<double* [4]>>("ccp::GaussSeidel::velocity", velocity, m + 1);
  if (host.rotates()) spin_ = DeviceArray<double* [3]>("ccp::GaussSeidel::spin", m + 1);
}

void GaussSeidel::gather_records(const DeviceArray<double* [3][3]>& blocks) {
  const double spare = problem_.delassus_scale();
  const ContactMetric metric = contact_metric(blocks, problem_.normal(), spare);
  record_ = Records("ccp::GaussSeidel::record", problem_.contacts());
  const bool own_blocks = options_.exact && (!metric.exact || options_.omega != 1);
  if (own_blocks) {
    block_ = DeviceArray<Sym3*>("ccp::GaussSeidel::block", problem_.contacts());
  }
  const auto record = record_;
  const auto block = block_;
  const auto contact = contact_;
  const auto weight = metric.weight;
  const auto normal = problem_.normal();
  const auto mu = problem_.mu();
  Kokkos::parallel_for(
      "ccp::GaussSeidel::gather_records", range(problem_.contacts()), KOKKOS_LAMBDA(const int i) {
        const int c = contact(i);
        for (int k = 0; k < 3; ++k) record(i, normal_x + k) = normal(c, k);
        record(i, friction) = mu(c);
        const double a = weight(c, 0), b = weight(c, 1);
        record(i, inverse_n) = 1 / a;
        record(i, inverse_t) = 1 / b;
        record(i, ratio) = b / a;
        record(i, heavier) = a > b ? a : b;
        const double trace = blocks(c, 0, 0) + blocks(c, 1, 1) + blocks(c, 2, 2);
        record(i, step) = trace > 0 ? 3 / trace : 1 / spare;
        if (own_blocks) block(i) = upper_triangle(blocks, c);
      });
  if (problem_.pools().empty()) return;
  pools_ = pool_records(problem_, metric.weight, order_.contacts);
  if (options_.law == Law::convex) leave_to_pools();
}

/// Visits of contacts with rolling resistance do nothing under the convex law: see PoolVisits.
void GaussSeidel::leave_to_pools() {
  const auto record = record_;
  const auto place = pools_.place;
  Kokkos::parallel_for(
      "ccp::GaussSeidel::leave_to_pools", range(place.extent(0)), KOKKOS_LAMBDA(const int k) {
        record(place(k), inverse_n) = record(place(k), inverse_t) = record(place(k), step) = 0;
      });
}

void GaussSeidel::reorder(const ConstVectorView& p, bool into_sweep, const VectorView& out) const {
  const auto contact = contact_;
  Kokkos::parallel_for(
      "ccp::GaussSeidel::reorder", range(problem_.triples()), KOKKOS_LAMBDA(const int i) {
        if (into_sweep) {
          store3(out, i, load3(p, contact(i)));
        } else {
          store3(out, contact(i), load3(p, i));
        }
      });
}

void GaussSeidel::take_free_velocity() const {
  const auto record = record_;
  const auto contact = contact_;
  const auto r = problem_.r();
  Kokkos::parallel_for(
      "ccp::GaussSeidel::take_free_velocity", range(problem_.contacts()),
      KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < 3; ++k) record(i, r_x + k) = r(3 * contact(i) + k);
      });
}

void GaussSeidel::set(const ConstVectorView& p) {
  take_free_velocity();
  reorder(p, true, p_);
  refresh();
}

void GaussSeidel::get(const VectorView& p) const {
  reorder(p_, false, p);
}

void GaussSeidel::refresh() {
  if (delassus_->is_assembled()) return;
  const VectorView p("ccp::GaussSeidel::refresh", p_.extent(0));
  get(p);
  load_velocities(delassus_->body_velocities(p));
}

void GaussSeidel::load_velocities(const DelassusOperator::Image& image) {
  const auto v = velocity_;
  const auto spin = spin_;
  const bool rotates = spin_.extent(0) > 0;
  Kokkos::parallel_for(
      "ccp::GaussSeidel::load_velocities", range(v.extent(0)), KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < 3; ++k) {
          v(i, k) = image(i, k);
          if (rotates) spin(i, k) = image(i, 3 + k);
        }
      });
}

Local GaussSeidel::local() const {
  return !options_.exact               ? Local::step
         : block_.extent(0) > 0        ? Local::block
         : options_.law == Law::convex ? Local::metric
                                       : Local::coulomb;
}

double GaussSeidel::sweep(bool backward, bool measure) {
  if (measure) {
    if (before_.extent(0) == 0) before_ = VectorView("ccp::GaussSeidel::before", p_.extent(0));
    Kokkos::deep_copy(ExecSpace(), before_, p_);
  }
  with_link([&](const auto& link) {
    using Link = std::decay_t<decltype(link)>;
    const ConstraintPools& pools = problem_.pools();
    const auto beside = [&] {
      if (pools.empty()) return;
      visit_pools(PoolVisits<Link>{link,
                                   {pools.rolling(),
                                    map_.rotates() ? 6 : 3,
                                    pools.body(),
                                    pools.jacobian(),
                                    pools.free_twist(),
                                    {velocity_, spin_, map_.masses()}},
                                   pools_,
                                   ConstraintCones(problem_),
                                   pools.contact(),
                                   pools.compliance(),
                                   problem_.r(),
                                   p_,
                                   options_.law,
                                   options_.omega},
                  backward);
    };
    if (backward) beside();
    with_local(Contacts{record_, block_, p_, options_.law, options_.omega}, link, group_, local(),
               [&](const auto& visit) { visit_all(visit, order_, backward); });
    if (!backward) beside();
  });
  if (shared_.exchange) share_velocities();
  return measure ? largest_change() : 0;
}

/// Bodies that several ranks have pushed move by the mean of their velocities on these.
void GaussSeidel::share_velocities() const {
  const auto v = velocity_;
  const auto spin = spin_;
  const auto share = shared_.share;
  const auto rows = shared_.rows;
  const bool rotates = spin_.extent(0) > 0;
  Kokkos::parallel_for(
      "ccp::GaussSeidel::take_shares", range(share.extent(0)), KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < 3; ++k) {
          rows(i, k) = share(i) * v(i, k);
          if (rotates) rows(i, 3 + k) = share(i) * spin(i, k);
        }
      });
  shared_.exchange->sum(rows);
  Kokkos::parallel_for(
      "ccp::GaussSeidel::give_means", range(share.extent(0)), KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < 3; ++k) {
          v(i, k) = rows(i, k);
          if (rotates) spin(i, k) = rows(i, 3 + k);
        }
      });
}

double GaussSeidel::largest_change() const {
  const auto before = before_, p = p_;
  const auto record = record_;
  const double of_contacts = largest_finite(
      "ccp::GaussSeidel::largest_change", problem_.contacts(),
      KOKKOS_LAMBDA(const int i) {
        return norm(load3(p, i) - load3(before, i)) * record(i, heavier);
      },
      &problem_.ranks());
  if (problem_.pools().empty()) return of_contacts;
  const double of_pools = largest_pool_change();
  // A NaN of either stays.
  return of_pools > of_contacts || std::isnan(of_pools) ? of_pools : of_contacts;
}

double GaussSeidel::largest_pool_change() const {
  const auto before = before_, p = p_;
  const auto bound = pools_.bound;
  const auto length = problem_.pool_length();
  const int first = problem_.contacts();
  return largest_finite(
      "ccp::GaussSeidel::largest_pool_change", problem_.pools().size(), KOKKOS_LAMBDA(const int j) {
        const Vec3 change = load3(p, first + j) - load3(before, first + j);
        return norm(change) * bound(j) * length(j);
      });
}

}  // namespace ccp
