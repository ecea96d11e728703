#pragma once

#include <memory>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// Spheres that turn, with rolling resistance, dropped as a loose tower that collapses into a heap:
/// material of Wang 2016 Table 1, whose piles are poured (pouring.hpp).
std::unique_ptr<Scene> rolling_pile_scene();

}  // namespace ccp
