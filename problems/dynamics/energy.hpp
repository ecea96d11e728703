#pragma once

#include "problems/dynamics/bodies.hpp"

namespace ccp {

/// J, of all bodies; the work that gravity can still do down to the origin of the world, and what
/// springs have stored.
struct Energy {
  double kinetic = 0, potential = 0;
};
Energy energy_of(const Bodies& bodies, const Vec3& gravity);

}  // namespace ccp
