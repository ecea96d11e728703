#pragma once

#include <string>
#include <vector>

#include "harness/systems/frozen_systems.hpp"

namespace ccp {

/// Writes matrices and vectors of a problem in Matrix Market format, all in contact axes (n, t1,
/// t2), unknown 3c + k of contact c, in SI units:
///
///     PREFIX-N.mtx    N, 3n x 3n, symmetric (lower triangle), 1/kg
///     PREFIX-r.mtx    r, 3n, m/s
///     PREFIX-mu.mtx   mu, n
///
/// N is assembled once, as blocks in world axes; each is turned into contact axes on its way to the
/// file. @param inputs  files that may not be overwritten @return the files written
/// @throws InputError if one exists (and `overwrite` is false)
std::vector<std::string> export_problem_matrices(const std::string& prefix,
                                                 const ContactProblem& problem, bool overwrite,
                                                 const std::vector<std::string>& inputs = {});

/// The same for frozen Newton systems, K = outer iterations done before it:
///
///     PREFIX-K-A.mtx  A = T P(w) T + N + R, 3n x 3n, symmetric, 1/kg. A contact with mu = 0 has
///                     the rows and columns of the identity for its tangents
///     PREFIX-K-b.mtx  the right-hand side, 3n
///     PREFIX-K-S.mtx  S = 1 + E^T (T P(w) T + R)^-1 E with E = D^T M^-1/2: the same system in
///                     mass-scaled body velocities, as vipm forms it; 3 or 6 unknowns per body, in
///                     the problem's order and world axes, symmetric. Bodies form only
///
/// Of systems in body space, S (of the solver that made them, in the same order and axes) and b.
///
/// Kokkos must be running.
std::vector<std::string> export_system_matrices(const std::string& prefix,
                                                const FrozenSystems& systems,
                                                const ContactProblem& problem, bool overwrite,
                                                const std::vector<std::string>& inputs = {});

}  // namespace ccp
