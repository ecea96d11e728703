#pragma once

#include <memory>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// Pseudo-rigid ellipsoids that fall into a box, with the material of Koziara 2019 Sect. 8.1.
std::unique_ptr<Scene> soft_ellipsoids_scene();

}  // namespace ccp
