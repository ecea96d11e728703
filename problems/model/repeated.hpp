#pragma once

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// Copies of a problem beside each other, which do not touch: what a large problem costs, made in
/// memory. What defines N, r and the cones is copied, and positions, which orders of bodies look
/// at; solutions, shapes and numbers of contacts are not.
/// @param one  in bodies form, with contacts alone
/// @param copies  >= 1
/// @throws InputError for any other problem, and for more than 32-bit numbers reach
ContactProblem repeated(const ContactProblem& one, int copies);

}  // namespace ccp
