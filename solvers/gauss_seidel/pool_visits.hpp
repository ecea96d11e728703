#pragma once

#include "solvers/core/constraint_cones.hpp"
#include "solvers/core/contact_metric.hpp"
#include "solvers/core/law.hpp"

namespace ccp {

/// What visits of the triples beside the contacts need, by triple of the pools; made once.
struct PoolRecords {
  DeviceArray<int*> place;           ///< [rolling] of its contact in the sweep
  DeviceArray<Sym3*> inverse;        ///< of its own block of N; rows that are not in use: zero
  DeviceArray<double*> bound;        ///< pool_metric()
  DeviceArray<double* [2]> contact;  ///< [rolling] (a, b) of its contact (ContactMetric)
};
/// @param weight    ContactMetric::weight of the contacts
/// @param contacts  the contact at each place of the sweep
PoolRecords pool_records(const Problem& problem, const DeviceArray<double* [2]>& weight,
                         const std::vector<int>& contacts);

/// The velocities of bodies that a sweep carries along, as columns.
struct MovingBodies {
  DeviceArray<double* [4]> linear;  ///< with the inverse mass in column 3
  DeviceArray<double* [3]> spin;    ///< empty where no body rotates
  BodyMatrices inverse;

  KOKKOS_INLINE_FUNCTION double operator()(int body, int column) const {
    return column < 3 ? linear(body, column) : spin(body, column - 3);
  }
  /// Passes an impulse on, [6]. Immovable bodies stay as they are.
  KOKKOS_INLINE_FUNCTION void push(int body, const double impulse[6]) const {
    for (int k = 0; k < 3; ++k) linear(body, k) += inverse.linear(body) * impulse[k];
    for (int k = 0; spin.extent(0) > 0 && k < 3; ++k) {
      spin(body, k) += inverse.angular(body, k, 0) * impulse[3] +
                       inverse.angular(body, k, 1) * impulse[4] +
                       inverse.angular(body, k, 2) * impulse[5];
    }
  }
};

/// Visits of rolling triples and equality constraints, one after the other, with the velocities of
/// bodies that a sweep carries along.
///
/// A rolling triple under Coulomb's law finds its moment while the normal impulse holds still,
/// |gamma_r| <= rho gamma_n (the row clamp of Wang 2016). Under the convex law the cone couples it
/// with its contact, and both take one projected step onto K6 together, in a metric that is twice
/// their own blocks of N and so no less than their common one; the contact's own visit leaves it
/// alone. An equality constraint is solved exactly.
///
/// @tparam Link  velocity(i) of the contact at place i, push(i, d) of its change
template <class Link>
struct PoolVisits {
  Link link;
  PoolVelocity<MovingBodies> relative;
  PoolRecords record;
  ConstraintCones cones;
  DeviceArray<const int*> contact;  ///< of every rolling triple
  DeviceArray<const Sym3*> compliance;
  ConstVectorView r;
  VectorView p;  ///< contacts by their places in the sweep, then the pools
  Law law;
  double omega;

  KOKKOS_INLINE_FUNCTION void visit(int j) const {
    if (j >= cones.rolling) {
      solve_equality(j);
    } else if (law == Law::coulomb) {
      clamp(j);
    } else {
      step_together(j);
    }
  }

  KOKKOS_INLINE_FUNCTION Vec3 velocity(int j) const {
    const int t = cones.contacts + j;
    const Vec3 u = relative(j) + load3(r, t);
    return compliance.extent(0) > 0 ? u + compliance(j) * load3(p, t) : u;
  }

  /// The most that a moment may be, for the contact's impulse.
  KOKKOS_INLINE_FUNCTION Vec3 cut(int j, const Vec3& moment, double normal_impulse) const {
    const double most = cones.rho(j) * (normal_impulse > 0 ? normal_impulse : 0);
    const double size = norm(moment);
    return size > most ? (most / size) * moment : moment;
  }

  KOKKOS_INLINE_FUNCTION void clamp(int j) const {
    const int i = record.place(j), t = cones.contacts + j;
    const double n = dot(load3(p, i), row3(cones.normal, contact(j)));
    const Vec3 old = load3(p, t), u = velocity(j);
    const Vec3 stuck = old - record.inverse(j) * u;
    const double most = cones.rho(j) * (n > 0 ? n : 0);
    // A body that turns with the same inertia about all axes is solved exactly either way.
    const Vec3 next = norm(stuck) <= most ? stuck : cut(j, old - (1 / record.bound(j)) * u, n);
    give(j, cut(j, old + omega * (next - old), n));
  }

  KOKKOS_INLINE_FUNCTION void step_together(int j) const {
    const int i = record.place(j), t = cones.contacts + j, c = contact(j);
    const Vec3 normal = row3(cones.normal, c);
    const double a = 2 * record.contact(j, 0), b = 2 * record.contact(j, 1),
                 turning = 2 * record.bound(j);
    const Vec3 at_contact = link.velocity(i) + load3(r, c), old = load3(p, i);
    const RollingTriples next =
        project_rolling_in_metric({old - stretch(omega / a, omega / b, at_contact, normal),
                                   load3(p, t) - (omega / turning) * velocity(j)},
                                  normal, cones.mu(c), cones.rho(j), b / a, turning / a);
    store3(p, i, next.contact);
    link.push(i, next.contact - old);
    give(j, next.rolling);
  }

  KOKKOS_INLINE_FUNCTION void solve_equality(int j) const {
    const Vec3 old = load3(p, cones.contacts + j);
    give(j, old - omega * (record.inverse(j) * velocity(j)));
  }

  /// Stores an impulse and moves the bodies by its change.
  KOKKOS_INLINE_FUNCTION void give(int j, const Vec3& next) const {
    const int t = cones.contacts + j;
    const Vec3 change = next - load3(p, t);
    store3(p, t, next);
    const double d[3] = {change.x, change.y, change.z};
    for (int side = 0; side < 2; ++side) {
      double impulse[6] = {0, 0, 0, 0, 0, 0};
      for (int row = 0; row < 3; ++row) {
        if (j < cones.rolling) {
          impulse[3 + row] = side_sign(side) * d[row];
          continue;
        }
        for (int k = 0; k < 6; ++k) {
          impulse[k] += relative.jacobian(j - cones.rolling, side, 6 * row + k) * d[row];
        }
      }
      relative.v.push(relative.body(j, side), impulse);
    }
  }
};

/// Visits all of them, the last one first with `backward`.
template <class Link>
void visit_pools(const PoolVisits<Link>& visits, bool backward) {
  const int count = visits.cones.rolling + visits.cones.equality;
  Kokkos::parallel_for(
      "ccp::GaussSeidel::pools", range(1), KOKKOS_LAMBDA(const int) {
        for (int k = 0; k < count; ++k) visits.visit(backward ? count - 1 - k : k);
      });
}

}  // namespace ccp
