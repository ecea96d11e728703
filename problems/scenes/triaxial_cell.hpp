#pragma once

#include <memory>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// Spheres without gravity in a cell of six servo walls (Wang 2016, Figs. 14 to 16): pressed
/// together by one pressure on all, then strained by the two walls across z at a given speed, while
/// the four others keep their pressure.
///
/// The paper's speed of walls and its pressure, and the spheres of its pile and drum, stiffer; the
/// number of spheres is not printed. Walls have 10 kg, for the paper's 100 kg bounce off so few
/// spheres, and no friction (it says nothing of it).
std::unique_ptr<Scene> triaxial_cell_scene();

}  // namespace ccp
