#pragma once

#include <vector>

#include "solvers/distributed/overlap.hpp"

namespace ccp {

/// A piece of a rank's OverlappedPart, made like that of bodies of its own: those, what is at most
/// so many contacts from them, and all contacts that touch any of these.
struct Subpart {
  ContactProblem problem;     ///< as in OverlappedPart, the piece's own bodies first
  std::vector<int> bodies;    ///< places in the OverlappedPart
  std::vector<int> contacts;  ///< likewise
  int own = 0;                ///< bodies of its own; every body of the rank is one of one piece
};

/// Divides what a rank has into so many pieces (collective): ranges of its bodies, in their order,
/// with about as many contacts each. Where ranks have the ranges of contiguous_partition(), the
/// pieces of all of them are the ranges for as many ranks as there are pieces: the same whatever
/// the number of ranks that share them.
/// @param parts   of each rank, >= 1
/// @param layers  those of `reach`
std::vector<Subpart> subparts(const OverlappedPart& reach, const Distribution& distribution,
                              int parts, int layers);

}  // namespace ccp
