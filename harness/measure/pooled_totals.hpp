#pragma once

#include <vector>

#include "harness/measure/look.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp {

/// The scales of a problem with rolling resistance or equality constraints, and what a look at one
/// of its iterates adds up to. On the host and from the problem's own arrays, with projections that
/// no solver uses: the referee shares nothing of it with those whom it judges.
///
/// A triple of the pools is measured in the units of contacts: velocities times its length l,
/// impulses over it, with l^2 the mean diagonal of its contact's block of N + Sigma (rolling) or s
/// (equality) over that of its own block; 1 where either is zero.
class PooledReferee {
 public:
  /// @param problem  with triples beside the contacts; must outlive this
  explicit PooledReferee(const ContactProblem& problem);

  double s() const { return s_; }  ///< 1/kg, of contacts; without them of equality rows; else 1
  double q() const { return q_; }  ///< rms(r) over the rows in use, m/s; 1 where it is zero
  int cones() const;               ///< contacts and equality constraints

  struct Totals {
    double finite = 0;          ///< a sum that is finite only if gamma and u are
    double primal = 0;          ///< max dist(gamma, K), N s
    LawTotals convex, coulomb;  ///< without merit and normal
  };
  /// @param gamma, u  [triples][3] in contact axes, N s and m/s (N m s and rad/s)
  Totals measure(const std::vector<double>& gamma, const std::vector<double>& u) const;

 private:
  const ContactProblem& problem_;
  std::vector<double> length_;  ///< [pools]
  double s_ = 1, q_ = 1;
};

}  // namespace ccp
