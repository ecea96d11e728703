#pragma once

#include "solvers/ipm/newton_system.hpp"
#include "solvers/preconditioners/linear_solver.hpp"

namespace ccp {

/// The matrix A of a NewtonSystem, written out. The structure and N are assembled once, `update`
/// changes the 3x3 blocks on the diagonal and those between a contact and its rolling triple, all
/// that the scaling point touches.
///
/// Storage: 9 numbers per block of N (see assemble_delassus) and form, and 6 per contact.
class NewtonMatrix {
 public:
  using Forms = ChangingMatrix::Forms;

  NewtonMatrix(const Problem& problem, Forms forms);

  /// Takes the diagonal blocks of A for the system's current scaling.
  void update(const NewtonSystem& system);

  /// The diagonal blocks, [triples].
  DeviceArray<const Sym3*> diagonal() const { return diagonal_; }
  /// Null where the form was not asked for.
  Teuchos::RCP<const CrsMatrix> crs() const { return crs_; }
  Teuchos::RCP<const BlockCrsMatrix> block_crs() const { return block_crs_; }

 private:
  DeviceArray<Sym3*> diagonal_;
  DeviceArray<const int*> crs_place_, block_place_, crs_pair_place_, block_pair_place_;
  Teuchos::RCP<CrsMatrix> crs_;
  Teuchos::RCP<BlockCrsMatrix> block_crs_;
};

/// A NewtonSystem for LinearSolver: matrix-free, and assembled where that is asked for.
class NewtonEquations : public ChangingMatrix {
 public:
  NewtonEquations(const Problem& problem, Teuchos::RCP<NewtonSystem> system)
      : problem_(problem), system_(std::move(system)) {}

  Space space() const override { return Space::contact; }
  void keep(Forms forms) override { matrix_ = std::make_unique<NewtonMatrix>(problem_, forms); }
  void update() override { matrix_->update(*system_); }
  Teuchos::RCP<const Operator> product(const std::string& apply) override;
  PreconditionerInput input() const override {
    return {problem_.map(),       problem_.triples(), matrix_->diagonal(), matrix_->crs(),
            matrix_->block_crs(), Space::contact,     Teuchos::null,       system_->roots()};
  }

 private:
  const Problem& problem_;
  Teuchos::RCP<NewtonSystem> system_;
  std::unique_ptr<NewtonMatrix> matrix_;
};

}  // namespace ccp
