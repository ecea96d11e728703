#include "solvers/pgs/gauss_seidel.hpp"

#include <cmath>
#include <limits>

#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

/// Columns of the record of a contact.
enum Column {
  normal_x = 0,
  r_x = 3,
  friction = 6,
  inverse_n,  ///< 1 / a of the contact's metric, 0 where that is 0
  inverse_t,  ///< 1 / b
  ratio,      ///< b / a
  heavier,    ///< max(a, b)
  step,       ///< 3 / trace(N_cc)
};

/// What a visit works with; see GaussSeidel for the arrays.
struct Contacts {
  DeviceArray<double* [12]> record;
  DeviceArray<double* [6]> block;
  VectorView p;
  DeviceArray<double*> change;
  SweepOptions options;
  bool exact_metric, measure;

  KOKKOS_INLINE_FUNCTION Vec3 r(int i) const {
    return {record(i, r_x), record(i, r_x + 1), record(i, r_x + 2)};
  }

  /// The new impulse of the contact at place i, from its velocity u; its change is returned.
  KOKKOS_INLINE_FUNCTION Vec3 update(int i, const Vec3& u) const {
    const double mu = record(i, friction);
    const Vec3 normal{record(i, normal_x), record(i, normal_x + 1), record(i, normal_x + 2)};
    const Vec3 old = load3(p, i);
    Vec3 next;
    if (!options.exact) {
      next = step_along(i, old, u, normal, mu);
    } else if (exact_metric) {
      const Vec3 target = old - stretch(record(i, inverse_n), record(i, inverse_t), u, normal);
      next = options.law == Law::convex ? project_in_metric(target, normal, mu, record(i, ratio))
                                        : project_coulomb(target, normal, mu);
    } else {
      next = solve_block(i, old, u, normal, mu);
    }
    if (record(i, heavier) == 0) next = old;  // nothing that it does moves anything
    if (options.exact && options.omega != 1) {
      next = project_friction_cone(old + options.omega * (next - old), normal, mu);
    }
    const Vec3 d = next - old;
    store3(p, i, next);
    if (measure) change(i) = norm(d) * record(i, heavier);
    return d;
  }

  /// One projected step with step length omega 3 / trace(N_cc).
  KOKKOS_INLINE_FUNCTION Vec3 step_along(int i, const Vec3& old, Vec3 u, const Vec3& normal,
                                         double mu) const {
    if (options.law == Law::coulomb) u = u + (mu * split(u, normal).size) * normal;
    return project_friction_cone(old - (options.omega * record(i, step)) * u, normal, mu);
  }

  KOKKOS_INLINE_FUNCTION Vec3 solve_block(int i, const Vec3& old, const Vec3& u, const Vec3& normal,
                                          double mu) const {
    LocalBlock own;
    for (int k = 0; k < 6; ++k) own.a[k] = block(i, k);
    const Vec3 rest = u - multiply(own, old);
    if (options.law == Law::convex) {
      return solve_local_convex(own, rest, old, normal, mu, record(i, inverse_n),
                                record(i, inverse_t), record(i, ratio));
    }
    return solve_local_coulomb(own, rest, normal, mu);
  }
};

/// A visit in bodies form: velocity of the contact from its bodies, and the change back to them.
struct VisitBodies {
  Contacts contacts;
  DeviceArray<int* [2]> body;
  DeviceArray<double* [4]> v;
  DeviceArray<double* [3]> spin;
  DeviceArray<double* [3][3]> inverse_inertia;
  DeviceArray<double* [2][3]> arm;
  bool rotates;

  KOKKOS_INLINE_FUNCTION Vec3 lever(int i, int side) const {
    return {arm(i, side, 0), arm(i, side, 1), arm(i, side, 2)};
  }

  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    const int a = body(i, 0), b = body(i, 1);
    Vec3 u = contacts.r(i) + (row3(v, b) - row3(v, a));
    if (rotates) {
      u = u + (cross(row3(spin, b), lever(i, 1)) - cross(row3(spin, a), lever(i, 0)));
    }
    const Vec3 d = contacts.update(i, u);
    push(a, i, 0, -1, d);
    push(b, i, 1, 1, d);
  }

  KOKKOS_INLINE_FUNCTION void push(int body_index, int i, int side, double sign,
                                   const Vec3& d) const {
    const double inverse_mass = sign * v(body_index, 3);
    if (inverse_mass != 0) {  // immovable bodies are shared by contacts of one colour
      v(body_index, 0) += inverse_mass * d.x;
      v(body_index, 1) += inverse_mass * d.y;
      v(body_index, 2) += inverse_mass * d.z;
    }
    if (!rotates) return;
    const Vec3 torque = sign * cross(lever(i, side), d);
    for (int k = 0; k < 3; ++k) {
      const double turn = inverse_inertia(body_index, k, 0) * torque.x +
                          inverse_inertia(body_index, k, 1) * torque.y +
                          inverse_inertia(body_index, k, 2) * torque.z;
      if (turn != 0) spin(body_index, k) += turn;
    }
  }
};

