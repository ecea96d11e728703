#include "solvers/linear/spectrum.hpp"

#include <Teuchos_LAPACK.hpp>
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "solvers/core/vector_kernels.hpp"

namespace ccp {
namespace {

double inner(const Vector& x, const Vector& y) {
  return vector_kernels::dot(read_view(x), read_view(y));
}
/// y <- a x + b y.
void add(double a, const Vector& x, double b, Vector& y) {
  const auto view = read_write_view(y);
  vector_kernels::add(a, read_view(x), b, view, view);
}
void apply_inverse(const Teuchos::RCP<const Operator>& inverse, const Vector& x, Vector& y) {
  if (inverse.is_null()) {
    Kokkos::deep_copy(overwrite_view(y), read_view(x));
  } else {
    inverse->apply(x, y);
  }
}

/// A residual below this part of the first is rounding: the space is exhausted.
constexpr double exhausted = 1e-12;

/// Nothing if M proves not to be definite.
std::optional<Spectrum> lanczos(const Operator& a, const Teuchos::RCP<const Operator>& inverse,
                                const Vector& start, int steps) {
  Vector v(start, Teuchos::Copy), before(start.getMap(), 1), z(start.getMap(), 1),
      w(start.getMap(), 1);
  std::vector<double> diagonal, off;
  double scale = 0;
  for (int k = 0; k < steps; ++k) {
    apply_inverse(inverse, v, z);
    const double square = inner(v, z);
    if (!std::isfinite(square)) return std::nullopt;
    if (square <= 0) {
      if (k > 0 && std::abs(square) <= exhausted * exhausted * scale * scale) break;
      return std::nullopt;
    }
    const double beta = std::sqrt(square);
    if (k == 0) scale = beta;
    if (k > 0) {
      if (beta <= exhausted * scale) break;
      off.push_back(beta);
    }
    v.scale(1 / beta);
    z.scale(1 / beta);
    a.apply(z, w);
    const double alpha = inner(w, z);
    diagonal.push_back(alpha);
    scale = std::max(scale, std::abs(alpha));
    add(-alpha, v, 1, w);
    if (k > 0) add(-beta, before, 1, w);
    std::swap(before, v);
    std::swap(v, w);
  }
  off.resize(diagonal.size());
  int info = 0;
  Teuchos::LAPACK<int, double>().STEQR('N', static_cast<int>(diagonal.size()), diagonal.data(),
                                       off.data(), nullptr, 1, nullptr, &info);
  if (info != 0 || diagonal.empty()) return std::nullopt;
  return Spectrum{diagonal.front(), diagonal.back(), 0, static_cast<int>(diagonal.size()),
                  "lanczos"};
}

Spectrum arnoldi(const Operator& a, const Teuchos::RCP<const Operator>& inverse,
                 const Vector& start, int steps) {
  const Spectrum failed{std::nan(""), std::nan(""), std::nan(""), 0, ""};
  std::vector<Teuchos::RCP<Vector>> basis{Teuchos::rcp(new Vector(start, Teuchos::Copy))};
  Vector z(start.getMap(), 1);
  basis[0]->scale(1 / std::sqrt(inner(start, start)));
  std::vector<double> h(static_cast<std::size_t>(steps) * steps, 0.0);  // column-major
  int size = 0;
  for (int k = 0; k < steps; ++k) {
    auto w = Teuchos::rcp(new Vector(start.getMap(), 1));
    apply_inverse(inverse, *basis[k], z);
    a.apply(z, *w);
    const double before = std::sqrt(inner(*w, *w));
    if (!std::isfinite(before)) return failed;
    // Twice: once the start is spanned to rounding, a single pass leaves nothing orthogonal.
    for (int pass = 0; pass < 2; ++pass) {
      for (int i = 0; i <= k; ++i) {
        const double part = inner(*basis[i], *w);
        h[i + static_cast<std::size_t>(k) * steps] += part;
        add(-part, *basis[i], 1, *w);
      }
    }
    size = k + 1;
    const double rest = std::sqrt(inner(*w, *w));
    if (rest <= exhausted * before || k + 1 == steps) break;
    h[k + 1 + static_cast<std::size_t>(k) * steps] = rest;
    w->scale(1 / rest);
    basis.push_back(w);
  }
  std::vector<double> real(size), imaginary(size), work(std::max(1, 11 * size));
  int info = 0;
  Teuchos::LAPACK<int, double>().HSEQR('E', 'N', size, 1, size, h.data(), steps, real.data(),
                                       imaginary.data(), nullptr, 1, work.data(),
                                       static_cast<int>(work.size()), &info);
  if (info != 0) return failed;
  const auto [low, high] = std::minmax_element(real.begin(), real.end());
  return {*low, *high, *std::max_element(imaginary.begin(), imaginary.end()), size, "arnoldi"};
}

}  // namespace

Spectrum estimate_spectrum(const Operator& a, const Teuchos::RCP<const Operator>& inverse,
                           bool symmetric, const Vector& start, int steps) {
  if (symmetric) {
    if (const auto spectrum = lanczos(a, inverse, start, steps)) return *spectrum;
  }
  return arnoldi(a, inverse, start, steps);
}

}  // namespace ccp
