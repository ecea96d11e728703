#pragma once

#include <string>

#include "solvers/core/problem.hpp"

namespace ccp {

/// The ends of N's spectrum, 1/kg. N of mechanics is positive semidefinite; one that was given in
/// assembled form need not be, and is then no problem that any solver here is for.
struct Definiteness {
  /// A negative eigenvalue up to this part of the largest is what printing N with seven digits
  /// leaves.
  static constexpr double rounding = 1e-6;

  double least = 0, largest = 0;
  bool is_semidefinite() const { return least >= -rounding * largest && largest >= 0; }
  /// "the eigenvalue -0.5 beside 1 1/kg"
  std::string text() const;
};

/// By the Lanczos process, from one start and `steps` products: the ends of the spectrum to some
/// digits, `least` from above.
Definiteness definiteness(const Problem& problem, int steps = 100);

}  // namespace ccp
