#pragma once

#include "harness/referee.hpp"
#include "solvers/core/observer.hpp"

namespace ccp::test {

/// Ends a solve when the referee says so; counts what it took. Nothing here depends on time.
class RefereeStop : public Observer {
 public:
  RefereeStop(const Problem& problem, Measure measure, double value)
      : referee_(problem), gamma_(problem.map(), 1), measure_(measure), value_(value) {}
  bool observe(const Progress&, const std::function<void(Vector&)>& write_gamma) override {
    write_gamma(gamma_);
    return referee_.measure(gamma_)[measure_] <= value_;
  }

 private:
  Referee referee_;
  Vector gamma_;
  Measure measure_;
  double value_;
};

}  // namespace ccp::test
