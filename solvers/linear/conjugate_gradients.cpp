#include "solvers/linear/conjugate_gradients.hpp"

#include "problems/base/error.hpp"
#include "solvers/core/vector_kernels.hpp"

namespace ccp {

using vector_kernels::add;

ConjugateGradients::ConjugateGradients(Teuchos::RCP<const Operator> a,
                                       Teuchos::RCP<const Operator> preconditioner)
    : a_(std::move(a)),
      preconditioner_(std::move(preconditioner)),
      ranks_(a_->getRangeMap()->getComm()),
      r_(a_->getRangeMap(), 1),
      z_(a_->getRangeMap(), 1),
      p_(a_->getRangeMap(), 1),
      ap_(a_->getRangeMap(), 1) {}

/// Over all ranks.
double ConjugateGradients::dot(const ConstVectorView& x, const ConstVectorView& y) const {
  return ranks_.sum(vector_kernels::dot(x, y));
}

/// @return whether that took a product with A
bool ConjugateGradients::residual(const ConstVectorView& b, const Vector& x) {
  const auto r = overwrite_view(r_);
  const auto guess = read_view(x);
  if (dot(guess, guess) == 0) {
    Kokkos::deep_copy(r, b);
    return false;
  }
  a_->apply(x, r_);
  add(-1, r, 1, b, r);
  return true;
}

/// One iteration. @param product  r.z of the one before, and of this
void ConjugateGradients::improve(const VectorView& x, double& product, bool first) {
  if (!preconditioner_.is_null()) preconditioner_->apply(r_, z_);
  const auto r = read_write_view(r_), p = read_write_view(p_);
  const ConstVectorView z = preconditioner_.is_null() ? r : read_view(z_);
  const double before = product;
  product = dot(r, z);
  add(1, z, first ? 0 : product / before, p, p);
  a_->apply(p_, ap_);
  const auto ap = read_view(ap_);
  const double alpha = product / dot(p, ap);
  add(alpha, p, 1, x, x);
  add(-alpha, ap, 1, r, r);
}

ConjugateGradients::Result ConjugateGradients::solve(const Vector& b, Vector& x,
                                                     const Solved& solved, const GiveUp& give_up) {
  Result result;
  double product = 0;
  try {
    result.products = residual(read_view(b), x) ? 1 : 0;
    const auto solution = read_write_view(x);
    while (true) {
      result.converged = solved(read_view(r_));
      if (result.converged || give_up(result.iterations)) break;
      improve(solution, product, result.iterations == 0);
      ++result.iterations;
      ++result.products;
    }
  } catch (const std::exception& error) {
    result.breakdown = true;
    result.message = first_line(error.what());
  }
  return result;
}

}  // namespace ccp
