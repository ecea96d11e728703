#pragma once

#include <string>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// Estimated ends of the spectrum of a preconditioned operator. Ritz values lie inside the field of
/// values, so `low` comes from above and `high` from below.
struct Spectrum {
  double low = 0, high = 0;  ///< smallest and largest real part of the Ritz values
  double imaginary = 0;      ///< largest imaginary part; 0 with lanczos
  int steps = 0;       ///< Krylov steps made: fewer than asked for when the space is exhausted
  std::string method;  ///< "lanczos" or "arnoldi"; "" if neither worked (NaN)
};

/// The ends of the spectrum of M^-1 A, A symmetric, M^-1 = `inverse` (null: identity).
///
/// lanczos, for a symmetric positive definite M: the Lanczos process for L^-1 A L^-T, M = L L^T,
/// which needs M^-1 only; its tridiagonal matrix is the one CG finds from the same start. Without
/// reorthogonalisation: that makes copies of Ritz values, and leaves the extreme ones where they
/// are. Keeps four vectors.
/// arnoldi, otherwise (`symmetric` false, or a symmetric M that turns out not to be definite): Ritz
/// values of the right-preconditioned A M^-1, with modified Gram-Schmidt, twice. For a symmetric
/// indefinite M the spectrum is real, and `low` negative. Keeps steps + 2 vectors.
///
/// @param start  not zero; what it has no part of is not found. Not changed
Spectrum estimate_spectrum(const Operator& a, const Teuchos::RCP<const Operator>& inverse,
                           bool symmetric, const Vector& start, int steps);

}  // namespace ccp
