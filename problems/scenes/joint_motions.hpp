#pragma once

#include <vector>

#include "problems/scenes/motion.hpp"

namespace ccp {

/// Motions with joints and springs: double-pendulum, slider-crank, spring-mass (Anitescu slides),
/// and four-bar, a loop of joints that depend on each other.
/// problems/README.md has what must come out.
const std::vector<HandMotion>& joint_motions();

}  // namespace ccp
