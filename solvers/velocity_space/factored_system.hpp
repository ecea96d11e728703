#pragma once

#include <memory>

#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

/// The velocity side of a problem of which only N is known: N = E E^T by Cholesky factorisation
/// with pivoting, so that z has as many unknowns as N has rank. E is dense, and so is S = 1 + E^T K
/// E, for factorisations only.
///
/// Pivots are chosen, and the factorisation ends, by what is left of each diagonal entry relative
/// to the entry itself: units and mass ratios do not matter. What is left of N is below 1e-13 of
/// the square root of the product of two diagonal entries.
///
/// Cost: 3n rank^2 / 2 multiplications and 3n rank numbers once, 3n rank^2 per assembly.
/// @throws InputError above `factored_system_limit` contacts
std::unique_ptr<VelocitySystem> make_factored_system(const Problem& problem);

/// Contacts; N of full rank would then take 1.2 GB.
inline constexpr int factored_system_limit = 4000;

}  // namespace ccp
