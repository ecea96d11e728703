#pragma once

#include "solvers/velocity_space/body_pools.hpp"
#include "solvers/velocity_space/pool_units.hpp"
#include "solvers/vipm/contact_state.hpp"
#include "solvers/vipm/wide_cone.hpp"

namespace ccp::vipm {

/// The iterate's part that belongs to rolling resistance and to equality constraints, beside the
/// ContactState; see README.md. A contact with rolling resistance is in
///     K6 = { |gamma_t| <= mu gamma_n } x { |gamma_r| <= rho n_2 },   n_2 = gamma_n,
/// two cones that share a normal impulse. Their dual variables share its velocity,
///     u_n = (u_n - b) + b,    (u_n - b, u_t) and (b, u_r) in the cones' duals,
/// and the split b is an unknown without mass, whose momentum balance is n_2 = gamma_n. To the
/// ContactState such a contact is one like any other with the normal velocity u_n - b. b is
/// eliminated contact by contact: K becomes a 6x6 block, on the pair of bodies that the contact has
/// anyway.
///
/// Equality constraints have no cone. They are solved for through a compliance of 10^-8 s, by which
/// only the change of their impulses is multiplied (a proximal point step): at the solution it has
/// no effect, and constraints that depend on each other do no harm.
///
/// Units of contacts as in BodyPools; world axes; arrays [3 triples] as in the ContactState, whose
/// entries after the contacts are used here.
class PoolState {
 public:
  /// @param contacts  must outlive this
  PoolState(const Problem& problem, ContactState& contacts);

  /// Cones with a barrier, beside those of the contacts.
  int cones() const { return rolling_; }
  /// Multiplies or divides triples beside the contacts by their length: impulses from the problem's
  /// units and into them. @param to  may be from
  void to_units_of_contacts(const ConstVectorView& from, const VectorView& to) const;
  void from_units_of_contacts(const ConstVectorView& from, const VectorView& to) const;

  /// After those of the ContactState: no moments, no forces of joints.
  void start_impulses();
  /// From a guess, [3 triples]: normal impulses are raised until moments are inside as well.
  void start_impulses(const ConstVectorView& guess, double least);
  /// Before ContactState::start_velocities: the split, and d without it. @param d  E z
  void start_velocities(const VectorView& d, double least);
  ContactState::Guess judge(const ConstVectorView& guess, const ConstVectorView& d) const;

  /// d of the contacts is freed of the split b.
  void take_split(const VectorView& d) const;
  /// After ContactState::scale. gap: the largest primal residual, m/s.
  ContactState::Sums scale(const ConstVectorView& d);
  /// Largest |n_2 - gamma_n|, N s.
  double imbalance() const;
  /// K of the whole system [triples], with the splits eliminated, and its part beside the diagonal.
  void stiffness(const DeviceArray<Sym3*>& of_contacts);
  const DeviceArray<Sym3*>& k() const { return k_; }
  const DeviceArray<CrossBlock*>& cross() const { return cross_; }

  /// Impulses on the right-hand side, after ContactState::right_hand_side.
  void right_hand_side(bool predictor, const VectorView& p);
  /// The same of a refinement, from p = gamma + dgamma.
  void refinement(const VectorView& p);
  /// The change of the split that belongs to d = E dz, by which d is then freed.
  void recover_split(const VectorView& d);

  // As in the ContactState, and after it; d as recover_split has left it.
  ContactState::Step predictor(const ConstVectorView& d);
  void corrector_target(double sigma_mu);
  ContactState::Step direction(const ConstVectorView& d);
  ContactState::Step refine(const ConstVectorView& d);
  void advance(double theta);

  // Public only because device lambdas may not live in private members.
  void set_up(const Problem& problem);
  ContactState::Step measure_step() const;
  void scale_joints(const ConstVectorView& d, double& largest) const;
  void move_joints(const ConstVectorView& d, bool again) const;

 private:
  ContactState& contacts_;
  int first_ = 0, rolling_ = 0, equality_ = 0;
  GivenContacts given_;
  DeviceArray<int*> place_;  ///< [rolling] of their contacts
  PoolUnits units_;
  DeviceArray<const int*> rows_;
  double softness_ = 0;                   ///< of joints, 1/kg
  VectorView r_;                          ///< [3 pools] m/s
  DeviceArray<double*> normal_;           ///< [rolling] n_2, N s
  DeviceArray<double*> dnormal_;          ///< its direction, or what ContactState calls g
  DeviceArray<double*> split_, dsplit_;   ///< [rolling] b, m/s
  DeviceArray<double*> offset_, change_;  ///< of dsplit_: without dz, and with the last dz
  VectorView left_;  ///< [3 equality] what softness has left of the joints' velocities, m/s
  DeviceArray<TiltedStiffness*> sliding_, turning_;  ///< [rolling] of the two cones
  DeviceArray<Sym3*> k_;
  DeviceArray<CrossBlock*> cross_;
};

}  // namespace ccp::vipm
