#pragma once

#include <vector>

#include "problems/model/contact_problem.hpp"

// Small problems that were answered wrongly once: singular blocks, contacts that nothing moves,
// extreme ratios, hubs. Each is right when a solver reaches the solution or says that it has not.
namespace ccp::test {

/// A problem in assembled form with N dense, row-major [3n][3n].
ContactProblem dense_problem(const char* name, const std::vector<double>& matrix,
                             const std::vector<double>& r, const std::vector<double>& mu);

/// One contact of N = diag(2, 1, 0), r = (-1, 0.5, 0), mu = 0.4: a planar problem written in space.
///     convex    gamma = (5/9, -2/9, 0)
///     Coulomb   gamma = (1/2, -1/5, 0)
ContactProblem flat();
/// Two such contacts that know of each other.
ContactProblem flat_two();
/// N of rank one: (1, 1/2, 1/5) times itself.
ContactProblem rank_one();
/// N = diag(2, 0, 0): nothing moves the contact sideways.
ContactProblem normal_only();
/// N = diag(0, 1, 1): nothing moves it along the normal, r_n > 0.
ContactProblem zero_normal();
/// A box on four corners, N printed with six digits: eigenvalues down to -1e-6.
ContactProblem rounded_box();
/// Contacts that do not know of each other.
ContactProblem separate(std::size_t contacts);

/// Blocks of 0.5 to 2 kg in `layers` layers on the ground, side by side, known by N alone: a planar
/// problem written in space (N has no second tangential direction), banded. About 2 columns *
/// layers contacts.
ContactProblem planar_wall(std::size_t columns, std::size_t layers);

/// Bodies 1 and 2 cannot move and approach each other at contact 1: there is no solution.
ContactProblem two_immovable();
/// A stack of 1, `ratio` and 1 kg that slides.
ContactProblem mass_ratio(double ratio);
/// mu = 1e-6 among 0.3 and 0.5.
ContactProblem one_slippery_contact();
/// One plate of 1000 kg on spheres that stand on the ground: 2 * spheres contacts.
ContactProblem plate(std::size_t spheres);

}  // namespace ccp::test
