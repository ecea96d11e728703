#pragma once

#include <memory>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// A drum on its side, partly filled with spheres of two sizes, that turns (Wang 2016, Figs. 10 to
/// 13). Its plates turn with it. The spheres fall from a loose grid; then the drum starts.
///
/// The defaults are half the paper's drum at its Froude number D omega^2 / 2g = 1.66e-3; the
/// paper's is rotating-drum[drum=0.52,width=0.091,spheres=4864,omega=0.25].
std::unique_ptr<Scene> rotating_drum_scene();

}  // namespace ccp
