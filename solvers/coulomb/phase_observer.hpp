#pragma once

#include "solvers/core/observer.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/coulomb/best_impulses.hpp"

namespace ccp {

/// Looks at iterates of a solver that works inside coulomb by Coulomb's law, keeps the best and
/// passes looks and limits on.
class PhaseObserver : public Observer {
 public:
  PhaseObserver(const Problem& problem, Observer& outer)
      : problem_(problem), outer_(outer), gamma_(problem.map(), 1), best_(problem) {}

  bool satisfied() const override { return reached_ || outer_.satisfied(); }
  bool out_of_time() override { return outer_.out_of_time(); }

  /// Of the last iterate that was looked at.
  double residual() const { return residual_; }
  bool reached() const { return reached_; }
  const Counters& counters() const { return counters_; }
  /// By whoever is outside.
  bool stopped() const { return stopped_; }
  /// Into gamma, where nobody is content with what is there. @return the own residual of gamma
  double hand_back_best(bool content, Vector& gamma) const {
    if (content) return residual_;
    if (std::isfinite(best_.residual())) {
      Kokkos::deep_copy(overwrite_view(gamma), read_view(best_.gamma()));
    }
    return best_.residual();
  }

 protected:
  /// @param counters  of all work so far @param aim  own residual that will do
  void look(const std::function<void(Vector&)>& write, const Counters& counters, double aim) {
    write(gamma_);
    residual_ = optimality(problem_, Law::coulomb, gamma_).residual();
    best_.offer(gamma_, residual_);
    counters_ = counters;
    reached_ = residual_ <= aim;
  }
  /// Shows outside what was looked at.
  void pass_on() {
    const auto write_gamma = [this](Vector& out) {
      Kokkos::deep_copy(overwrite_view(out), read_view(gamma_));
    };
    stopped_ = outer_.observe({counters_, residual_}, write_gamma);
  }
  void stop_if_late() { stopped_ = stopped_ || outer_.out_of_time(); }

 private:
  const Problem& problem_;
  Observer& outer_;
  Vector gamma_;
  BestImpulses best_;
  Counters counters_;
  bool stopped_ = false, reached_ = false;
  double residual_ = std::numeric_limits<double>::infinity();
};

}  // namespace ccp
