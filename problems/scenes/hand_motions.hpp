#pragma once

#include <vector>

#include "problems/scenes/motion.hpp"

namespace ccp {

/// bouncing-ball, incline, conveyor, sliding-particle, painleve-rod, ...: rows of the table of
/// scenes. problems/README.md has what must come out.
const std::vector<HandMotion>& hand_motions();

}  // namespace ccp
