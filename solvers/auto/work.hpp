#pragma once

#include "solvers/core/problem.hpp"

namespace ccp {

/// What apgd and vipm are expected to need for a problem, in microseconds of the core of a Zen 4 on
/// which it was fitted: counted from sizes, never measured. What matters is the ratio. With n
/// contacts, w = 1 (2 for bodies that rotate or with triples beside the contacts), and b blocks of
/// an N of which no more is known:
///
///                      bodies                              N alone
///     an iteration     2.5 + 0.022 n (1 + w) / 2           2.5 + 0.02 n + 0.0055 b
///     vipm to 1e-8     150 + 7 n w (1 + (n/4000)^(3/4))    150 + 8 n + 2.7 b
///
/// and of the latter 5 % less for every power of ten that the aim is larger, down to 1e-3.
struct Work {
  double iteration = 1;  ///< of apgd
  double solve = 1;      ///< vipm's set-up and solve
  /// Iterations of apgd that cost as much as vipm.
  double worth() const { return solve / iteration; }
};

/// @param aim  residual
Work expected_work(const Problem& problem, double aim);

}  // namespace ccp
