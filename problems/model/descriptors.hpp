#pragma once

#include <string>
#include <utility>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// What a problem is like, in numbers that need no linear algebra: `ccpbench info` prints them,
/// studies select by them, result files keep them. In this order:
/// bodies, contacts, ground_contacts (with immovable bodies), unknowns (3n), degrees_of_freedom,
/// rank_at_most (of N), mu_min, mu_max, mass_ratio (heaviest to lightest movable body; 0 where
/// bodies are not known), contacts_per_body_mean, contacts_per_body_most, rms_r [m/s], dt [s].
std::vector<std::pair<std::string, double>> descriptors(const ContactProblem& problem);

/// Their names.
std::vector<std::string> descriptor_names();

}  // namespace ccp
