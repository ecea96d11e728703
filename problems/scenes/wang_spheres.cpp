#include "problems/scenes/wang_spheres.hpp"

namespace ccp {

StepModel wang_spheres() {
  StepModel model;
  model.dt = 5e-3;
  model.mu = 0.91;
  model.rolling = 0.32;
  model.restitution = 0.18;
  model.impact_speed = 0.05;
  model.hertz.young = 6e6;
  return model;
}

OptionList& add_wang_spheres(OptionList& list, StepModel& model) {
  using Range = OptionList::Range;
  list.number("mu", model.mu, Range::at_least(0), "Friction coefficient")
      .number("rolling", model.rolling, Range::at_least(0), "Coefficient of rolling resistance")
      .flag("twisting", model.twisting, "Whether that resists twisting about normals, too")
      .number("restitution", model.restitution, {0, 1}, "Newton's coefficient of restitution")
      .number("young", model.hertz.young, Range::positive(), "Young's modulus, Pa")
      .number("dt", model.dt, Range::positive(), "Time step, s");
  return add_attraction_options(list, model.attraction);
}

OptionList& add_wang_sizes(OptionList& list, WangSizes& sizes) {
  using Range = OptionList::Range;
  return list.number("diameter", sizes.large, Range::positive(), "Of one half of the spheres, m")
      .number("second", sizes.small, Range::positive(), "Diameter of the others, m")
      .number("density", sizes.density, Range::positive(), "Of the spheres, kg/m^3");
}

}  // namespace ccp
