#pragma once

#include "solvers/core/contact_metric.hpp"
#include "solvers/core/law.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/gauss_seidel/local_problem.hpp"
#include "solvers/gauss_seidel/pool_visits.hpp"
#include "solvers/gauss_seidel/sweep_order.hpp"

namespace ccp {

/// What one visit of a contact does.
struct SweepOptions {
  Law law = Law::convex;
  bool exact = true;     ///< solve the contact's own problem; else one step P(gamma - omega eta u),
                         ///< eta = 3/trace(N_cc) [kg]
  double omega = 1;      ///< in (0, 2]; exact: gamma <- P(gamma + omega (solution - gamma))
  bool colored = false;  ///< colour by colour in parallel; else one contact after the other
};

/// Gauss-Seidel sweeps over the contacts: every visit replaces the impulse of one contact and
/// passes the change on to its bodies at once (bodies form), or reads the row of N afresh
/// (assembled form). Triples beside the contacts are visited after them, one after the other
/// (PoolVisits). Holds the impulses in the order of its sweep. The result does not depend on the
/// number of threads.
class GaussSeidel {
 public:
  GaussSeidel(const Problem& problem, const SweepOptions& options);

  /// Impulses in, in world axes, 3 values per triple; and out.
  void set(const ConstVectorView& p);
  void get(const VectorView& p) const;

  /// Visits all constraints once, the last one first with `backward`.
  /// @return with `measure` the largest change of an impulse times its weight, m/s (NaN: not
  /// finite)
  double sweep(bool backward, bool measure);

  /// Computes the bodies' velocities from the impulses again, without the rounding of the changes.
  void refresh();

  /// What is constant of a contact, by place in the sweep, column after column for SIMD lanes.
  using Records = Kokkos::View<double* [12], Kokkos::LayoutLeft, MemSpace>;

  // Public only because device lambdas may not live in private members.
  void reorder(const ConstVectorView& p, bool into_sweep, const VectorView& out) const;
  void load_velocities(const DelassusOperator::Image& image);
  void gather_records(const DeviceArray<double* [3][3]>& blocks);
  void leave_to_pools();
  void take_free_velocity() const;
  double largest_change() const;
  double largest_pool_change() const;

 private:
  const Problem& problem_;
  SweepOptions options_;
  SweepOrder order_;
  Teuchos::RCP<DelassusOperator> delassus_;

  // By place in the sweep; behind the contacts the triples of the pools in their order.
  DeviceArray<int*> contact_;  ///< [triples]
  Records record_;
  DeviceArray<Sym3*> block_;  ///< N_cc, where the closed forms do not do
  VectorView p_, before_;     ///< impulses now, and before a measured sweep
  DeviceArray<int*> group_;
  ConstraintMap map_;  ///< bodies form
  BlockRows rows_;     ///< assembled form
  PoolRecords pools_;  ///< empty without such triples
  // By body, and m for the immovable one.
  DeviceArray<double* [4]> velocity_;  ///< linear velocity, inverse mass
  DeviceArray<double* [3]> spin_;
};

}  // namespace ccp
