#include <Tpetra_BlockCrsMatrix.hpp>
#include <cmath>

#include "solvers/preconditioners/incomplete_cholesky.hpp"

namespace ccp {
namespace {

/// c -= a b^T for row-major 3x3 blocks.
inline void subtract_product(const double* a, const double* b, double* c) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      c[3 * i + j] -=
          a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2];
    }
  }
}

/// The inverse (00, 10, 11, 20, 21, 22) of the Cholesky factor of a symmetric block.
/// @return false if a pivot is not positive, measured against the diagonal entries `own`
bool invert_factor(const double* a, const double own[3], double* inverse) {
  const double d0 = a[0];
  if (!(d0 > smallest_pivot * own[0])) return false;
  const double l00 = std::sqrt(d0), l10 = a[3] / l00, l20 = a[6] / l00;
  const double d1 = a[4] - l10 * l10;
  if (!(d1 > smallest_pivot * own[1])) return false;
  const double l11 = std::sqrt(d1), l21 = (a[7] - l20 * l10) / l11;
  const double d2 = a[8] - l20 * l20 - l21 * l21;
  if (!(d2 > smallest_pivot * own[2]) || !std::isfinite(d0 + d1 + d2)) return false;
  inverse[0] = 1 / l00;
  inverse[2] = 1 / l11;
  inverse[5] = 1 / std::sqrt(d2);
  inverse[1] = -l10 * inverse[0] * inverse[2];
  inverse[4] = -l21 * inverse[2] * inverse[5];
  inverse[3] = -(l20 * inverse[0] + l21 * inverse[1]) * inverse[5];
  return true;
}

/// IC(0) in 3x3 blocks: the pattern is that of the contacts, and pivots are Cholesky factors of
/// blocks. L in block rows, the inverse factors of the diagonal blocks beside it. A solve reads 152
/// bytes per block of L.
class BlockIc0 : public ZeroFillCholesky {
 public:
  BlockIc0(Teuchos::RCP<const BlockCrsMatrix> a, double shift)
      : ZeroFillCholesky(a, shift), a_(a) {}

 protected:
  void analyze() override {
    const auto graph = a_->getCrsGraph().getLocalGraphHost();
    const auto rows = static_cast<std::size_t>(graph.numRows());
    offset_.assign(1, 0);
    column_.clear();
    source_.clear();
    diagonal_source_.clear();
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
        const int j = graph.entries(k);
        if (j > static_cast<int>(i)) break;  // columns ascend
        if (j == static_cast<int>(i)) {
          diagonal_source_.push_back(k);
        } else {
          column_.push_back(j);
          source_.push_back(k);
        }
      }
      offset_.push_back(column_.size());
    }
    block_.resize(9 * column_.size());
    inverse_.resize(6 * rows);
    place_.assign(rows, -1);
  }

  bool factorize(double shift) override {
    const auto values = a_->getValuesHost();
    const double* const a = values.data();
    for (std::size_t i = 0; i < place_.size(); ++i) {
      const std::size_t begin = offset_[i], end = offset_[i + 1];
      for (std::size_t k = begin; k < end; ++k) place_[column_[k]] = static_cast<long>(k);
      double pivot[9], own[3];
      for (int e = 0; e < 9; ++e) pivot[e] = a[9 * diagonal_source_[i] + e];
      for (int e = 0; e < 3; ++e) {
        own[e] = pivot[4 * e];
        pivot[4 * e] *= 1 + shift;
      }
      for (std::size_t k = begin; k < end; ++k) {
        const auto j = static_cast<std::size_t>(column_[k]);
        double b[9];
        for (int e = 0; e < 9; ++e) b[e] = a[9 * source_[k] + e];
        for (std::size_t l = offset_[j]; l < offset_[j + 1]; ++l) {
          const long at = place_[column_[l]];
          if (at >= 0) subtract_product(&block_[9 * at], &block_[9 * l], b);
        }
        // L_ij = b L_jj^-T.
        const double* const d = &inverse_[6 * j];
        double* const block = &block_[9 * k];
        for (int r = 0; r < 3; ++r) {
          const double* const row = &b[3 * r];
          block[3 * r] = row[0] * d[0];
          block[3 * r + 1] = row[0] * d[1] + row[1] * d[2];
          block[3 * r + 2] = row[0] * d[3] + row[1] * d[4] + row[2] * d[5];
        }
        subtract_product(block, block, pivot);
      }
      for (std::size_t k = begin; k < end; ++k) place_[column_[k]] = -1;
      if (!invert_factor(pivot, own, &inverse_[6 * i])) return false;
    }
    return true;
  }

  void solve(const double* b, double* x) const override {
    const std::size_t rows = place_.size();
    for (std::size_t i = 0; i < rows; ++i) {
      double v[3] = {b[3 * i], b[3 * i + 1], b[3 * i + 2]};
      for (std::size_t k = offset_[i]; k < offset_[i + 1]; ++k) {
        const double *m = &block_[9 * k], *z = &x[3 * static_cast<std::size_t>(column_[k])];
        for (int r = 0; r < 3; ++r) {
          v[r] -= m[3 * r] * z[0] + m[3 * r + 1] * z[1] + m[3 * r + 2] * z[2];
        }
      }
      const double* const d = &inverse_[6 * i];
      x[3 * i] = d[0] * v[0];
      x[3 * i + 1] = d[1] * v[0] + d[2] * v[1];
      x[3 * i + 2] = d[3] * v[0] + d[4] * v[1] + d[5] * v[2];
    }
    for (std::size_t i = rows; i-- > 0;) {
      const double* const d = &inverse_[6 * i];
      double* const own = &x[3 * i];
      own[0] = d[0] * own[0] + d[1] * own[1] + d[3] * own[2];
      own[1] = d[2] * own[1] + d[4] * own[2];
      own[2] = d[5] * own[2];
      for (std::size_t k = offset_[i]; k < offset_[i + 1]; ++k) {
        const double* m = &block_[9 * k];
        double* z = &x[3 * static_cast<std::size_t>(column_[k])];
        for (int c = 0; c < 3; ++c) {
          z[c] -= m[c] * own[0] + m[3 + c] * own[1] + m[6 + c] * own[2];
        }
      }
    }
  }

 private:
  Teuchos::RCP<const BlockCrsMatrix> a_;
  std::vector<std::size_t> offset_, source_, diagonal_source_;
  std::vector<int> column_;
  std::vector<double> block_, inverse_;
  std::vector<long> place_;  ///< of a column in the row that is being made, or -1
};

class BlockIc0Preconditioner : public IncompleteCholeskyPreconditioner {
 public:
  void setup(const PreconditionerInput& input) override {
    factor_ = Teuchos::rcp(new BlockIc0(input.block_crs, shift_));
    factor_->initialize();
  }
};

}  // namespace

PreconditionerEntry preconditioner_block_ic0() {
  return {"block_ic0",
          MatrixForm::block_crs,
          true,
          true,
          "incomplete Cholesky without fill, in 3x3 blocks",
          construct<BlockIc0Preconditioner>};
}

}  // namespace ccp
