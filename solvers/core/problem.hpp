#pragma once

#include "problems/model/contact_problem.hpp"
#include "solvers/core/delassus.hpp"

namespace ccp {

/// A problem as solvers see it: its data on the device, made once and shared by all who work on it.
/// Impulses and velocities are in world axes here (see DelassusOperator); the frames are kept for
/// the way back to contact axes. The ContactProblem must outlive it.
class Problem {
 public:
  explicit Problem(const ContactProblem& host);
  /// One rank's part of a problem that several share: contacts(), triples() and all arrays are
  /// those of the part, sums and scales those of the whole. @param host  see DelassusOperator
  Problem(const ContactProblem& host, const Distribution& distribution);
  /// The problem with another free velocity, sharing all else with `other`, which may end before
  /// it.
  /// @param r  3n values in world axes, m/s; what stands in it at the beginning of a solve counts.
  ///           host().r is not changed by it
  Problem(const Problem& other, const ConstVectorView& r);

  const ContactProblem& host() const { return host_; }
  int contacts() const { return delassus_.contacts(); }
  /// Triples of all kinds: contacts, and those of pools().
  int triples() const { return contacts() + pools().size(); }
  const Ranks& ranks() const { return delassus_.ranks(); }
  /// Triples, and contacts, of all ranks together.
  long long all_triples() const { return all_contacts_ + pools().size(); }
  long long all_contacts() const { return all_contacts_; }
  /// The number that a contact of this rank's part has in the whole problem.
  long long number_of(int contact) const {
    return number_.empty() ? contact : number_[static_cast<std::size_t>(contact)];
  }
  /// What this rank's part is of the whole; null with one rank.
  const Distribution* distribution() const { return delassus_.distribution(); }
  /// Rolling resistance and equality constraints.
  const ConstraintPools& pools() const { return delassus_.pools(); }
  /// What makes their velocities and impulses comparable with those of contacts, [pools().size()]
  /// m, or 1 for rows in m/s: a velocity times it is in m/s, an impulse over it in N s, and the
  /// mean diagonal of the triple's block of N is then that of its contact's (of rolling triples) or
  /// delassus_scale() (of equality constraints).
  DeviceArray<const double*> pool_length() const { return pool_length_; }
  Teuchos::RCP<const Map> map() const { return delassus_.getDomainMap(); }

  /// N with work arrays of the caller's own.
  Teuchos::RCP<DelassusOperator> delassus() const { return delassus_.clone(); }
  const DelassusOperator& shared_delassus() const { return delassus_; }
  /// Free velocity, 3 values per triple, in world axes (equality constraints: in their own), m/s.
  ConstVectorView r() const { return r_; }
  /// Unit normals in world axes, [triples][3]; (1, 0, 0) for triples without one.
  DeviceArray<const double* [3]> normal() const { return normal_; }
  /// Contact frames, [n][3][3] rows n, t1, t2 in world axes; empty in assembled form.
  DeviceArray<const double* [3][3]> frame() const { return frame_; }
  /// Friction coefficients, n values.
  DeviceArray<const double*> mu() const {
    return mu_;
  }

  /// World axes from contact axes and back, 3 values per triple each; the two views may be the
  /// same. A rolling triple has the axes of its contact, an equality constraint stays as it is.
  void to_world_axes(const ConstVectorView& contact, const VectorView& world) const;
  void to_contact_axes(const ConstVectorView& world, const VectorView& contact) const;

  /// Triples on the body that has most (see constraint_map.hpp), on all ranks.
  double most_neighbours() const;

  /// trace(N) / 3n over the contacts, 1/kg; without contacts over the rows of equality constraints,
  /// and 0 without those.
  double mean_diagonal() const { return mean_diagonal_; }
  /// s, the scale of N: the same, and 1 where that is not positive.
  double delassus_scale() const { return mean_diagonal_ > 0 ? mean_diagonal_ : 1; }

 private:
  const ContactProblem& host_;
  DelassusOperator delassus_;
  ConstVectorView r_;
  DeviceArray<const double*> mu_;
  DeviceArray<const double* [3]> normal_;
  DeviceArray<const double* [3][3]> frame_;  ///< empty in assembled form
  DeviceArray<const double*> pool_length_;
  double mean_diagonal_ = 0;
  long long all_contacts_ = 0;
  std::vector<long long> number_;  ///< of the contacts; empty where that is their place

  Problem(const ContactProblem& host, DelassusOperator delassus, long long all_contacts);
};

}  // namespace ccp
