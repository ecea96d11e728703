#pragma once

#include <memory>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// Ellipsoids or spheres in a drum with two lifters that turns (Koziara 2019, Sect. 8.1): they
/// fall, then the drum turns at 1 rad/s. The paper's dimensions, density, friction and time step;
/// the end plates stand still, as in the author's script. `pseudo_rigid` bodies have the paper's
/// material. The drum is a cylinder, the paper's has 32 flats; all bodies fall at once, the paper's
/// in batches.
std::unique_ptr<Scene> lifter_drum_scene();

}  // namespace ccp
