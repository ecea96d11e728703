#include <Tpetra_CrsMatrix.hpp>
#include <cmath>

#include "solvers/preconditioners/shifts.hpp"

namespace ccp {
namespace {

/// IC(0) entry by entry, A ~ L L^T with L on the pattern of A's lower triangle, and its inverse as
/// an operator. L in rows, the diagonal entry last, its inverse beside it. A solve reads 24 bytes
/// per entry of L; a factorisation takes, for each entry, one pass over a row of L.
///
/// On the host and sequential, as a triangular solve without level scheduling is; on a device
/// vectors are copied to and fro.
class Ic0 : public Operator {
 public:
  explicit Ic0(Teuchos::RCP<const CrsMatrix> a) : a_(std::move(a)) {
    const auto local = a_->getLocalMatrixHost();
    const auto rows = static_cast<std::size_t>(local.numRows());
    offset_.assign(1, 0);
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

  /// Tries to factor A + shift diag(A). @return false at a pivot that is not above `least` of its
  /// diagonal entry
  bool factorize(double shift, double least) {
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
      if (!(pivot > least * own) || !std::isfinite(pivot)) return false;
      value_[diagonal] = std::sqrt(pivot);
      inverse_diagonal_[i] = 1 / value_[diagonal];
    }
    return true;
  }

  Teuchos::RCP<const Map> getDomainMap() const override { return a_->getDomainMap(); }
  Teuchos::RCP<const Map> getRangeMap() const override { return a_->getRangeMap(); }
  bool hasTransposeApply() const override { return true; }
  /// y = alpha (L L^T)^-1 x + beta y.
  void apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
             double beta) const override {
    const auto in = x.getLocalViewHost(Tpetra::Access::ReadOnly);
    if (alpha == 1 && beta == 0) {
      const auto out = y.getLocalViewHost(Tpetra::Access::OverwriteAll);
      solve(in.data(), out.data());
      return;
    }
    solution_.resize(in.extent(0));
    solve(in.data(), solution_.data());
    const auto out = y.getLocalViewHost(Tpetra::Access::ReadWrite);
    for (std::size_t i = 0; i < solution_.size(); ++i) {
      out(i, 0) = alpha * solution_[i] + (beta == 0 ? 0 : beta * out(i, 0));
    }
  }

 private:
  /// x = (L L^T)^-1 b; x may be b.
  void solve(const double* b, double* x) const {
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

  Teuchos::RCP<const CrsMatrix> a_;
  std::vector<std::size_t> offset_, source_;
  std::vector<int> column_;
  std::vector<double> value_, inverse_diagonal_;
  std::vector<long> place_;               ///< of a column in the row that is being made, or -1
  mutable std::vector<double> solution_;  ///< where beta is not 0
};

class Ic0Preconditioner : public Preconditioner {
 public:
  OptionList options() override {
    return OptionList("ic0", "preconditioner")
        .number("shift", rule_.first, OptionList::Range::positive(), shift_help);
  }
  void setup(const PreconditionerInput& input) override {
    factor_ = Teuchos::rcp(new Ic0(input.crs));
  }
  PreconditionerReport compute() override {
    return factorize_with_shifts(
        rule_, [&](double shift, bool) { return factor_->factorize(shift, rule_.smallest_pivot); });
  }
  Teuchos::RCP<const Operator> inverse() const override { return factor_; }

 private:
  ShiftRule rule_;
  Teuchos::RCP<Ic0> factor_;
};

}  // namespace

std::unique_ptr<Preconditioner> make_ic0() {
  return std::make_unique<Ic0Preconditioner>();
}

}  // namespace ccp
