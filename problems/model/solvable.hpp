#pragma once

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// The first contact of two bodies that no impulse moves whose r lies outside of K*: such a problem
/// has no solution. -1 where there is none, and in assembled form.
int unsolvable_contact(const ContactProblem& problem);

}  // namespace ccp