/// A visit in assembled form: the contact's row of N times all impulses.
struct VisitRow {
  Contacts contacts;
  DeviceArray<std::int64_t*> offset;
  DeviceArray<int*> column;
  DeviceArray<double* [3][3]> matrix;

  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    Vec3 u = contacts.r(i);
    for (std::int64_t k = offset(i); k < offset(i + 1); ++k) {
      const Vec3 g = load3(contacts.p, column(k));
      u.x += matrix(k, 0, 0) * g.x + matrix(k, 0, 1) * g.y + matrix(k, 0, 2) * g.z;
      u.y += matrix(k, 1, 0) * g.x + matrix(k, 1, 1) * g.y + matrix(k, 1, 2) * g.z;
      u.z += matrix(k, 2, 0) * g.x + matrix(k, 2, 1) * g.y + matrix(k, 2, 2) * g.z;
    }
    contacts.update(i, u);
  }
};

}  // namespace

GaussSeidel::GaussSeidel(const Problem& problem, const SweepOptions& options)
    : problem_(problem),
      options_(options),
      order_(options.colored ? colored_order(problem.host()) : sequential_order(problem.host())),
      delassus_(problem.delassus()) {
  const ContactProblem& host = problem.host();
  const std::size_t n = host.contacts(), m = host.bodies();
  contact_ = upload<DeviceArray<int*>>("ccp::GaussSeidel::contact", order_.contacts, n);
  p_ = VectorView("ccp::GaussSeidel::p", 3 * n);
  change_ = DeviceArray<double*>("ccp::GaussSeidel::change", n);
  gather_records(problem.shared_delassus().diagonal_blocks());

  std::vector<int> place(n);
  for (std::size_t i = 0; i < n; ++i) place[order_.contacts[i]] = static_cast<int>(i);
  if (host.form == ContactProblem::Form::assembled) {
    const BlockMatrix& from = host.delassus;
    std::vector<std::int64_t> offset{0};
    std::vector<int> column;
    std::vector<double> blocks;
    column.reserve(from.columns.size());
    blocks.reserve(from.blocks.size());
    for (const int c : order_.contacts) {
      for (std::int64_t k = from.row_offsets[c]; k < from.row_offsets[c + 1]; ++k) {
        column.push_back(place[from.columns[k]]);
        blocks.insert(blocks.end(), &from.blocks[9 * k], &from.blocks[9 * k] + 9);
      }
      offset.push_back(static_cast<std::int64_t>(column.size()));
    }
    row_offset_ = upload<DeviceArray<std::int64_t*>>("ccp::GaussSeidel::row", offset, n + 1);
    matrix_ =
        upload<DeviceArray<double* [3][3]>>("ccp::GaussSeidel::matrix", blocks, column.size());
    column_ = upload<DeviceArray<int*>>("ccp::GaussSeidel::column", column, column.size());
    return;
  }
  const int immovable = static_cast<int>(m);
  std::vector<int> body(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t c = static_cast<std::size_t>(order_.contacts[i]);
      const int b = host.contact_bodies[2 * c + side];
      body[2 * i + side] = b < 0 ? immovable : b;
    }
  }
  body_ = upload<DeviceArray<int* [2]>>("ccp::GaussSeidel::body", body, n);
  std::vector<double> velocity(4 * (m + 1), 0.0);
  for (std::size_t i = 0; i < m; ++i) velocity[4 * i + 3] = host.inverse_mass[i];
  velocity_ = upload<DeviceArray<double* [4]>>("ccp::GaussSeidel::velocity", velocity, m + 1);
  if (!host.rotates()) return;
  spin_ = DeviceArray<double* [3]>("ccp::GaussSeidel::spin", m + 1);
  std::vector<double> inverse_inertia = host.inverse_inertia, arm(6 * n);
  inverse_inertia.resize(9 * (m + 1), 0.0);
  inverse_inertia_ = upload<DeviceArray<double* [3][3]>>("ccp::GaussSeidel::inverse_inertia",
                                                         inverse_inertia, m + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = static_cast<std::size_t>(order_.contacts[i]);
    for (std::size_t k = 0; k < 3; ++k) {
      arm[6 * i + k] = host.arm_a[3 * c + k];
      arm[6 * i + 3 + k] = host.arm_b[3 * c + k];
    }
  }
  arm_ = upload<DeviceArray<double* [2][3]>>("ccp::GaussSeidel::arm", arm, n);
}

