#pragma once

#include "solvers/ipm/newton_pools.hpp"
#include "solvers/linear/triangular_root.hpp"

namespace ccp {

/// Roots of the diagonal blocks of A (NewtonSystem), a contact's together with that of its rolling
/// triple. At a solution P(w) has eigenvalues from alpha to 1 / alpha beside an N of size one: a
/// block that is added up has lost N at alpha = 1e-13, and what is inverted then is rounding. With
/// P(w) = sum of lambda c c^T, its eigenvectors c, the root takes the vectors sqrt(lambda) T c as
/// they are.
class NewtonRoots {
 public:
  NewtonRoots() = default;
  /// @param diagonal  blocks of N + R of the contacts
  NewtonRoots(const Problem& problem, const NewtonPools& pools,
              const DeviceArray<const Sym3*>& diagonal);

  /// Takes the scaling point of (x, y), and the one that `pools` have.
  void update(const VectorView& x, const VectorView& y, const NewtonPools& pools);
  BlockRoots blocks() const { return {pair_, alone_, together_}; }

  // Public only because device lambdas may not live in private members.
  void set_up(const NewtonPools& pools, const DeviceArray<const Sym3*>& diagonal);

 private:
  DeviceArray<const double* [3]> normal_;
  DeviceArray<const double*> mu_;
  DeviceArray<const int*> pair_, contact_;
  DeviceArray<TriangularRoot<3>*> alone_, constant_alone_;  ///< [n] of A, of N + R
  DeviceArray<TriangularRoot<6>*> together_, constant_together_;
};

}  // namespace ccp
