#pragma once

#include "solvers/core/wide_cone.hpp"
#include "solvers/linear/pair_blocks.hpp"
#include "solvers/velocity_space/pool_units.hpp"

namespace ccp {

/// How close a pair (x, y) is to the solution and to the central path.
struct Centrality {
  double dot = 0;    ///< x.y
  double along = 0;  ///< x.d
  double logs =
      0;  ///< sum over cones of log(4 det x det y), the cone of mu = 0 counted as (x_n y_n)^2
};

/// What rolling resistance and equality constraints are to the interior point method: their part of
/// its Newton system and of its iterate, beside those of the contacts.
///
/// A contact with rolling resistance is in  { |gamma_t| <= mu gamma_n } x { |gamma_r| <= rho
/// gamma_n },  two cones that share gamma_n. Their duals share its velocity, u_n = (u_n - b) + b:
/// the contact's triple is one like any other with u_n - b, and the second cone has
///     x_2 = (rho gamma_n, gamma_r),    y_2 = (b / rho, u_r),
/// with a Nesterov-Todd scaling P(w_2) of its own. The step has one gamma_n for both, so that b is
/// no unknown of it: the normal rows of the two cones add up, and A gets
///     T_2 P(w_2) T_2,    T_2 = diag(rho, 1),
/// on (gamma_n, gamma_r): a diagonal block, and one between the two triples of the contact.
///
/// The rows of equality constraints have no cone. Their velocity is to be zero, and -y is their
/// right-hand side; an R of 10^-8 trace(N)/3n on them makes A regular where they depend on each
/// other. Rows that are not in use, and rolling triples with rho = 0, are idle: identity.
///
/// Vectors are [3 triples] in world axes; these triples are in the units of contacts (PoolUnits).
class NewtonPools {
 public:
  /// T_2 P(w_2) T_2 in parts: of (n, r) it is  along n + tilt . r  and  n tilt + across r.
  struct Block {
    double along;
    Vec3 tilt;
    Sym3 across;
  };

  /// @param regularization  R of rolling triples, 1/kg
  NewtonPools(const Problem& problem, double regularization);

  bool empty() const { return size_ == 0; }
  /// Cones with a barrier, beside those of the contacts.
  int cones() const { return cones_; }
  /// Equality constraints.
  std::size_t joints() const { return static_cast<std::size_t>(size_ - rolling_); }

  // ---- the Newton system ----

  /// Impulses into the problem's units; none where idle. @param to  may be from
  void impulses(const ConstVectorView& from, const VectorView& to) const;
  /// y += r of these triples. @param r  of the problem
  void add_velocities(const ConstVectorView& r, const VectorView& y) const;
  /// dx of these triples: dgamma, none where idle.
  void steps(const VectorView& dgamma, const VectorView& dx) const;
  /// A velocity of the problem in the units here.
  KOKKOS_INLINE_FUNCTION Vec3 velocity(int t, const Vec3& d) const {
    const int j = t - first_;
    return is_idle(j) ? Vec3{} : units_.length(j) * d;
  }
  void set_scaling(const VectorView& x, const VectorView& y);
  /// y += what is in A beside T P(w) T + N and the R of contacts.
  void add(const ConstVectorView& p, const VectorView& y) const;
  /// The same of the diagonal blocks, those of the contacts being there.
  void diagonal_blocks(const DeviceArray<Sym3*>& blocks) const;
  /// The blocks of A between the triples of contacts with rolling resistance, as they are now.
  PairBlocks pairs() const { return {contact_, second_, cross_}; }

  // ---- the iterate ----

