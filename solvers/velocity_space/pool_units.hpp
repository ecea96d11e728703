#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/problem.hpp"

namespace ccp {

/// What limits and softens the triples beside the contacts (ConstraintPools), in the units of
/// contacts: their velocities times Problem::pool_length(), their impulses divided by it.
struct PoolUnits {
  DeviceArray<const double*> length;    ///< [pools] m
  DeviceArray<const double*> limit;     ///< [rolling] of a moment per normal impulse, no unit
  DeviceArray<const Sym3*> compliance;  ///< [pools] 1/kg; zero where none yields
};
PoolUnits pool_units(const Problem& problem);

}  // namespace ccp
