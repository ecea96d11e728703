#pragma once

#include <Ifpack2_Preconditioner.hpp>
#include <vector>

#include "solvers/preconditioners/preconditioner.hpp"

namespace ccp {

/// Incomplete Cholesky factorisation without fill,  A ≈ L L^T  with L on the pattern of A's lower
/// triangle, so that (L L^T)_ij = A_ij there, and the inverse as an operator. What ic0 (scalar
/// entries) and block_ic0 (3x3 blocks) share.
///
/// A pivot that is not positive ends the attempt, and the whole matrix is tried again with
/// A + s diag(A), s = shift, 3 shift, 9 shift, ... (Manteuffel 1980), which exists once s makes the
/// matrix an H-matrix.
///
/// On the host and sequential, as a triangular solve without level scheduling is; on a device
/// vectors are copied to and fro.
class ZeroFillCholesky : public Ifpack2::Preconditioner<double> {
 public:
  using RowMatrix = Tpetra::RowMatrix<double>;
  static constexpr double shift_growth = 3;
  static constexpr int max_restarts = 30;

  /// @param shift  the first one tried, relative to the diagonal
  ZeroFillCholesky(Teuchos::RCP<const RowMatrix> matrix, double shift)
      : matrix_(std::move(matrix)), first_shift_(shift) {}

  /// "shift" is the one parameter.
  void setParameters(const Teuchos::ParameterList& parameters) override;
  void initialize() override;
  bool isInitialized() const override { return initialized_; }
  /// After it `isComputed` says whether there is a factor, `shift` and `restarts` how it came
  /// about.
  void compute() override;
  bool isComputed() const override { return computed_; }
  /// y = alpha (L L^T)^-1 x + beta y.
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;
  bool hasTransposeApply() const override { return true; }

  double shift() const { return shift_; }
  int restarts() const { return restarts_; }

  Teuchos::RCP<const Map> getDomainMap() const override { return matrix_->getDomainMap(); }
  Teuchos::RCP<const Map> getRangeMap() const override { return matrix_->getRangeMap(); }
  Teuchos::RCP<const RowMatrix> getMatrix() const override { return matrix_; }
  int getNumInitialize() const override { return initializations_; }
  int getNumCompute() const override { return computations_; }
  int getNumApply() const override { return applications_; }
  double getInitializeTime() const override { return initialize_time_; }
  double getComputeTime() const override { return compute_time_; }
  double getApplyTime() const override { return 0; }  // no clock is read in an iteration

 protected:
  /// Finds the pattern of L.
  virtual void analyze() = 0;
  /// Tries to factor A + shift diag(A). @return false at a pivot that is not positive
  virtual bool factorize(double shift) = 0;
  /// x = (L L^T)^-1 b on the host; x may be b.
  virtual void solve(const double* b, double* x) const = 0;

 private:
  Teuchos::RCP<const RowMatrix> matrix_;
  double first_shift_, shift_ = 0;
  int restarts_ = 0;
  bool initialized_ = false, computed_ = false;
  int initializations_ = 0, computations_ = 0;
  mutable int applications_ = 0;
  double initialize_time_ = 0, compute_time_ = 0;
  mutable std::vector<double> solution_;  ///< where beta is not 0
};

/// Pivots at most this times the diagonal entry count as not positive: below it they are rounding.
inline constexpr double smallest_pivot = 1e-14;

/// The two incomplete Cholesky factorisations as preconditioners of the registry.
class IncompleteCholeskyPreconditioner : public Preconditioner {
 public:
  OptionList options() override;
  PreconditionerReport compute() override;
  Teuchos::RCP<const Operator> inverse() const override { return factor_; }

 protected:
  double shift_ = 1e-3;
  Teuchos::RCP<ZeroFillCholesky> factor_;
};

}  // namespace ccp
