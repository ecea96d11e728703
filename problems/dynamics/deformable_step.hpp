#pragma once

#include <vector>

#include "problems/dynamics/step_problem.hpp"

namespace ccp {

/// Steps with pseudo-rigid bodies among the others (Koziara 2019 eq. 1-5), at the configuration in
/// the middle of the step. A contact at the point p of such a body, Y = F^-1 (p - x), sees the
/// velocity v + dF/dt Y, and its impulse adds (impulse) Y^T to what changes F.

/// [m][9], dF/dt at the end of the step if nothing touches: dF/dt + h A^-1 (-V P(F) - eta K dF/dt).
/// Zero of other bodies.
std::vector<double> free_deformation_rates(const Bodies& middle, double dt);

/// [n][3] m/s, contact axes: what rates [m][9] add to the contacts' velocities.
std::vector<double> deforming_velocities(const Bodies& middle, const ContactProblem& problem,
                                         const std::vector<double>& rates);

/// Makes assembled form of the problem that pose_step() has made, whose r does not know of F yet:
///     N_cd = sum over common bodies of F_c H_c A^-1 H_d^T F_d^T.
/// The problem keeps its contacts' bodies, frames, arms and gaps.
/// @throws InputError for rolling resistance and joints, which assembled form does not have
void assemble_step(const Bodies& middle, const std::vector<double>& rates, ContactProblem& problem);

/// What impulses change: M^-1 D gamma.
struct DeformableChange {
  std::vector<double> velocity;  ///< [m][6] m/s and rad/s; angular parts of pseudo-rigid bodies: 0
  std::vector<double> rate;      ///< [m][9] 1/s
};
DeformableChange deformable_changes(const Bodies& middle, const ContactProblem& problem,
                                    const std::vector<double>& gamma);

}  // namespace ccp
