#pragma once

#include <array>

#include "problems/model/contact_problem.hpp"
#include "solvers/core/law.hpp"
#include "solvers/lcp/joint_elimination.hpp"
#include "solvers/lcp/lemke.hpp"

namespace ccp {

/// The contact problem with a pyramid for every friction cone, as an LCP.
///
/// The circle |gamma_t| <= mu gamma_n becomes the polygon with corners mu gamma_n d_k,
/// d_k = (cos 2 pi k/m, sin 2 pi k/m), k = 0 ... m - 1, drawn into it.
///
/// With gamma = (c_n, sum_k beta_k d_k) and u = N gamma + r, as in the Anitescu slides:
///
///     rho   = u_n [- mu lambda]          >= 0  ⊥  c_n    >= 0
///     sigma = lambda + d_k . u_t         >= 0  ⊥  beta_k >= 0
///     zeta  = mu c_n - sum_k beta_k      >= 0  ⊥  lambda >= 0
///
/// The term in brackets is there for the convex law and makes M the sum of a positive semidefinite
/// and a skew matrix: the LCP is then the optimality system of  min 1/2 gamma . N gamma + r . gamma
/// over the pyramids. A contact with mu = 0 has the one unknown c_n.
///
/// Equality constraints are solved for beforehand (JointElimination): N and r are then the N' and
/// r' of the contacts.
///
/// Numbers are made dimensionless: impulses times s/q, velocities over q, with s = trace(N) / 3n
/// and q the largest |r|.
class PolyhedralProblem {
 public:
  /// @param edges  of a pyramid, even, >= 2; with 2 friction acts along t1 only
  /// @param delassus_scale  s, 1/kg
  PolyhedralProblem(const ContactProblem& problem, Law law, int edges, double delassus_scale);
  /// Unknowns it would have.
  static std::size_t size(const ContactProblem& problem, int edges);

  const Lcp& lcp() const { return lcp_; }
  /// Velocities of the LCP times this are in m/s.
  double velocity_scale() const { return velocity_scale_; }
  /// How far equality constraints that depend on each other contradict each other, m/s.
  double contradiction() const { return joints_.contradiction(); }
  /// @param z  [size]. @return gamma [triples][3], contact axes, N s
  std::vector<double> gamma(const std::vector<double>& z) const;

 private:
  /// One unknown: what it adds to gamma, or nothing (lambda).
  struct Unknown {
    std::int32_t contact;
    std::array<double, 3> direction;  ///< contact axes
  };
  JointElimination joints_;
  std::vector<Unknown> unknowns_;
  Lcp lcp_;
  double velocity_scale_ = 1, impulse_scale_ = 1;
};

}  // namespace ccp
