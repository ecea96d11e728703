#pragma once

#include <fmt/format.h>

#include "solvers/preconditioners/preconditioner.hpp"

namespace ccp {

/// What an incomplete Cholesky factorisation does about pivots that fail: the whole of A + s
/// diag(A) is tried, s = 0, first, 3 first, 9 first, ... (Manteuffel 1980), which succeeds once s
/// makes the matrix an H-matrix.
struct ShiftRule {
  double smallest_pivot = 1e-14;  ///< of the diagonal entry: at most that much counts as failed
  double first = 1e-3;            ///< relative to the diagonal
  int max_restarts = 30;

  static constexpr double growth = 3;
};

/// What the option `shift` says of ShiftRule::first.
inline constexpr const char* shift_help =
    "first relative diagonal shift after a failed pivot; 3 times as much each time";

/// Calls `attempt(shift, last)` until it says that it succeeded or was the last.
template <class Attempt>
PreconditionerReport factorize_with_shifts(const ShiftRule& rule, const Attempt& attempt) {
  PreconditionerReport report;
  while (!(report.good = attempt(report.shift, report.restarts == rule.max_restarts)) &&
         report.restarts < rule.max_restarts) {
    report.shift = report.restarts == 0 ? rule.first : ShiftRule::growth * report.shift;
    ++report.restarts;
  }
  if (!report.good) {
    report.message =
        fmt::format("no positive pivots with a diagonal shift of {:.1e} either", report.shift);
  }
  return report;
}

}  // namespace ccp
