#pragma once

#include <vector>

#include "problems/dynamics/attraction.hpp"
#include "problems/dynamics/body_contacts.hpp"
#include "problems/dynamics/joint_rows.hpp"
#include "problems/dynamics/rigid_motion.hpp"
#include "problems/geometry/sphere_contacts.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp {

/// What time steps have in common, whatever their scheme.
struct StepModel {
  double dt = 0.01;         ///< s
  Vec3 gravity{0, 0, -10};  ///< m/s^2
  double mu = 0.5;          ///< of contacts whose bodies and obstacles have none that is smaller
  double rolling = 0;       ///< coefficient of rolling resistance; infinity: what its sides have
  bool twisting = true;     ///< rolling resistance resists twisting about the normal, too
  double restitution = 0;   ///< e of Newton's law, [0, 1]
  double impact_speed = 0;  ///< m/s; contacts that approach slower do not bounce
  double margin = 0;        ///< m; pairs are contacts within this gap, and what they approach
  HertzModel hertz;         ///< of elastic contacts
  Load load;                ///< empty: none
  Attraction attraction;    ///< of what touches; none
};

/// The problem of a step at the bodies' configuration, without what a scheme adds to its normal
/// rows and to those of joints:
///     r = F (V_B - V_A),   V = v* + w* x arm of bodies, and of obstacles their mean over the step.
///
/// Rolling resistance (Wang 2016 eq. 2 and 15) acts at contacts with mu_r > 0 of bodies that can
/// turn: u_r = F (w_B - w_A), |gamma_r| <= mu_r r* gamma_n with r* = r_A r_B / (r_A + r_B) of
/// spheres (and discs), and r_B against what is flat or of another shape. Without `twisting` its
/// triples have two rows.
///
/// A spring is an equality row with compliance. Its force at the end of the step is
/// -k (stretch + h u) - c u along the row, u = d/dt stretch, so that with the impulse
/// gamma = -h k (stretch + h u) - h c u
///     0 = u + gamma / (h (c + h k)) + k stretch / (c + h k),
/// which is the step with the matrix M - h^2 dk/dq - h dk/dv of linearly implicit forces (Anitescu
/// slides), written with the force as an unknown of its own.
struct PosedStep {
  ContactProblem problem;               ///< with identities of its contacts
  std::vector<Vec3> obstacle_velocity;  ///< [n] m/s, of side A where that is an obstacle
  std::vector<Vec3> obstacle_spin;      ///< [rolling triples] rad/s, the same
  std::vector<JointRows> joints;        ///< [equality triples]
  std::vector<Vec3> joint_given;        ///< [equality triples] what obstacles and motors add to J v

  /// Adds factor times Theta to the rows of joints that hold positions.
  void add_joint_errors(const Bodies& bodies, double factor);
};

/// Which joints act: springs and motors in a step, motors alone in a stage of velocities, and
/// neither where positions are moved.
enum class JointStage { step, velocities, positions };

/// @param free      [m][6], FreeMotion::velocity
/// @param from, dt  s, the time over which obstacles move
PosedStep pose_step(const Bodies& bodies, const std::vector<BodyContact>& contacts,
                    const std::vector<double>& free, const StepModel& model, double from, double dt,
                    JointStage stage = JointStage::step);

/// [equality triples][3], J v and what obstacles and motors add, with the bodies' velocities.
std::vector<Vec3> joint_rates(const PosedStep& posed, const Bodies& bodies);

/// [m][6] m/s and rad/s, those of the bodies.
std::vector<double> velocities_of(const Bodies& bodies);

/// [n][3] m/s, F (V_B - V_A) with the bodies' velocities as they are; and [n], their normal parts.
std::vector<double> relative_velocities(const PosedStep& posed, const Bodies& bodies);
std::vector<double> approach_of(const PosedStep& posed, const Bodies& bodies);

/// [rolling triples][3] rad/s, F (w_B - w_A) with the bodies' velocities as they are.
std::vector<double> relative_spins(const PosedStep& posed, const Bodies& bodies);

/// M^-1 D gamma, [m][6], of bodies as they are: walls move along their axes, and do not turn;
/// planar ones stay in their plane.
std::vector<double> changes_of(const Bodies& bodies, const ContactProblem& problem,
                               const std::vector<double>& gamma);

/// Adds the impulses on obstacles, of contacts and joints, [obstacles][3] N s.
void add_obstacle_impulses(const Bodies& bodies, const ContactProblem& problem,
                           const std::vector<double>& gamma, JointStage stage,
                           std::vector<double>& impulse);

}  // namespace ccp
