#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// A motion of a few bodies that is known by hand, or nearly.
struct HandMotion {
  std::string id, summary;
  std::function<std::unique_ptr<Scene>()> make;
};

/// bouncing-ball, incline, conveyor, sliding-particle, painleve-rod, ...: rows of the table of
/// scenes. problems/README.md has what must come out.
const std::vector<HandMotion>& hand_motions();

}  // namespace ccp