void GaussSeidel::gather_records(const DeviceArray<double* [3][3]>& blocks) {
  const ContactMetric metric = contact_metric(blocks, problem_.normal());
  exact_metric_ = metric.exact;
  record_ = DeviceArray<double* [12]>("ccp::GaussSeidel::record", problem_.contacts());
  if (!exact_metric_) {
    block_ = DeviceArray<double* [6]>("ccp::GaussSeidel::block", problem_.contacts());
  }
  const auto record = record_;
  const auto block = block_;
  const auto contact = contact_;
  const auto weight = metric.weight;
  const auto r = problem_.r();
  const auto normal = problem_.normal();
  const auto mu = problem_.mu();
  const bool exact = exact_metric_;
  Kokkos::parallel_for(
      "ccp::GaussSeidel::gather_records", range(problem_.contacts()), KOKKOS_LAMBDA(const int i) {
        const int c = contact(i);
        for (int k = 0; k < 3; ++k) {
          record(i, normal_x + k) = normal(c, k);
          record(i, r_x + k) = r(3 * c + k);
        }
        record(i, friction) = mu(c);
        const double a = weight(c, 0), b = weight(c, 1);
        record(i, inverse_n) = a > 0 ? 1 / a : 0;
        record(i, inverse_t) = b > 0 ? 1 / b : 0;
        record(i, ratio) = a > 0 ? b / a : 1;
        record(i, heavier) = a > b ? a : b;
        const double trace = blocks(c, 0, 0) + blocks(c, 1, 1) + blocks(c, 2, 2);
        record(i, step) = trace > 0 ? 3 / trace : 0;
        if (exact) return;
        block(i, 0) = blocks(c, 0, 0);
        block(i, 1) = blocks(c, 0, 1);
        block(i, 2) = blocks(c, 0, 2);
        block(i, 3) = blocks(c, 1, 1);
        block(i, 4) = blocks(c, 1, 2);
        block(i, 5) = blocks(c, 2, 2);
      });
}

void GaussSeidel::reorder(const ConstVectorView& p, bool into_sweep, const VectorView& out) const {
  const auto contact = contact_;
  Kokkos::parallel_for(
      "ccp::GaussSeidel::reorder", range(problem_.contacts()), KOKKOS_LAMBDA(const int i) {
        if (into_sweep) {
          store3(out, i, load3(p, contact(i)));
        } else {
          store3(out, contact(i), load3(p, i));
        }
      });
}

void GaussSeidel::set(const ConstVectorView& p) {
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

template <class Visit>
void GaussSeidel::visit_all(const Visit& visit, bool backward) const {
  const int n = problem_.contacts();
  if (order_.colors.empty()) {
    Kokkos::parallel_for(
        "ccp::GaussSeidel::sweep", range(1), KOKKOS_LAMBDA(const int) {
          if (backward) {
            for (int i = n - 1; i >= 0; --i) visit(i);
          } else {
            for (int i = 0; i < n; ++i) visit(i);
          }
        });
    return;
  }
  const int last = colors() - 1;
  for (int k = 0; k <= last; ++k) {
    const int color = backward ? last - k : k;
    const int begin = order_.colors[color];
    Kokkos::parallel_for(
        "ccp::GaussSeidel::color", range(order_.colors[color + 1] - begin),
        KOKKOS_LAMBDA(const int i) { visit(begin + i); });
  }
}

double GaussSeidel::sweep(bool backward, bool measure) {
  const Contacts contacts{record_, block_, p_, change_, options_, exact_metric_, measure};
  if (delassus_->is_assembled()) {
    visit_all(VisitRow{contacts, row_offset_, column_, matrix_}, backward);
  } else {
    visit_all(
        VisitBodies{contacts, body_, velocity_, spin_, inverse_inertia_, arm_, spin_.extent(0) > 0},
        backward);
  }
  return measure ? largest_change() : 0;
}

double GaussSeidel::largest_change() const {
  const auto change = change_;
  double largest = 0, sum = 0;
  Kokkos::parallel_reduce(
      "ccp::GaussSeidel::largest_change", range(problem_.contacts()),
      KOKKOS_LAMBDA(const int c, double& maximum, double& total) {
        if (change(c) > maximum) maximum = change(c);
        total += change(c);
      },
      Kokkos::Max<double>(largest), Kokkos::Sum<double>(sum));
  return std::isfinite(sum) ? largest : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace ccp
