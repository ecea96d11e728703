#pragma once

#include <cstdint>
#include <random>

namespace ccp {

/// Uniform numbers with the same value on every platform, which std::uniform_real_distribution does
/// not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ccp
