#pragma once

#include <limits>

#include "problems/dynamics/steppers/sphere_stepper.hpp"

namespace ccp {

/// How a ShakeStepper makes its steps.
struct ShakeOptions {
  SphereModel model;  ///< mu, dt, gravity; hertz is not looked at
  SphereStepper::Search search;
  /// m/s, >= 0: the speed at which a penetration is undone is at most that, gap >= -max_push dt in
  /// r
  double max_push = std::numeric_limits<double>::infinity();
  /// Start from the impulses of the step before, scaled by an exact line search along them: the
  /// objective then starts at or below zero, so a descent method that is stopped early cannot add
  /// energy, but for what undoes penetrations. Otherwise from zero.
  bool warm = false;
};

/// Rigid spheres with gaps in r, the scheme of Kleinert 2017 eq. 14 and 17-20 and of Kleinert 2014
/// eq. 9-12:
///     r = D^T (v + dt g) + (gap / dt, 0, 0),
/// so that a contact that acts is closed at the end of the step.
class ShakeStepper : public SphereStepper {
 public:
  explicit ShakeStepper(const ShakeOptions& options);

  /// Goes on with other options; impulses are remembered as forces, so dt may differ.
  void set_options(const ShakeOptions& options);

  ContactProblem problem(const Bodies& bodies) const override {
    return SphereStepper::problem(bodies);
  }
  std::vector<double> own_start(const ContactProblem& problem) const override;

 private:
  bool warm_ = false;
};

}  // namespace ccp
