#pragma once

#include "solvers/core/cone.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// Inverse of a symmetric positive definite 3x3-block diagonal, as an operator: the block Jacobi
/// preconditioner of Kleinert 2017 Sect. 4.2. Stores 6 numbers per block; apply moves 96 bytes per
/// block.
class BlockDiagonalInverse : public Operator {
 public:
  BlockDiagonalInverse(Teuchos::RCP<const Map> map, int blocks);

  /// Takes new blocks, [n] (00, 01, 02, 11, 12, 22). A block that is not positive definite is
  /// replaced by its diagonal.
  void update(const DeviceArray<const double* [6]>& blocks);

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;

  long applies() const { return applies_; }

  /// b = a^-1 through the Cholesky factor, which stays accurate for the badly scaled blocks that
  /// interior points near the cone's boundary have.
  KOKKOS_INLINE_FUNCTION static void invert_symmetric(const double a[6], double b[6]) {
    const double l00 = sqrt(a[0]), l10 = a[1] / l00, l20 = a[2] / l00;
    const double d1 = a[3] - l10 * l10;
    const double l11 = sqrt(d1), l21 = (a[4] - l20 * l10) / l11;
    const double d2 = a[5] - l20 * l20 - l21 * l21;
    if (!(a[0] > 0 && d1 > 0 && d2 > 0)) {
      b[0] = 1 / a[0], b[3] = 1 / a[3], b[5] = 1 / a[5];
      b[1] = b[2] = b[4] = 0;
      return;
    }
    const double i00 = 1 / l00, i11 = 1 / l11, i22 = 1 / sqrt(d2);
    const double i10 = -l10 * i00 * i11;
    const double i21 = -l21 * i11 * i22;
    const double i20 = -(l20 * i00 + l21 * i10) * i22;
    b[0] = i00 * i00 + i10 * i10 + i20 * i20;
    b[1] = i10 * i11 + i20 * i21;
    b[2] = i20 * i22;
    b[3] = i11 * i11 + i21 * i21;
    b[4] = i21 * i22;
    b[5] = i22 * i22;
  }

 private:
  Teuchos::RCP<const Map> map_;
  DeviceArray<double* [6]> inverse_;
  mutable long applies_ = 0;
};

}  // namespace ccp
