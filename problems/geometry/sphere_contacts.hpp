#pragma once

#include <array>
#include <vector>

#include "problems/base/options.hpp"
#include "problems/geometry/contact_detection.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp {

/// Elastic, regularised contacts: Hertz's law in the SPOOK stepper of Wang 2016 (Appendix A).
struct HertzModel {
  double young = 0;  ///< Pa; 0: rigid contacts
  double poisson = 0.25;
  double relaxation_steps = 2;  ///< n_s: overlaps decay in that many steps, eq. 17
  double damping = 0;           ///< s, c of eq. 17: tau_n = max(n_s dt, c / e_H)
  double tangential = 1e-6;     ///< s/kg, gamma_t of eq. 16
  /// m; below this overlap the stiffness is what it is there, and pairs that are at most so far
  /// apart are contacts: with Hertz's law alone a pair that just touches would feel nothing in its
  /// step
  double smallest_overlap = 1e-5;
};

/// The options of a HertzModel but for damping, to include in those of what has elastic contacts.
/// @param young  name of the option `young`, with its range and help
OptionList hertz_options(HertzModel& hertz, const std::string& young, OptionList::Range range,
                         const std::string& help);

/// k_n of f = k_n delta^(3/2), N/m^(3/2): E sqrt(r*) / (3 (1 - nu^2)) with r* = r_a r_b / (r_a +
/// r_b) (Wang 2016 eq. 17, whose r* is printed as the reciprocal of that). @param radius_a  0: a
/// plane
double hertz_stiffness(const HertzModel& model, double radius_a, double radius_b);

/// Sigma and r_n of one elastic contact, see sphere_problem().
/// @param stiffness   k_n of hertz_stiffness()
/// @param own         r_n without the overlap, m/s: n.(v + dt g)
/// @param approach    n.v at the start of the step, m/s
/// @param compliance  out: Sigma_n and Sigma_t, 1/kg
void make_elastic(const HertzModel& hertz, double dt, double stiffness, double overlap, double own,
                  double approach, double* compliance, double& r_n);

/// What turns spheres and candidates into a problem.
struct SphereModel {
  double mu = 0.4;
  double dt = 0.01;                          ///< s
  std::array<double, 3> gravity{0, 0, -10};  ///< m/s^2
  double young = 50e9;                       ///< Pa; 0 = no stiffnesses stored
  double poisson = 0.3;                      ///< for the ratio of normal to tangential stiffness
  HertzModel hertz;                          ///< with a young: elastic contacts
};

/// The bodies form of non-rotating spheres: frames and gaps from the positions and
/// r = D^T (v + dt g) + (gap / dt, 0, 0) (Kleinert 2014 eq. 10). Contact stiffnesses follow
/// Kleinert 2014 eq. 33, k_n = pi/4 E (r_A + r_B), with the ground counted as the mirror image of
/// the sphere.
///
/// With model.hertz contacts are elastic, delta = -gap. Wang 2016's constraint is g =
/// delta^(5/4); its eq. 1 divided by the derivative s = 5/4 delta^(1/4), with gamma_n = s lambda,
/// has the Jacobian of a rigid contact and
///     Sigma_n = (16/5) Y / (dt^2 k_n sqrt(max(delta, smallest_overlap))),   Sigma_t = gamma_t /
///     dt, r_n = n.(v + dt g) - Y n.v - (16/5) (Y / dt) delta,   Y = 1 / (1 + 4 tau_n / dt),
/// so that at rest gamma_n = dt k_n delta^(3/2) where delta >= smallest_overlap: Hertz's law.
ContactProblem sphere_problem(const Spheres& spheres, const std::vector<Candidate>& candidates,
                              const SphereModel& model);

}  // namespace ccp
