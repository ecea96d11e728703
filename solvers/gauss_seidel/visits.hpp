#pragma once

#include "solvers/core/constraint_map.hpp"
#include "solvers/core/law.hpp"
#include "solvers/core/staged_loop.hpp"
#include "solvers/gauss_seidel/local_problem.hpp"
#include "solvers/gauss_seidel/sweep_order.hpp"

/// What a visit of a contact does, for sweeps by kernels of one problem (GaussSeidel::sweep) and of
/// many (batch).
namespace ccp::gauss_seidel {

/// What is constant of a contact, by place in the sweep, column after column for SIMD lanes.
using Records = Kokkos::View<double* [12], Kokkos::LayoutLeft, MemSpace>;

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
  Records record;
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
  Records record;
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

/// Calls act(visit) with what visits a group of contacts in the way `local`.
template <class Link, class Act>
void with_local(const Contacts& contacts, const Link& link, const DeviceArray<int*>& groups,
                Local local, const Act& act) {
  switch (local) {
    case Local::metric:
      return act(VisitGroup<Link, Local::metric>{contacts, link, groups});
    case Local::coulomb:
      return act(VisitGroup<Link, Local::coulomb>{contacts, link, groups});
    case Local::block:
      return act(VisitGroup<Link, Local::block>{contacts, link, groups});
    case Local::step:
      return act(VisitGroup<Link, Local::step>{contacts, link, groups});
  }
}

}  // namespace ccp::gauss_seidel
