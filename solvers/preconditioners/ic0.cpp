#include <Tpetra_CrsMatrix.hpp>
#include <cmath>

#include "solvers/preconditioners/incomplete_cholesky.hpp"

namespace ccp {
namespace {

/// IC(0) entry by entry. L in rows, the diagonal entry last, its inverse beside it. A solve reads
/// 24 bytes per entry of L; a factorisation takes, for each entry, one pass over a row of L.
class Ic0 : public ZeroFillCholesky {
 public:
  Ic0(Teuchos::RCP<const CrsMatrix> a, double shift) : ZeroFillCholesky(a, shift), a_(a) {}

 protected:
  void analyze() override {
    const auto local = a_->getLocalMatrixHost();
    const auto rows = static_cast<std::size_t>(local.numRows());
    offset_.assign(1, 0);
    column_.clear();
    source_.clear();
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = local.graph.row_map(i); k < local.graph.row_map(i + 1); ++k) {
        const int j = local.graph.entries(k);
        if (j > static_cast<int>(i)) break;  // columns ascend
        column_.push_back(j);
        source_.push_back(k);
      }
      offset_.push_back(column_.size());
    }
    value_.resize(column_.size());
    inverse_diagonal_.resize(rows);
    place_.assign(rows, -1);
  }

  bool factorize(double shift) override {
    const auto a = a_->getLocalMatrixHost().values;
    const std::size_t rows = inverse_diagonal_.size();
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t begin = offset_[i], diagonal = offset_[i + 1] - 1;
      for (std::size_t k = begin; k < diagonal; ++k) place_[column_[k]] = static_cast<long>(k);
      double sum = 0;
      for (std::size_t k = begin; k < diagonal; ++k) {
        const auto j = static_cast<std::size_t>(column_[k]);
        double value = a(source_[k]);
        for (std::size_t l = offset_[j]; l + 1 < offset_[j + 1]; ++l) {
          const long at = place_[column_[l]];
          if (at >= 0) value -= value_[at] * value_[l];
        }
        value_[k] = value * inverse_diagonal_[j];
        sum += value_[k] * value_[k];
      }
      for (std::size_t k = begin; k < diagonal; ++k) place_[column_[k]] = -1;
      const double own = a(source_[diagonal]), pivot = own * (1 + shift) - sum;
      if (!(pivot > smallest_pivot * own) || !std::isfinite(pivot)) return false;
      value_[diagonal] = std::sqrt(pivot);
      inverse_diagonal_[i] = 1 / value_[diagonal];
    }
    return true;
  }

  void solve(const double* b, double* x) const override {
    const std::size_t rows = inverse_diagonal_.size();
    for (std::size_t i = 0; i < rows; ++i) {
      double value = b[i];
      for (std::size_t k = offset_[i]; k + 1 < offset_[i + 1]; ++k) {
        value -= value_[k] * x[column_[k]];
      }
      x[i] = value * inverse_diagonal_[i];
    }
    for (std::size_t i = rows; i-- > 0;) {
      const double value = x[i] * inverse_diagonal_[i];
      x[i] = value;
      for (std::size_t k = offset_[i]; k + 1 < offset_[i + 1]; ++k) {
        x[column_[k]] -= value_[k] * value;
      }
    }
  }

 private:
  Teuchos::RCP<const CrsMatrix> a_;
  std::vector<std::size_t> offset_, source_;
  std::vector<int> column_;
  std::vector<double> value_, inverse_diagonal_;
  std::vector<long> place_;  ///< of a column in the row that is being made, or -1
};

class Ic0Preconditioner : public IncompleteCholeskyPreconditioner {
 public:
  void setup(const PreconditionerInput& input) override {
    factor_ = Teuchos::rcp(new Ic0(input.crs, shift_));
    factor_->initialize();
  }
};

}  // namespace

PreconditionerEntry preconditioner_ic0() {
  return {"ic0",
          MatrixForm::crs,
          true,
          true,
          "incomplete Cholesky without fill, entry by entry",
          construct<Ic0Preconditioner>};
}

}  // namespace ccp
