#pragma once

#include <vector>

#include "problems/dynamics/body_contacts.hpp"
#include "problems/dynamics/rigid_motion.hpp"
#include "problems/geometry/sphere_contacts.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp {

/// What time steps have in common, whatever their scheme.
struct StepModel {
  double dt = 0.01;         ///< s
  Vec3 gravity{0, 0, -10};  ///< m/s^2
  double mu = 0.5;          ///< of contacts whose bodies and obstacles have none that is smaller
  double restitution = 0;   ///< e of Newton's law, [0, 1]
  double impact_speed = 0;  ///< m/s; contacts that approach slower do not bounce
  double margin = 0;        ///< m; pairs are contacts within this gap, and what they approach
  HertzModel hertz;         ///< of elastic contacts
  Load load;                ///< empty: none
};

/// The problem of a step at the bodies' configuration, without what a scheme adds to its normal
/// rows:
///     r = F (V_B - V_A),   V = v* + w* x arm of bodies, and of obstacles their mean over the step.
struct PosedStep {
  ContactProblem problem;               ///< with identities of its contacts
  std::vector<Vec3> obstacle_velocity;  ///< [n] m/s, of side A where that is an obstacle
};

/// @param free      [m][6], FreeMotion::velocity
/// @param from, dt  s, the time over which obstacles move
PosedStep pose_step(const Bodies& bodies, const std::vector<BodyContact>& contacts,
                    const std::vector<double>& free, const StepModel& model, double from,
                    double dt);

/// [m][6] m/s and rad/s, those of the bodies.
std::vector<double> velocities_of(const Bodies& bodies);

/// [n][3] m/s, F (V_B - V_A) with the bodies' velocities as they are; and [n], their normal parts.
std::vector<double> relative_velocities(const PosedStep& posed, const Bodies& bodies);
std::vector<double> approach_of(const PosedStep& posed, const Bodies& bodies);

/// M^-1 D gamma, [m][6], of bodies as they are: walls move along their axes, and do not turn;
/// planar ones stay in their plane.
std::vector<double> changes_of(const Bodies& bodies, const ContactProblem& problem,
                               const std::vector<double>& gamma);

/// Adds the impulses on obstacles, [obstacles][3] N s.
void add_obstacle_impulses(const ContactProblem& problem, const std::vector<double>& gamma,
                           std::vector<double>& impulse);

}  // namespace ccp
