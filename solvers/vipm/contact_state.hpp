#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/core/staged_loop.hpp"
#include "solvers/velocity_space/impulse_root.hpp"
#include "solvers/vipm/contact_step.hpp"

namespace ccp::vipm {

/// What the problem says of its contacts, looked up in another order of them. The arrays belong to
/// others, which outlive it: counted references would be the most of what a kernel costs that has
/// one contact.
struct GivenContacts {
  template <class View>
  using Borrowed = Kokkos::View<typename View::data_type, typename View::array_layout, MemSpace,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Borrowed<DeviceArray<const int*>> order;
  Borrowed<ConstVectorView> r;
  Borrowed<DeviceArray<const double* [3]>> normal;
  Borrowed<DeviceArray<const double*>> mu;
  /// One row of zeros for all contacts if none has any.
  Borrowed<DeviceArray<const double* [2]>> compliance;
  int compliance_stride;  ///< 0 then, else 1

  /// @param rigid  a row of zeros
  GivenContacts(const Problem& problem, const DeviceArray<const int*>& order,
                const DeviceArray<const double* [2]>& rigid);

  KOKKOS_INLINE_FUNCTION Vec3 r_of(int c) const { return load3(r, order(c)); }
  KOKKOS_INLINE_FUNCTION Vec3 normal_of(int c) const { return row3(normal, order(c)); }
  KOKKOS_INLINE_FUNCTION double mu_of(int c) const { return mu(order(c)); }
  KOKKOS_INLINE_FUNCTION bool is_compliant() const { return compliance_stride > 0; }
  /// Sigma p.
  KOKKOS_INLINE_FUNCTION Vec3 given_way(int c, const Vec3& p) const {
    const int row = compliance_stride * order(c);
    return stretch(compliance(row, 0), compliance(row, 1), p, normal_of(c));
  }
};

/// The same of the contacts of a stage (staged_loop.hpp), for work in SIMD lanes.
struct StagedContacts {
  Vec3 normal[stage];
  double mu[stage];

  KOKKOS_INLINE_FUNCTION StagedContacts(const GivenContacts& given, int begin, int count) {
    for (int i = 0; i < count; ++i) {
      normal[i] = given.normal_of(begin + i);
      mu[i] = given.mu_of(begin + i);
      CCP_NO_GATHER;
    }
  }
};

/// Products with K: by its factors where they are kept, which have more digits.
struct Stiffness {
  DeviceArray<Sym3*> k;
  DeviceArray<ImpulseRoot*> root;  ///< may be empty

  KOKKOS_INLINE_FUNCTION Vec3 operator()(int c, const Vec3& v) const {
    return root.extent(0) > 0 ? root(c).times(root(c).transposed_times(v)) : k(c) * v;
  }
  /// The same with the sums of fused_product().
  KOKKOS_INLINE_FUNCTION Vec3 fused(int c, const Vec3& v) const {
    return root.extent(0) > 0 ? (*this)(c, v) : fused_product(k(c), v);
  }
};

/// The contact side of the iterate: impulses gamma and velocities u strictly inside their cones,
/// the direction (dgamma, du), and what the linearised complementarity condition
///     dgamma = g - gamma - K du
/// needs. With compliances, u = D^T v + r + Sigma gamma, so that du depends on dgamma: K is then
/// (K^-1
/// + Sigma)^-1 and g - gamma becomes (1 - K Sigma)(g - gamma). World axes; contacts in the order of
/// a VelocitySystem; 21 numbers (168 bytes) per contact. With mu = 0 the cone of a contact is the
/// half-line along its normal and K has rank one. With several ranks, contacts are those of this
/// one, and whatever is said of all contacts is said of all ranks'. Vectors have room for the
/// triples beside the contacts, which are PoolState's.
class ContactState {
 public:
  /// @param order  VelocitySystem::contact_order()
  /// @param roots  whether factors of K are kept; not for compliant contacts
  ContactState(const Problem& problem, const DeviceArray<const int*>& order, bool roots);

  const GivenContacts& given() const { return given_; }
  const VectorView& gamma() const { return gamma_; }
  const VectorView& dgamma() const { return dgamma_; }
  const VectorView& u() const { return u_; }
  const VectorView& du() const { return du_; }
  const VectorView& gap() const { return gap_; }
  const DeviceArray<Sym3*>& k() const { return k_.k; }
  const DeviceArray<ImpulseRoot*>& roots() const { return k_.root; }

