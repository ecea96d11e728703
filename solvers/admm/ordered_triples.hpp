#pragma once

#include "solvers/admm/shifted_delassus.hpp"
#include "solvers/core/constraint_cones.hpp"
#include "solvers/velocity_space/ordered_contacts.hpp"
#include "solvers/velocity_space/pool_units.hpp"

namespace ccp {

/// The triples of a problem and their cones for the splitting: contacts in an order of their own,
/// then those beside them (ConstraintPools) in the units of contacts (PoolUnits). There a contact
/// and its rolling triple have one penalty, so that projections are Euclidean.
class OrderedTriples {
 public:
  OrderedTriples() = default;
  OrderedTriples(const Problem& problem, const DeviceArray<const int*>& order);
  /// r and q as they are in the problem now: when a solve begins.
  void take_free_velocity(const Problem& problem);

  int size() const { return contacts_ + pools_; }
  int cones() const { return contacts_ + equality_; }
  double q() const { return q_; }  ///< m/s
  ConstVectorView r() const { return r_; }

  /// From the problem's order and units, [3 triples].
  void gather_impulses(const ConstVectorView& from, const VectorView& to) const;
  void gather_velocities(const ConstVectorView& from, const VectorView& to) const;
  /// Impulses, into a vector of the problem in contact axes.
  void write(const Problem& problem, const ConstVectorView& from, Vector& to) const;

  /// The blocks (rho + Sigma)^-1 of the triples beside the contacts, [pools] kg.
  void soften(const DeviceArray<const double*>& rho, const DeviceArray<Sym3*>& blocks) const;
  /// (D + Sigma)^-1 of all. @param beside  what soften() has written
  Yield yield(const DeviceArray<const double*>& rho, const DeviceArray<const Sym3*>& beside) const {
    return {rho, beside, compliance_, normal_, contacts_};
  }

  // ---- in kernels ----

  /// trace(N_cc)/3 of a contact, and of its rolling triple; of a joint the mean over the contacts,
  /// 1/kg.
  KOKKOS_INLINE_FUNCTION double scale(int t) const { return scale_(t); }
  /// Penalty of a triple relative to that of the scale. A joint has no cone: its multiplier is zero
  /// and the penalty only slows it down.
  KOKKOS_INLINE_FUNCTION double penalty(int t) const {
    return t < contacts_ + rolling_ ? scale_(t) : joint_penalty * scale_(t);
  }
  /// Sigma p, m/s. In assembled form that of the contacts is in N.
  KOKKOS_INLINE_FUNCTION Vec3 yielded(int t, const Vec3& p) const {
    return t < contacts_ ? comply(compliance_, normal_, t, p) : yielded_beside(t, p);
  }
  /// The same where no contact is compliant.
  KOKKOS_INLINE_FUNCTION Vec3 yielded_beside(int t, const Vec3& p) const {
    return compliant_ && t >= contacts_ ? units_.compliance(t - contacts_) * p : Vec3{};
  }
  /// The triples of a cone: the first, and the rolling one or -1.
  KOKKOS_INLINE_FUNCTION int first_triple(int cone) const {
    return cone < contacts_ ? cone : cone + rolling_;
  }
  KOKKOS_INLINE_FUNCTION int second_triple(int cone) const {
    return cone < contacts_ && rolling_ > 0 ? rolling_of_(cone) : -1;
  }
  /// z <- the nearest point of the cone.
  template <class View>
  KOKKOS_INLINE_FUNCTION void project(int cone, const View& z) const {
    if (cone >= contacts_) {
      const int t = cone + rolling_;
      store3(z, t, project_free_cone(load3(z, t), rows_(cone - contacts_)));
      return;
    }
    const Vec3 n = row3(normal_, cone);
    const int k = second_triple(cone);
    if (k < 0) {
      store3(z, cone, project_friction_cone(load3(z, cone), n, mu_(cone)));
      return;
    }
    const RollingTriples nearest = project_rolling_cone({load3(z, cone), load3(z, k)}, n, mu_(cone),
                                                        units_.limit(k - contacts_));
    store3(z, cone, nearest.contact);
    store3(z, k, nearest.rolling);
  }

  // Public only because device lambdas may not live in private members.
  void set_up(const Problem& problem, const OrderedContacts& contacts);
  void gather(const ConstVectorView& from, const VectorView& to, bool impulses) const;

 private:
  static constexpr double joint_penalty = 1e-3;

  int contacts_ = 0, rolling_ = 0, equality_ = 0, pools_ = 0;
  bool compliant_ = false;  ///< triples beside the contacts
  double q_ = 1;
  DeviceArray<const int*> order_;
  DeviceArray<const double* [3]> normal_;
  DeviceArray<const double*> mu_;
  DeviceArray<double* [2]> compliance_;  ///< [n] in the order here; empty: rigid, or in N
  PoolUnits units_;
  DeviceArray<double*> scale_;    ///< [triples]
  DeviceArray<int*> rolling_of_;  ///< [n] in the order here, -1: none
  DeviceArray<const int*> rows_;  ///< [equality]
  VectorView r_;
};

}  // namespace ccp
