#include "solvers/gauss_seidel/gauss_seidel.hpp"

#include <cmath>

#include "solvers/core/extremes.hpp"
#include "solvers/core/staged_loop.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

/// Columns of the record of a contact.
enum Column {
  normal_x = 0,
  r_x = 3,
  friction = 6,
  inverse_n,  ///< 1 / a of the contact's metric
  inverse_t,  ///< 1 / b
  ratio,      ///< b / a
  heavier,    ///< max(a, b)
  step,       ///< 3 / trace(N_cc); 1 / s where that is zero
};

/// How a visit finds the new impulse of its contact.
enum class Local {
  metric,   ///< exactly, where N_cc = diag(a, b, b)
  coulomb,  ///< the same for Coulomb's law
  block,    ///< exactly for any N_cc, then relaxed
  step,     ///< one projected step
};

/// The contacts by their places in the sweep; see GaussSeidel for the arrays.
struct Contacts {
  GaussSeidel::Records record;
  DeviceArray<Sym3*> block;
  VectorView p;
  Law law;
  double omega;

  /// Replaces the impulse of the contact at place i, whose bodies move at `velocity` relative to
  /// each other. @return its change
  template <Local local>
  KOKKOS_INLINE_FUNCTION Vec3 visit(int i, const Vec3& velocity) const {
    const double mu = record(i, friction);
    const Vec3 normal{record(i, normal_x), record(i, normal_x + 1), record(i, normal_x + 2)};
    const Vec3 u = velocity + Vec3{record(i, r_x), record(i, r_x + 1), record(i, r_x + 2)};
    const Vec3 old = load3(p, i);
    const double inverse_a = record(i, inverse_n), inverse_b = record(i, inverse_t);
    Vec3 next;
    if (local == Local::metric) {
      next = project_in_metric(old - stretch(inverse_a, inverse_b, u, normal), normal, mu,
                               record(i, ratio));
    } else if (local == Local::coulomb) {
      next = project_coulomb(old - stretch(inverse_a, inverse_b, u, normal), normal, mu);
    } else if (local == Local::block) {
      next = solve_block(i, old, u, normal, mu);
      if (omega != 1) next = project_friction_cone(old + omega * (next - old), normal, mu);
    } else {
      Vec3 v = u;
      if (law == Law::coulomb) v = u + (mu * split(u, normal).size) * normal;
      next = project_friction_cone(old - (omega * record(i, step)) * v, normal, mu);
    }
    store3(p, i, next);
    return next - old;
  }

  KOKKOS_INLINE_FUNCTION Vec3 solve_block(int i, const Vec3& old, const Vec3& u, const Vec3& normal,
                                          double mu) const {
    const Sym3 own = block(i);
    const Vec3 rest = u - own * old;
    if (law == Law::coulomb) return solve_local_coulomb(own, rest, normal, mu);
    return solve_local_convex(own, rest, old, normal, mu, record(i, inverse_n),
                              record(i, inverse_t), record(i, ratio));
  }
};

/// Velocities of bodies that do not rotate.
struct Bodies {
  using Velocities = DeviceArray<double* [4]>;  ///< with the inverse mass in column 3
  RelativeVelocity<Rows<Velocities>> relative;

  KOKKOS_INLINE_FUNCTION Vec3 velocity(int i) const { return relative(i); }
  KOKKOS_INLINE_FUNCTION void push(int i, const Vec3& d) const {
    push(relative.v.v, relative.body(i, 0), -1, d);
    push(relative.v.v, relative.body(i, 1), 1, d);
  }
  KOKKOS_INLINE_FUNCTION static void push(const Velocities& v, int b, double sign, const Vec3& d) {
    const double inverse_mass = sign * v(b, 3);
    if (inverse_mass == 0) return;  // immovable: shared by contacts of one colour
    v(b, 0) += inverse_mass * d.x;
    v(b, 1) += inverse_mass * d.y;
    v(b, 2) += inverse_mass * d.z;
  }
};

struct RotatingBodies {
  /// Linear velocities with the inverse mass, and angular ones.
  struct Velocities {
    Bodies::Velocities v;
    DeviceArray<double* [3]> spin;
    KOKKOS_INLINE_FUNCTION Vec3 linear(int b) const { return row3(v, b); }
    KOKKOS_INLINE_FUNCTION Vec3 angular(int b) const { return row3(spin, b); }
  };
  RelativeVelocityAtArms<Velocities> relative;
  DeviceArray<double* [3][3]> inverse_inertia;

  KOKKOS_INLINE_FUNCTION Vec3 velocity(int i) const { return relative(i); }
  KOKKOS_INLINE_FUNCTION void push(int i, const Vec3& d) const {
    for (int side = 0; side < 2; ++side) {
      const int b = relative.body(i, side);
      const Vec3 lever{relative.arm(i, side, 0), relative.arm(i, side, 1),
                       relative.arm(i, side, 2)};
      Bodies::push(relative.v.v, b, side_sign(side), d);
      turn(b, side_sign(side), cross(lever, d));
    }
  }
  KOKKOS_INLINE_FUNCTION void turn(int b, double sign, const Vec3& torque) const {
    const auto spin = relative.v.spin;
    for (int k = 0; k < 3; ++k) {
      const double change =
          sign * (inverse_inertia(b, k, 0) * torque.x + inverse_inertia(b, k, 1) * torque.y +
                  inverse_inertia(b, k, 2) * torque.z);
      if (change != 0) spin(b, k) += change;
    }
  }
};

/// Adds what an impulse does through the compliance of its own contact.
template <class Link>
struct Compliant {
  Link link;
  DeviceArray<const double* [2]> compliance;
  GaussSeidel::Records record;
  VectorView p;

