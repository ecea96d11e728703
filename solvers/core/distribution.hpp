#pragma once

#include <vector>

#include "solvers/core/ranks.hpp"

namespace ccp {

/// What this rank's part of a problem is of the whole, by the numbers that contacts and bodies have
/// in the file. The part is a ContactProblem: contacts of its own, and their bodies, of which some
/// belong to other ranks (ghosts). Every contact and every body belongs to one rank.
struct Distribution {
  Ranks ranks;
  long long contacts = 0;             ///< of the whole problem
  long long bodies = 0;               ///< likewise
  std::vector<long long> contact;     ///< numbers of the part's contacts, ascending
  std::vector<long long> owned_body;  ///< of its first bodies, ascending
  std::vector<long long> ghost_body;  ///< of those that follow, ascending
};

}  // namespace ccp
