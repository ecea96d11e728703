#pragma once

#include <string>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// An order in which bodies are eliminated, sorted by level: a body depends, through the neighbours
/// eliminated before it, on bodies of lower levels only.
struct BodyOrder {
  std::vector<int> body;          ///< [m] the body at each position
  std::vector<int> position;      ///< [m] its inverse
  std::vector<int> level_offset;  ///< first position of each level, and m
};

/// @param ordering  see VelocitySystem::orderings()
/// @param fill      levels allow for the pairs that eliminating each body joins
/// @throws InputError for ordering gravity without gravity or positions in the problem
BodyOrder order_bodies(const ContactProblem& problem, const std::string& ordering, bool fill);

}  // namespace ccp
