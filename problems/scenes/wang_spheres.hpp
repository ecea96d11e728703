#pragma once

#include "problems/base/options.hpp"
#include "problems/dynamics/step_problem.hpp"

namespace ccp {

/// The spheres of the pile and the drum of Wang 2016: friction, rolling resistance, restitution,
/// stiffness and time step.
StepModel wang_spheres();

/// Adds these as options. @param model  must outlive the list
OptionList& add_wang_spheres(OptionList& list, StepModel& model);

}  // namespace ccp
