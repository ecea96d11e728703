#pragma once

#include <chrono>

#include "solvers/core/trilinos.hpp"

namespace ccp {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Adds the seconds of its life to a timer, with the device's queue drained at both ends.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) { fence(); }
  ~Stopwatch() { total_ += seconds(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Since the start.
  double seconds() const {
    fence();
    return seconds_since(start_);
  }

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ccp
