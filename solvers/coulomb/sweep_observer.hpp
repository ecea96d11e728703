#pragma once

#include "solvers/coulomb/phase_observer.hpp"

namespace ccp {

/// Looks at every 100th sweep of pgs[law=coulomb], ends it when the own residual is at most `aim`,
/// and passes every 1,000th on as an outer iteration.
class SweepObserver : public PhaseObserver {
 public:
  static constexpr long sweeps_per_look = 100, sweeps_per_outer = 1000;

  /// @param before  what was done until then @param most  sweeps
  SweepObserver(const Problem& problem, double aim, long most, const Counters& before,
                Observer& outer)
      : PhaseObserver(problem, outer), aim_(aim), most_(most), before_(before) {}

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
    return stopped() || reached() || sweeps >= most_;
  }

 private:
  double aim_;
  long most_;
  Counters before_;
};

}  // namespace ccp
