#pragma once

#include "solvers/ipm/newton_system.hpp"
#include "solvers/linear/sparse_matrix.hpp"

namespace ccp {

/// The matrix A of a NewtonSystem, written out. The structure and N are assembled once, `update`
/// changes the 3x3 blocks on the diagonal only, all that the scaling point touches.
///
/// Storage: 9 numbers per block of N (see assemble_delassus) and form, and 6 per contact.
class NewtonMatrix {
 public:
  /// Which forms to keep.
  struct Forms {
    bool crs = false, block_crs = false;
  };

  NewtonMatrix(const Problem& problem, Forms forms);

  /// Takes the diagonal blocks of A for the system's current scaling.
  void update(const NewtonSystem& system);

  /// The diagonal blocks, [n].
  DeviceArray<const Sym3*> diagonal() const { return diagonal_; }
  /// Null where the form was not asked for.
  Teuchos::RCP<const CrsMatrix> crs() const { return crs_; }
  Teuchos::RCP<const BlockCrsMatrix> block_crs() const { return block_crs_; }

 private:
  DeviceArray<Sym3*> diagonal_;
  DeviceArray<const int*> crs_place_, block_place_;
  Teuchos::RCP<CrsMatrix> crs_;
  Teuchos::RCP<BlockCrsMatrix> block_crs_;
};

}  // namespace ccp
