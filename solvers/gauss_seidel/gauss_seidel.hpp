#pragma once

#include <memory>

#include "solvers/core/contact_metric.hpp"
#include "solvers/core/law.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/gauss_seidel/local_problem.hpp"
#include "solvers/gauss_seidel/pool_visits.hpp"
#include "solvers/gauss_seidel/visits.hpp"

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
///
/// On several ranks each visits its own contacts, all at the same time. A body that n ranks push is
/// n times as light in their sweeps as it is, and moves by the mean of what they make of it
/// afterwards, which is what their impulses do to the body as it is (mass splitting: Tonge,
/// Benevolenski and Voroshilov 2012). As |x_1 + ... + x_n|^2 <= n (|x_1|^2 + ... + |x_n|^2), no
/// sweep raises the objective of the convex law, as on one rank. Sweeps are collective then.
class GaussSeidel {
 public:
  GaussSeidel(const Problem& problem, const SweepOptions& options);
  /// In an order of the caller's.
  GaussSeidel(const Problem& problem, const SweepOptions& options, SweepOrder order);

  /// Impulses in, in world axes, 3 values per triple; and out.
  void set(const ConstVectorView& p);
  void get(const VectorView& p) const;

  /// Visits all constraints once, the last one first with `backward`.
  /// @return with `measure` the largest change of an impulse times its weight, m/s (NaN: not
  /// finite)
  double sweep(bool backward, bool measure);

  /// Computes the bodies' velocities from the impulses again, without the rounding of the changes.
  void refresh();

  using Records = gauss_seidel::Records;

  // For sweeps by kernels of others (visits.hpp).
  /// Calls act(visit), where visit(group) visits the contacts of a group of the order.
  template <class Act>
  void with_visits(const Act& act) const;
  /// [triples] the problem's triple at each place of the sweep, and its impulse.
  DeviceArray<const int*> contact_at() const { return contact_; }
  VectorView impulses() const { return p_; }
  /// Of the bodies [m + 1].
  struct BodyVelocities {
    DeviceArray<double* [4]> linear;  ///< with inverse masses in column 3
    DeviceArray<double* [3]> angular;
  };
  BodyVelocities velocities() const { return {velocity_, spin_}; }

  // Public only because device lambdas may not live in private members.
  void reorder(const ConstVectorView& p, bool into_sweep, const VectorView& out) const;
  void load_velocities(const DelassusOperator::Image& image);
  void gather_records(const DeviceArray<double* [3][3]>& blocks);
  void share_velocities() const;
  void leave_to_pools();
  void take_free_velocity() const;
  double largest_change() const;
  double largest_pool_change() const;

 private:
  gauss_seidel::Local local() const;
  /// Calls act(link) with what connects a contact to its bodies or to its row of N.
  template <class Act>
  void with_link(const Act& act) const;

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

  /// What ranks do about bodies that several push; nothing on one rank.
  struct Shared {
    std::shared_ptr<BodyExchange> exchange;
    DeviceArray<double*> share;  ///< [m] 1 / the ranks that push it; 0 if others do, this one not
    DeviceArray<double**> rows;  ///< [m][3 or 6] work array
  };
  Shared shared_;
};

template <class Act>
void GaussSeidel::with_link(const Act& act) const {
  using namespace gauss_seidel;
  const auto with_bodies = [&](const auto& link) {
    using Link = std::decay_t<decltype(link)>;
    if (map_.is_compliant()) {
      act(Compliant<Link>{link, map_.compliance(), record_, p_});
    } else {
      act(link);
    }
  };
  if (delassus_->is_assembled()) {
    act(AssembledRows{p_, rows_});
  } else if (map_.rotates()) {
    with_bodies(RotatingBodies{map_.relative_at_arms(RotatingBodies::Velocities{velocity_, spin_}),
                               map_.masses().angular});
  } else {
    with_bodies(Bodies{map_.relative(Rows<Bodies::Velocities>{velocity_})});
  }
}

template <class Act>
void GaussSeidel::with_visits(const Act& act) const {
  using namespace gauss_seidel;
  with_link([&](const auto& link) {
    with_local(Contacts{record_, block_, p_, options_.law, options_.omega}, link, group_, local(),
               act);
  });
}

}  // namespace ccp
