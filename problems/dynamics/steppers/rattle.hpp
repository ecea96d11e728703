#pragma once

#include "problems/dynamics/steppers/rigid_stepper.hpp"

namespace ccp {

/// Two problems a step (Kleinert 2017 eq. 21): one for positions, one for velocities.
///     1  u_l = g_j / h + D_j^T (nu_j + M^-1 (k_j + D_j gamma_l)),   q_{j+1} = q_j + h v_{j+1/2}
///     2  nu_{j+1} = v_{j+1/2} + M^-1 D_{j+1} gamma_r,               u_r = D_{j+1}^T nu_{j+1}
/// The second one is that of the contacts that are closed at q_{j+1}, g <= 1e-9 m + 1e-6 h |v|max.
/// The velocities of bodies are nu. With restitution, u_r = D^T nu_{j+1} + e min(0, n.nu_j).
class RattleStepper : public RigidStepper {
 public:
  using RigidStepper::RigidStepper;

  /// That of stage 1.
  ContactProblem problem(const Bodies& bodies) const override;
  /// Both stages. The gamma of the step is gamma_l; obstacles take that of both.
  Step step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
            const StepStart& start = {}) override;
};

}  // namespace ccp
