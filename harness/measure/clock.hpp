#pragma once

#include <chrono>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// The solve clock: runs while the solver works, stands still while the harness looks.
class SolveClock {
 public:
  using Time = std::chrono::steady_clock;

  void start() {
    fence();
    excluded_ = 0;
    start_ = Time::now();
    running_ = true;
  }
  /// Stops counting, after all work given to the device is done.
  void pause() {
    fence();
    pause_ = Time::now();
    running_ = false;
  }
  /// Counts again; whatever the harness gave to the device is finished first.
  void resume() {
    fence();
    excluded_ += std::chrono::duration<double>(Time::now() - pause_).count();
    running_ = true;
  }
  /// Seconds of solving so far. While running this does not wait for the device, so it may be early
  /// by what is still queued; after pause() it is exact.
  double elapsed() const {
    return std::chrono::duration<double>((running_ ? Time::now() : pause_) - start_).count() -
           excluded_;
  }
  /// Seconds the clock stood still so far.
  double excluded() const { return excluded_; }

 private:
  Time::time_point start_{}, pause_{};
  double excluded_ = 0;
  bool running_ = false;
};

}  // namespace ccp