  KOKKOS_INLINE_FUNCTION Vec3 velocity(int i) const {
    const Vec3 normal{record(i, normal_x), record(i, normal_x + 1), record(i, normal_x + 2)};
    return link.velocity(i) + stretch(compliance(i, 0), compliance(i, 1), load3(p, i), normal);
  }
  KOKKOS_INLINE_FUNCTION void push(int i, const Vec3& d) const { link.push(i, d); }
};

/// Assembled form: the contact's row of N times all impulses.
struct AssembledRows {
  VectorView p;
  BlockRows rows;

  KOKKOS_INLINE_FUNCTION Vec3 velocity(int i) const { return rows.product(p, i); }
  KOKKOS_INLINE_FUNCTION void push(int, const Vec3&) const {}
};

/// Visits the contacts of one group, of which none needs another.
template <class Link, Local local>
struct VisitGroup {
  Contacts contacts;
  Link link;
  DeviceArray<int*> groups;

  KOKKOS_INLINE_FUNCTION void operator()(const int group) const {
    const int begin = groups(group), count = groups(group + 1) - begin;
    if (count == SweepOrder::lanes) {
      run(begin, SweepOrder::lanes);
    } else {
      run(begin, count);
    }
  }

  CCP_FLATTEN KOKKOS_INLINE_FUNCTION void run(const int begin, const int count) const {
    Vec3 d[SweepOrder::lanes];
    for (int i = 0; i < count; ++i) {
      d[i] = link.velocity(begin + i);
      CCP_NO_GATHER;
    }
    CCP_LANES
    for (int i = 0; i < count; ++i) d[i] = contacts.template visit<local>(begin + i, d[i]);
    for (int i = 0; i < count; ++i) {
      link.push(begin + i, d[i]);
      CCP_NO_GATHER;
    }
  }
};

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

template <class Link>
void visit_all(const Contacts& contacts, const Link& link, const DeviceArray<int*>& groups,
               Local local, const SweepOrder& order, bool backward) {
  switch (local) {
    case Local::metric:
      return visit_all(VisitGroup<Link, Local::metric>{contacts, link, groups}, order, backward);
    case Local::coulomb:
      return visit_all(VisitGroup<Link, Local::coulomb>{contacts, link, groups}, order, backward);
    case Local::block:
      return visit_all(VisitGroup<Link, Local::block>{contacts, link, groups}, order, backward);
    case Local::step:
      return visit_all(VisitGroup<Link, Local::step>{contacts, link, groups}, order, backward);
  }
}

}  // namespace

GaussSeidel::GaussSeidel(const Problem& problem, const SweepOptions& options)
    : problem_(problem),
      options_(options),
      order_(options.colored ? colored_order(problem.host()) : sequential_order(problem.host())),
      delassus_(problem.delassus()) {
  const ContactProblem& host = problem.host();
  const std::size_t n = host.contacts(), m = host.bodies();
  std::vector<int> triples = order_.contacts;
  for (std::size_t t = n; t < host.triples(); ++t) triples.push_back(static_cast<int>(t));
  contact_ = upload<DeviceArray<int*>>("ccp::GaussSeidel::contact", triples, triples.size());
  p_ = VectorView("ccp::GaussSeidel::p", 3 * triples.size());
  group_ =
      upload<DeviceArray<int*>>("ccp::GaussSeidel::group", order_.groups, order_.groups.size());
  gather_records(problem.shared_delassus().diagonal_blocks());

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

double GaussSeidel::sweep(bool backward, bool measure) {
  if (measure) {
    if (before_.extent(0) == 0) before_ = VectorView("ccp::GaussSeidel::before", p_.extent(0));
    Kokkos::deep_copy(ExecSpace(), before_, p_);
  }
  const Local local = !options_.exact               ? Local::step
                      : block_.extent(0) > 0        ? Local::block
                      : options_.law == Law::convex ? Local::metric
                                                    : Local::coulomb;
  const Contacts contacts{record_, block_, p_, options_.law, options_.omega};
  const auto visit = [&](const auto& link) {
    using Link = std::decay_t<decltype(link)>;
    const ConstraintPools& pools = problem_.pools();
    const auto beside = [&] {
      if (pools.empty()) return;
      visit_pools(PoolVisits<Link>{link,
                                   {pools.rolling(),
                                    map_.rotates() ? 6 : 3,
                                    pools.body(),
                                    pools.jacobian(),
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
    visit_all(contacts, link, group_, local, order_, backward);
    if (!backward) beside();
  };
  const auto visit_bodies = [&](const auto& link) {
    using Link = std::decay_t<decltype(link)>;
    if (map_.is_compliant()) {
      visit(Compliant<Link>{link, map_.compliance(), record_, p_});
    } else {
      visit(link);
    }
  };
  if (delassus_->is_assembled()) {
    visit(AssembledRows{p_, rows_});
  } else if (map_.rotates()) {
    visit_bodies(RotatingBodies{map_.relative_at_arms(RotatingBodies::Velocities{velocity_, spin_}),
                                map_.masses().angular});
  } else {
    visit_bodies(Bodies{map_.relative(Rows<Bodies::Velocities>{velocity_})});
  }
  return measure ? largest_change() : 0;
}

double GaussSeidel::largest_change() const {
  const auto before = before_, p = p_;
  const auto record = record_;
  const double of_contacts = largest_finite(
      "ccp::GaussSeidel::largest_change", problem_.contacts(), KOKKOS_LAMBDA(const int i) {
        return norm(load3(p, i) - load3(before, i)) * record(i, heavier);
      });
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
