#pragma once

#include <memory>

#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

/// The velocity side of a problem of either form: body_system.hpp where masses are known, else
/// assembled_system.hpp.
/// @param problem  must outlive the system
/// @param ordering, preconditioner  see VelocitySystem
std::unique_ptr<VelocitySystem> make_velocity_system(const Problem& problem,
                                                     const std::string& ordering,
                                                     const std::string& preconditioner);

}  // namespace ccp
