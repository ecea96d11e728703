#pragma once

#include <memory>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// A blade that is drawn through a trench of spheres which do not rotate (Kleinert 2017, Figs. 8 to
/// 10 and Table 1). The spheres fall from a loose grid; then the blade starts.
///
/// The defaults are a trench of 1,250 spheres. The paper's radii, friction, speed and time step;
/// its trench of 4 x 1 m with a blade of 0.2 m, 0.2 m deep, is
/// blade[spheres=105144,length=4,width=1,blade=0.2,edge=0.15].
std::unique_ptr<Scene> blade_scene();

}  // namespace ccp
