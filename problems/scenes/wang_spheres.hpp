#pragma once

#include "problems/base/options.hpp"
#include "problems/dynamics/step_problem.hpp"

namespace ccp {

/// The spheres of the pile and the drum of Wang 2016: friction, rolling resistance, restitution,
/// stiffness, time step, and no cohesion.
StepModel wang_spheres();

/// Adds these as options. @param model  must outlive the list
OptionList& add_wang_spheres(OptionList& list, StepModel& model);

/// The two sizes of spheres of its drum and its triaxial cell, half each.
struct WangSizes {
  double large = 0.013, small = 0.010;  ///< diameters, m
  double density = 3700;                ///< kg/m^3
  double largest() const { return large > small ? large : small; }
};
OptionList& add_wang_sizes(OptionList& list, WangSizes& sizes);

}  // namespace ccp
