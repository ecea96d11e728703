#pragma once

#include "problems/dynamics/steppers/rigid_stepper.hpp"

namespace ccp {

/// How gaps enter the rows of a step.
struct GapOptions {
  double theta = 1;        ///< (0, 1]: the part of a gap that a step closes
  bool stabilised = true;  ///< false: gaps do not enter, and only closed contacts are seen
  /// The convex law with s = mu |v_t| of the step before added to r_n: the first step of the fixed
  /// point that makes it Coulomb's
  bool lagged = false;
  /// After the step positions are projected onto g >= 0, in the metric M
  bool project = false;
};

/// Time steps at the velocity level with gaps in r (Anitescu slides; with theta = 1 Kleinert 2014
/// eq. 9-12 and Kleinert 2017 eq. 14, 17-20):
///     r = F (V_B - V_A)* + (b, 0, 0),    b = theta g / h, or 0 where it is not stabilised.
/// The law is the solver's: convex it is the relaxation, Coulomb's the scheme of Stewart and
/// Trinkle. Impacts with restitution e: a contact that closes within the step, faster than
/// impact_speed, leaves with -e times the normal velocity it came with, at least: b = min(b, e
/// n.v).
///
/// Joints in the same way: theta Theta / h in their rows, or 0.
///
/// With `project`, up to five times until no gap is below -1e-8 m and no joint farther open:
///     min 1/2 dq^T M dq subject to g + n^T dq >= 0, Theta + J dq = 0,
/// which is the same problem with mu = 0 and r_n = g; velocities are not touched (the Anitescu
/// slides name it as the expensive alternative to gaps in r).
class GapStepper : public RigidStepper {
 public:
  GapStepper(const StepModel& model, const GapOptions& options)
      : RigidStepper(model), options_(options) {}

  ContactProblem problem(const Bodies& bodies) const override;
  Step step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
            const StepStart& start = {}) override;

 private:
  void project(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy) const;
  GapOptions options_;
};

}  // namespace ccp
