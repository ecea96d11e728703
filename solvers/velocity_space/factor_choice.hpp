#pragma once

#include <functional>
#include <vector>

#include "solvers/velocity_space/thinned_factor.hpp"

namespace ccp {

// When sparse factors take the place of conjugate gradients: counted, so that it is the same
// whatever the load.

/// Iterations become so many times as many from one outer step to the next, about.
constexpr double growth_of_iterations = 1.4;

/// What an iteration on S with its preconditioner reads and writes, bytes.
double cg_bytes(const VelocitySystem& system);

/// Whether work of that cost [s, as MachineRates count] is dearer than factoring. What factoring
/// costs is known once a structure is analysed, which is done when the work costs as much as that;
/// and again, if it has become another one, when the work costs what factoring is expected to.
/// @param factors  of the parts of S, or the one of S
/// @param sum      over all ranks, which all call this
bool factoring_pays(double cost, const std::vector<ThinnedFactor*>& factors,
                    const std::function<double(double)>& sum);

}  // namespace ccp
