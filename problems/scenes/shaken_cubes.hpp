#pragma once

#include <memory>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// An array of M^3 cubes in a box that is shaken (Koziara 2019, Sect. 8.2): gaps of 0.01 m / M
/// between neighbours and to the six walls, which close while the cubes fall and lie; then the box
/// moves along (1, 1, 0) / sqrt 2 with v = a/(2 pi f) sin(2 pi f (t - rest)). Rigid cubes; the
/// paper's consist of eight finite elements each.
std::unique_ptr<Scene> shaken_cubes_scene();

}  // namespace ccp
