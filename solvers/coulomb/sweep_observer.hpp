#pragma once

#include "solvers/coulomb/phase_observer.hpp"

namespace ccp {

/// Looks at every 100th sweep of pgs[law=coulomb], ends it when the own residual is at most `aim`
/// or falls too slowly, and passes every 1,000th on as an outer iteration.
class SweepObserver : public PhaseObserver {
 public:
  static constexpr long sweeps_per_look = 100, sweeps_per_outer = 1000;

  /// @param most    sweeps
  /// @param first   sweeps after which it is asked for the first time whether they were worth it:
  ///                then, and at twice, four times, ... as many, the second half of them has to
  ///                have lowered the own residual to a quarter
  /// @param before  what was done until then
  SweepObserver(const Problem& problem, double aim, long most, long first, const Counters& before,
                Observer& outer)
      : PhaseObserver(problem, outer), aim_(aim), most_(most), half_(first / 2), before_(before) {}

  bool observe(const Progress& progress, const std::function<void(Vector&)>& write) override {
    const long sweeps = progress.counters.outer;
    if (sweeps % sweeps_per_look != 0) return false;
    Counters counters = before_;
    counters.outer += (sweeps + sweeps_per_outer - 1) / sweeps_per_outer;
    counters.operator_applies += progress.counters.operator_applies;
    counters.projections += progress.counters.projections;
    look(write, counters, aim_);
    if (sweeps > 0 && sweeps % sweeps_per_outer == 0) pass_on();
    stop_if_late();
    lowest_ = std::min(lowest_, residual());
    if (sweeps == 2 * half_) {
      slow_ = lowest_ > worth * at_half_;
      half_ = sweeps;
    }
    if (sweeps == half_) at_half_ = lowest_;
    return stopped() || reached() || slow_ || sweeps >= most_;
  }
  bool slow() const { return slow_; }

 private:
  static constexpr double worth = 0.25;
  double aim_;
  long most_, half_;
  double lowest_ = std::numeric_limits<double>::infinity(), at_half_ = lowest_;
  bool slow_ = false;
  Counters before_;
};

}  // namespace ccp
