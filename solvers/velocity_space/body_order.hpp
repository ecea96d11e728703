#pragma once

#include <string>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// An order in which bodies are eliminated, made for those who sweep in it: for one thread depth
/// first, each body followed by those that waited for it last, so that most neighbours are near
/// each other; for several by level (BlockPattern).
struct BodyOrder {
  std::vector<int> body;      ///< [m] the body at each position
  std::vector<int> position;  ///< [m] its inverse
};

/// @param ordering  see VelocitySystem::orderings()
/// @param fill      the factorisation with the pairs that eliminating each body joins is also that
///                  of the order asked for
/// @throws InputError for ordering gravity without gravity or positions in the problem
BodyOrder order_bodies(const ContactProblem& problem, const std::string& ordering, bool fill);

}  // namespace ccp
