#pragma once

#include <memory>

#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

/// The velocity side of a problem in bodies form: S on the graph of bodies that touch, 3x3 blocks,
/// or 6x6 if bodies of the problem rotate. Its map is a ConstraintMap in an order of its own.
/// @param ordering, preconditioner  see VelocitySystem
std::unique_ptr<VelocitySystem> make_body_system(const Problem& problem,
                                                 const std::string& ordering,
                                                 const std::string& preconditioner);
/// The same of bodies and contacts alone: who touches whom, arms and inverse masses.
std::unique_ptr<VelocitySystem> make_body_system(const ContactProblem& problem,
                                                 const std::string& ordering,
                                                 const std::string& preconditioner);

}  // namespace ccp
