#pragma once

#include <vector>

#include "problems/scenes/motion.hpp"

namespace ccp {

/// Motions with joints and springs (Anitescu slides): double-pendulum, slider-crank, spring-mass.
/// problems/README.md has what must come out.
const std::vector<HandMotion>& joint_motions();

}  // namespace ccp
