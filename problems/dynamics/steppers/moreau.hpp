#pragma once

#include "problems/dynamics/steppers/rigid_stepper.hpp"

namespace ccp {

/// Moreau's midpoint scheme (Koziara 2019 eq. 1-5): contacts that are closed at
/// q_{1/2} = q + h/2 v take impulses for the velocity at the end,
///     r = F (V_B - V_A)* + (e min(0, n.v), 0, 0),    q' = q_{1/2} + h/2 v'.
/// Gaps do not enter: penetration stays, of first order in h. Rotations are those of Koziara's
/// scheme RIG_NEG, written for angular momentum in the world: it changes by torques and impulses
/// only. Pseudo-rigid bodies (deformable_step.hpp) make problems in assembled form.
class MoreauStepper : public RigidStepper {
 public:
  using RigidStepper::RigidStepper;

  ContactProblem problem(const Bodies& bodies) const override;
  double finish(Bodies& bodies, const ContactProblem& problem,
                const std::vector<double>& gamma) override;
  bool deforms() const override { return true; }
};

}  // namespace ccp