  /// The split of a start that is on the central path for alpha, and y of contacts without it.
  void start(const VectorView& x, double alpha, const VectorView& y);
  /// y with x o y = alpha e; zero for equality constraints.
  void central_partner(const VectorView& x, double alpha, const VectorView& y) const;
  /// Adds to the right-hand side what the normal row of the second cones has.
  void add_rhs(const VectorView& x, double alpha, const VectorView& b);
  /// The direction of the split, by which dy of the contacts is freed.
  void direction(const VectorView& dgamma, const VectorView& dy);
  void add_centrality(const VectorView& x, const VectorView& y, const VectorView& d,
                      Centrality& sum) const;
  /// Largest theta with x + theta dx and y + theta dy in the second cones.
  double max_step(const VectorView& x, const VectorView& dx, const VectorView& y,
                  const VectorView& dy) const;
  void advance(double theta);
  /// Moves what rounding has brought to the boundary of the second cones inside by rounding.
  void keep_inside(const VectorView& x, const VectorView& y);
  /// Whether y - s d lies strictly inside the second cones.
  bool is_feasible(const VectorView& y, const VectorView& d, double s) const;
  /// Largest velocity y - s d of an equality constraint, m/s.
  double joint_error(const VectorView& y, const VectorView& d, double s) const;

  // Public only because device lambdas may not live in private members.
  void set_up(const Problem& problem, double regularization);
  KOKKOS_INLINE_FUNCTION bool is_idle(int j) const { return j < rolling_ && units_.limit(j) == 0; }
  KOKKOS_INLINE_FUNCTION double limit(int k) const { return units_.limit(k); }
  /// The scaling point of the second cone.
  KOKKOS_INLINE_FUNCTION const jordan::WideScaling& second_scaling(int k) const {
    return second_scaling_(k);
  }
  /// N + R of the rolling triple, and N of its contact beside it.
  KOKKOS_INLINE_FUNCTION const Sym3& constant_block(int k) const { return base_(k); }
  KOKKOS_INLINE_FUNCTION const CrossBlock& constant_cross(int k) const { return base_cross_(k); }
  KOKKOS_INLINE_FUNCTION Vec3 axis(int k) const { return row3(normal_, contact_(k)); }
  /// T^-1 along the normal.
  KOKKOS_INLINE_FUNCTION double share(int k) const {
    const double mu = mu_(contact_(k));
    return mu > 0 ? 1 / mu : 1;
  }
  /// x_2 of what is x of the contact's triple and the rolling one.
  KOKKOS_INLINE_FUNCTION jordan::Wide impulse(int k, const VectorView& x) const {
    const double along = dot(load3(x, contact_(k)), axis(k));
    // Rounded here: contracted into n - |t| of the cone it would be another number in some kernels.
    return {fma(units_.limit(k) * share(k), along, 0.0), load3(x, first_ + k)};
  }
  /// y_2. @param split  b
  KOKKOS_INLINE_FUNCTION jordan::Wide spread(int k, double split, const Vec3& turn) const {
    return {split / units_.limit(k), turn};
  }

 private:
  int first_ = 0, size_ = 0, rolling_ = 0, cones_ = 0;
  PoolUnits units_;
  DeviceArray<const int*> contact_;  ///< [rolling] of their contacts
  DeviceArray<int*> second_;         ///< [rolling] their own triples
  DeviceArray<const int*> rows_;     ///< [equality]
  DeviceArray<const double* [3]> normal_;
  DeviceArray<const double*> mu_;
  DeviceArray<Sym3*> own_;                            ///< [pools] R, and the identity of idle rows
  DeviceArray<Sym3*> base_;                           ///< [pools] diagonal blocks of N, and own_
  DeviceArray<CrossBlock*> base_cross_;               ///< [rolling] of N
  DeviceArray<CrossBlock*> cross_;                    ///< [rolling] of A
  DeviceArray<jordan::WideScaling*> second_scaling_;  ///< [rolling]
  DeviceArray<Block*> scaling_;                       ///< [rolling] and what it gives A
  DeviceArray<double*> split_, dsplit_, offset_;  ///< [rolling] b, db, and db without dgamma, m/s
};

}  // namespace ccp
