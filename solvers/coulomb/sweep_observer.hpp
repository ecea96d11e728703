#pragma once

#include "solvers/core/observer.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/coulomb/best_impulses.hpp"

namespace ccp {

/// Looks at every 100th sweep of pgs[law=coulomb], ends it when the own residual is at most `aim`,
/// and passes every 1,000th on as an outer iteration.
class SweepObserver : public Observer {
 public:
  static constexpr long sweeps_per_look = 100, sweeps_per_outer = 1000;

  /// @param before  what was done until then @param most  sweeps
  SweepObserver(const Problem& problem, double aim, long most, const Counters& before,
                Observer& outer)
      : problem_(problem),
        aim_(aim),
        most_(most),
        before_(before),
        counters_(before),
        outer_(outer),
        gamma_(problem.map(), 1),
        best_(problem) {}

  bool observe(const Progress& progress, const std::function<void(Vector&)>& write) override {
    const long sweeps = progress.counters.outer;
    if (sweeps % sweeps_per_look != 0) return false;
    write(gamma_);
    residual_ = optimality(problem_, Law::coulomb, gamma_).residual();
    best_.offer(gamma_, residual_);
    counters_ = before_;
    counters_.outer += (sweeps + sweeps_per_outer - 1) / sweeps_per_outer;
    counters_.operator_applies += progress.counters.operator_applies;
    counters_.projections += progress.counters.projections;
    const auto write_gamma = [this](Vector& out) {
      Kokkos::deep_copy(overwrite_view(out), read_view(gamma_));
    };
    if (sweeps > 0 && sweeps % sweeps_per_outer == 0) {
      stopped_ = outer_.observe({counters_, residual_}, write_gamma);
    }
    stopped_ = stopped_ || outer_.out_of_time();
    reached_ = residual_ <= aim_;
    return stopped_ || reached_ || sweeps >= most_;
  }
  /// The iterate that is looked at is the one that is wanted.
  bool satisfied() const override { return reached_ || outer_.satisfied(); }
  bool out_of_time() override { return outer_.out_of_time(); }

  const BestImpulses& best() const { return best_; }
  double residual() const { return residual_; }
  const Counters& counters() const { return counters_; }
  bool stopped() const { return stopped_; }
  bool reached() const { return reached_; }

 private:
  const Problem& problem_;
  double aim_;
  long most_;
  Counters before_, counters_;
  Observer& outer_;
  Vector gamma_;
  BestImpulses best_;
  bool stopped_ = false, reached_ = false;
  double residual_ = std::numeric_limits<double>::infinity();
};

}  // namespace ccp
