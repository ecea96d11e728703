#pragma once

#include <chrono>

#include "solvers/core/stopwatch.hpp"

namespace ccp {

/// For how long this process, one of several ranks, has talked with the others. Waiting for one
/// that is late is in it. For the record: nothing is decided by it, as ranks would not agree.
struct RankTimes {
  double exchange = 0;   ///< s, of rows of bodies that several ranks have, packing included
  double reduction = 0;  ///< s, of reductions and broadcasts
  long exchanges = 0, reductions = 0;
};

/// Since the process began, or since somebody set it. With one rank nothing is added.
inline RankTimes& rank_times() {
  static RankTimes times;
  return times;
}

/// Adds the seconds of its life, and one. Unlike a Stopwatch it waits for no device.
class RankWatch {
 public:
  RankWatch(double RankTimes::*time, long RankTimes::*count) : time_(time) {
    ++(rank_times().*count);
  }
  ~RankWatch() { rank_times().*time_ += seconds_since(start_); }
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

 private:
  double RankTimes::*time_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ccp
