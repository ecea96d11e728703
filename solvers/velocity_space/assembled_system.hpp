#pragma once

#include <memory>

#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

/// The velocity side of a problem by its N, where that is all that is known. The velocities that
/// are unknowns of their own are those of the contacts themselves, z = N p: E is the identity, N
/// takes the place of E^T, and
///     S = 1 + N K
/// is not symmetric. What is factored is its symmetric relative, of N's own sparsity,
///     A = 1 + L^T N L,    K_c = L_c L_c^T,    S^-1 b = L^-T A^-1 L^T b,
/// whose eigenvalues are at least 1, free of units and of mass ratios, as those of 1 + E^T K E for
/// N = E E^T are. N itself stays as it was given: it need not be positive semidefinite to the last
/// digit, and residuals are those of the given N.
///
/// A scaled matrix is factored with the same relative errors. The columns of L, each with its own
/// digits (assemble_roots), are such a scaling: where K spans more orders of magnitude than a
/// number has digits, 1 + E^T K E has lost what is small, and A has not. So this is also what is
/// left for bodies whose masses differ by many orders of magnitude; the axes are world axes then.
///
/// Cost: per assembly 54 multiplications per block of N's lower triangle; memory in proportion to
/// the blocks of N. For factorisations only.
std::unique_ptr<VelocitySystem> make_assembled_system(const Problem& problem);

}  // namespace ccp
