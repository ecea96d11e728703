#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// The contacts of a problem whose equality constraints are solved for. With the rows in use of
/// these,  0 = B p + G lambda + r_e,  the contacts see
///
///     N' = N - B^T G^-1 B,    r' = r - B^T G^-1 r_e,    lambda = -G^-1 (B p + r_e).
///
/// G is factored by Cholesky's method with pivoting. Rows that depend on others (a loop closed by
/// more joints than it needs) are left out, lambda = 0: they hold because the others do, unless
/// they contradict them. Dense, on the host. Without equality constraints N' and r' are N and r.
class JointElimination {
 public:
  explicit JointElimination(const ContactProblem& problem);

  /// N' [1/kg], in the axes that solvers work in (assemble_delassus).
  const BlockMatrix& delassus() const { return delassus_; }
  /// r' [m/s], [n][3] contact axes.
  const std::vector<double>& r() const { return r_; }
  /// Impulses of all triples from those of the contacts, contact axes.
  std::vector<double> with_joints(std::vector<double> gamma) const;
  /// Largest velocity of a row that was left out where no contact pushes, m/s: with contacts it is
  /// the same, for such a row is a sum of others.
  double contradiction() const { return contradiction_; }

 private:
  void read_rows(const BlockMatrix& all);
  void factorize();
  std::vector<double> solve(std::vector<double> b) const;
  void condense();

  const ContactProblem& problem_;
  BlockMatrix delassus_;
  std::vector<double> r_;
  std::vector<std::size_t> used_;  ///< rows of equality constraints in use, counted by three
  std::vector<double> g_;          ///< [used][used] G
  std::vector<double> b_;          ///< [used][3n] B, world axes
  std::vector<std::size_t> kept_;  ///< places in used_, in the order of the factor
  std::vector<double> factor_;     ///< [kept][kept] lower triangle L, row-major
  double contradiction_ = 0;
};

/// Why friction along t1 alone is not all the friction of these contacts, in one sentence; "" for
/// planar problems, where nothing moves a contact along t2.
std::string why_not_planar(const ContactProblem& problem);

}  // namespace ccp
