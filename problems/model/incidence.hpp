#pragma once

#include <cstdint>
#include <vector>

namespace ccp {

/// The constraints of every body.
struct Incidence {
  std::vector<int> offset;  ///< [m + 1] where a body's list begins
  std::vector<int> side;    ///< 2 * constraint + side (A: 0, B: 1), ascending within a list
};

/// @param bodies  [2n] bodies A and B of every constraint; what is not in [0, count) has no list
Incidence incidence_of(const std::vector<std::int32_t>& bodies, std::size_t count);

}  // namespace ccp
