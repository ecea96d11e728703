#pragma once

#include <cstdint>
#include <vector>

#include "problems/base/options.hpp"
#include "problems/geometry/shapes.hpp"

namespace ccp {

/// The immovable ground of all spheres, the plane z = 0.
inline constexpr PlacedShape ground{{"plane", {}}, {0, 0, 0}};

/// Spheres above the ground; flat arrays, SI units.
struct Spheres {
  std::vector<double> position;  ///< [m][3] m
  std::vector<double> velocity;  ///< [m][3] m/s
  std::vector<double> radius;    ///< [m] m
  std::vector<double> mass;      ///< [m] kg
  std::size_t count() const { return radius.size(); }
  /// Sphere i as a shape.
  PlacedShape placed(std::size_t i) const {
    return {{"sphere", {radius[i]}}, {position[3 * i], position[3 * i + 1], position[3 * i + 2]}};
  }
};

/// Puts the spheres in the order of a Morton curve through their centres: neighbours in space
/// become neighbours in memory.
void sort_spatially(Spheres& spheres);

/// Makes spheres heavier, for problems with a large mass ratio.
struct HeavySpheres {
  double fraction = 0;    ///< of the spheres, drawn at random
  double mass_ratio = 1;  ///< factor on their mass
  std::uint64_t seed = 1;
};
/// @throws InputError for a fraction outside [0, 1] or a ratio that is not positive
void make_heavier(Spheres& spheres, const HeavySpheres& heavy);

/// heavy_fraction and mass_ratio, to include in the options of what is made of spheres.
OptionList heavy_options(HeavySpheres& heavy);

}  // namespace ccp
