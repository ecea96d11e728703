#pragma once

#include <memory>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// Spheres that turn, with rolling resistance, let in through an inlet over time, which form a heap
/// (Wang 2016 Figs. 5-9). Those that wait stand above the inlet in layers of four, carried down at
/// a steady speed until they have reached it.
std::unique_ptr<Scene> pouring_scene();

}  // namespace ccp
