#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "problems/dynamics/bodies.hpp"
#include "problems/scenes/random.hpp"

namespace ccp {

/// A box along the axes of the world, m.
struct FillBox {
  Vec3 low, high;
};

/// Spheres to be dropped: each somewhere in its cell of a grid, none touching another.
struct LooseFill {
  FillBox box;
  std::size_t count = 0;
  double largest = 0;                                           ///< m, no radius is larger
  std::function<double(std::size_t i, Random& random)> radius;  ///< m, of the i-th from below
  std::function<bool(const Vec3& centre)> inside = {};          ///< of cells; empty: all are
  double density = 0;                                           ///< kg/m^3
  BodyKind kind = BodyKind::rigid;
  double pitch = 1.1;     ///< width of a cell, in largest diameters
  double jitter = 0.045;  ///< a centre's distance from its cell's, the same; 1 + 2 jitter < pitch
};

/// Adds the spheres layer by layer from below, at rest.
/// @throws InputError naming the scene if there are too few cells, with their number
void drop_loosely(const std::string& scene, const LooseFill& fill, Random& random, Bodies& bodies);

}  // namespace ccp
