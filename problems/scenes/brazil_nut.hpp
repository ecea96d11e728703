#pragma once

#include <memory>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// Discs in the plane y = 0, a large one at the bottom of a box without a lid that is shaken up and
/// down (Anitescu slides, Brazil nut: 270 bodies, dt 0.1 s, mu 0.5, restitution 0.5). Sizes, and
/// how the box moves, are not printed there and ours: in every period it goes up for a fifth of it,
/// and down again four times slower.
std::unique_ptr<Scene> brazil_nut_scene();

}  // namespace ccp