  /// gamma in the problem's order of contacts, and a vector from there.
  void write_gamma(const VectorView& out) const;
  void reorder(const ConstVectorView& from, const VectorView& to) const;
  /// The other way: into the problem's order.
  void restore(const ConstVectorView& from, const VectorView& to) const;

  /// gamma = impulse along every normal.
  void start_impulses(double impulse);
  /// Impulses from a guess, moved to where both spectral values are at least `least` N s.
  void start_impulses(const ConstVectorView& guess, double least);
  /// u = d + r + Sigma gamma, moved to where both spectral values are at least `least`, m/s.
  void start_velocities(const ConstVectorView& d, double least);

  /// How far a guess is from a solution.
  struct Guess {
    double product = 0;   ///< sum of |gamma.u|, J
    double impulse = 0;   ///< farthest gamma lies outside its cone, N s
    double velocity = 0;  ///< the same for u, m/s
  };
  /// @param guess  in this object's order; @param d  D^T of the velocities it gives
  Guess judge(const ConstVectorView& guess, const ConstVectorView& d) const;

  struct Sums {
    double product = 0;  ///< gamma.u, J
    double normal = 0;   ///< sum of normal impulses, N s
    double gap = 0;      ///< max |u - D^T v - r - Sigma gamma|, m/s
  };
  /// Nesterov-Todd scaling K and the primal residual. @param d  D^T v, m/s
  Sums scale(const ConstVectorView& d);

  /// The largest step inside both cones, and gamma.u along it:
  /// product + theta cross + theta^2 square. A NaN in the direction shows in cross.
  struct Step {
    double theta = 0, product = 0, cross = 0, square = 0;
  };
  /// Predictor: g = 0. @param d  D^T dv
  Step predictor(const ConstVectorView& d);
  /// g = sigma mu gamma^-1 less the second-order term of the predictor's direction.
  void corrector_target(double sigma_mu);
  /// The same without the second-order term.
  void centring_target(double sigma_mu);
  Step direction(const ConstVectorView& d);
  /// Adds a correction of the direction; d is D^T of the correction alone.
  Step refine(const ConstVectorView& d);

  /// c: what takes the products of both sides, theta along the direction, to between low and high
  /// times 2 sigma mu (Gondzio 1996 for second-order cones); p = (1 - K Sigma) c, the impulses on
  /// the right-hand side of the system in dv.
  void centrality_target(double theta, const Band& band, const VectorView& c,
                         const VectorView& p) const;
  /// Adds the direction dgamma = c - K du to this one. @param c  in: that target; out: dgamma
  /// @param d  in: D^T dv; out: du
  Step add_correction(const VectorView& c, const VectorView& d);
  /// Takes it away again.
  Step drop_correction(const ConstVectorView& c, const ConstVectorView& d);

  /// p = g + K (gap - Sigma (g - gamma)), the impulses on the right-hand side of the system in dv.
  void right_hand_side(bool predictor, const VectorView& p) const;
  /// p = gamma + dgamma.
  void next_impulses(const VectorView& p) const;

  void advance(double theta);

  // How the contacts of a step answer a change of r. Each array is changed in place.
  /// du of the predictor or corrector if r stays. @param d  in: D^T dv; out: du
  void change_of_velocity(bool predictor, const VectorView& d) const;
  /// p = -K dr, the impulses on the right-hand side of the system in dv.
  void push_of(const ConstVectorView& dr, const VectorView& p) const;
  /// du = D^T dv + dr + Sigma dgamma, dgamma = -K (D^T dv + dr). @param d  in: D^T dv; out: du
  void respond(const ConstVectorView& dr, const VectorView& d) const;
  /// The primal residual when r changes by a dr.
  void change_gap(double a, const ConstVectorView& dr) const;

  // Public only because device lambdas may not live in private members.
  void scale_by_roots();
  /// What a step has brought nearer to the boundary of its cone than rounding may lie on it, or
  /// outside, where the scaling is not defined: it is moved to where double precision is sure.
  void keep_inside();
  template <class Direction>
  Step measure_step(const Direction& direction);

 private:
  Ranks ranks_;  ///< sums and steps are those of all of them
  int contacts_ = 0;
  DeviceArray<const int*> order_;
  DeviceArray<double* [2]> rigid_ { "ccp::Vipm::rigid", 1 };
  GivenContacts given_;
  VectorView gamma_, u_, dgamma_, du_;
  VectorView gap_;  ///< the primal residual u - D^T v - r - Sigma gamma, m/s
  VectorView g_;    ///< the same memory as dgamma: each is made from the other, contact by contact
  Stiffness k_;
};

}  // namespace ccp::vipm
