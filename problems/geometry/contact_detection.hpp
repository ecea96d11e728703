#pragma once

#include <cstdint>
#include <vector>

#include "problems/geometry/spheres.hpp"

namespace ccp {

/// A pair of bodies that may touch within the step.
struct Candidate {
  std::int32_t a, b;  ///< bodies, a < b; the ground is a = -1
  double gap;         ///< m, signed distance of the surfaces
};

/// The order in which candidates are listed: by a, then by b.
inline bool by_bodies(const Candidate& x, const Candidate& y) {
  return x.a != y.a ? x.a < y.a : x.b < y.b;
}

/// The cutoff for potential contacts that the papers' three Test Problems share, in mean radii.
inline constexpr double papers_cutoff = 0.666;

/// The number of contacts of the papers' Test Problem of so many spheres; 0: there is none.
std::size_t papers_contacts(std::size_t spheres);

/// All sphere-sphere and sphere-ground pairs with a gap below cutoff + sweep * (closing speed),
/// ordered by (a, b).
/// @param sweep  s, how far ahead approaching pairs are looked for
std::vector<Candidate> find_candidates(const Spheres& spheres, double cutoff, double sweep = 0);

/// The `count` candidates of smallest gap (ties by body numbers), ordered by (a, b).
/// @throws InputError if there are fewer pairs than that in reach (gaps up to twice the largest
/// radius)
std::vector<Candidate> nearest_candidates(const Spheres& spheres, std::size_t count);

}  // namespace ccp
