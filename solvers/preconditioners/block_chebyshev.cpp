#include <limits>

#include "solvers/core/vector_kernels.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

namespace ccp {

std::unique_ptr<Preconditioner> make_block_diagonal();

namespace {

/// The Chebyshev polynomial q with q(D^-1 S) D^-1 ~ S^-1 for the diagonal blocks D of S (Saad,
/// Iterative Methods for Sparse Linear Systems, 2003, Algorithm 12.1, from zero). In body space
/// no eigenvalue of D^-1 S is above 2: a contact's part of S touches two bodies, and
/// |a + b|^2 <= 2 |a|^2 + 2 |b|^2. The polynomial is positive on (0, 2], so that the inverse is
/// positive definite.
class ChebyshevInverse : public Operator {
 public:
  ChebyshevInverse(Teuchos::RCP<const Operator> matrix, Teuchos::RCP<const Operator> diagonal,
                   int degree, double ratio)
      : matrix_(std::move(matrix)),
        diagonal_(std::move(diagonal)),
        degree_(degree),
        ratio_(ratio),
        step_(Teuchos::rcp(new Vector(matrix_->getDomainMap(), 1))),
        left_(Teuchos::rcp(new Vector(matrix_->getDomainMap(), 1))),
        scaled_(Teuchos::rcp(new Vector(matrix_->getDomainMap(), 1))),
        answer_(Teuchos::rcp(new Vector(matrix_->getDomainMap(), 1))) {}

  Teuchos::RCP<const Map> getDomainMap() const override { return matrix_->getDomainMap(); }
  Teuchos::RCP<const Map> getRangeMap() const override { return matrix_->getRangeMap(); }
  bool hasTransposeApply() const override { return true; }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
             double beta) const override {
    constexpr double high = 2;
    const double low = high / ratio_, middle = 0.5 * (high + low), half = 0.5 * (high - low);
    const double sigma = middle / half;
    double rho = 1 / sigma;
    diagonal_->apply(x, *scaled_);
    const auto step = read_write_view(*step_), z = read_write_view(*answer_);
    vector_kernels::add(1 / middle, read_view(*scaled_), 0, read_view(*scaled_), step);
    Kokkos::deep_copy(ExecSpace(), z, step);
    for (int k = 0; k < degree_; ++k) {
      matrix_->apply(*answer_, *left_);
      const auto left = read_write_view(*left_);
      vector_kernels::add(1, read_view(x), -1, left, left);
      diagonal_->apply(*left_, *scaled_);
      const double next = 1 / (2 * sigma - rho);
      vector_kernels::add(next * rho, step, 2 * next / half, read_view(*scaled_), step);
      vector_kernels::add(1, z, 1, step, z);
      rho = next;
    }
    if (beta == 0) {
      vector_kernels::add(alpha, z, 0, z, overwrite_view(y));
    } else {
      const auto out = read_write_view(y);
      vector_kernels::add(alpha, z, beta, out, out);
    }
  }

 private:
  Teuchos::RCP<const Operator> matrix_, diagonal_;
  int degree_;
  double ratio_;
  const Teuchos::RCP<Vector> step_, left_, scaled_, answer_;
};

class BlockChebyshevPreconditioner : public Preconditioner {
 public:
  OptionList options() override {
    return OptionList("block_chebyshev", "preconditioner")
        .integer("degree", degree_, {1, 100}, "products with A per application")
        .number("eigenvalue_ratio", eigenvalue_ratio_,
                {1, std::numeric_limits<double>::infinity(), true},
                "the interval is [lambda_max / this, lambda_max]");
  }
  void setup(const PreconditionerInput& input) override {
    diagonal_->setup(input);
    inverse_ = Teuchos::rcp(
        new ChebyshevInverse(input.ordered, diagonal_->inverse(), degree_, eigenvalue_ratio_));
  }
  PreconditionerReport compute() override { return diagonal_->compute(); }
  Teuchos::RCP<const Operator> inverse() const override { return inverse_; }

 private:
  int degree_ = 3;
  double eigenvalue_ratio_ = 30;
  std::unique_ptr<Preconditioner> diagonal_ = make_block_diagonal();
  Teuchos::RCP<ChebyshevInverse> inverse_;
};

}  // namespace

std::unique_ptr<Preconditioner> make_block_chebyshev() {
  return std::make_unique<BlockChebyshevPreconditioner>();
}

}  // namespace ccp
