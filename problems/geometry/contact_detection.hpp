#pragma once

#include <cstdint>
#include <vector>

#include "problems/model/contact_problem.hpp"
#include "problems/model/frame.hpp"

namespace ccp {

/// Spheres above an immovable ground plane z = 0; flat arrays, SI units.
struct Spheres {
  std::vector<double> position;  ///< [m][3] m
  std::vector<double> velocity;  ///< [m][3] m/s
  std::vector<double> radius;    ///< [m] m
  std::vector<double> mass;      ///< [m] kg
  std::size_t count() const { return radius.size(); }
};

/// A pair of bodies that may touch within the step.
struct Candidate {
  std::int32_t a, b;  ///< bodies, a < b; the ground is a = -1
  double gap;         ///< m, signed distance of the surfaces
};

/// The order in which candidates are listed: by a, then by b.
inline bool by_bodies(const Candidate& x, const Candidate& y) {
  return x.a != y.a ? x.a < y.a : x.b < y.b;
}

/// The cutoff for potential contacts that the papers' three Test Problems share, in mean radii.
inline constexpr double papers_cutoff = 0.666;

/// All sphere-sphere and sphere-ground pairs with a gap below cutoff + sweep * (closing speed),
/// ordered by (a, b).
/// @param sweep  s, how far ahead approaching pairs are looked for
std::vector<Candidate> find_candidates(const Spheres& spheres, double cutoff, double sweep = 0);

/// The `count` candidates of smallest gap (ties by body numbers), ordered by (a, b).
/// @throws InputError if there are fewer pairs than that in reach (gaps up to twice the largest
/// radius)
std::vector<Candidate> nearest_candidates(const Spheres& spheres, std::size_t count);

/// Puts the spheres in the order of a Morton curve through their centres: neighbours in space
/// become neighbours in memory.
void sort_spatially(Spheres& spheres);

/// Makes spheres heavier, for problems with a large mass ratio.
struct HeavySpheres {
  double fraction = 0;    ///< of the spheres, drawn at random
  double mass_ratio = 1;  ///< factor on their mass
  std::uint64_t seed = 1;
};
/// @throws InputError for a fraction outside [0, 1] or a ratio that is not positive
void make_heavier(Spheres& spheres, const HeavySpheres& heavy);

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

/// k_n of f = k_n delta^(3/2), N/m^(3/2): E sqrt(r*) / (3 (1 - nu^2)) with r* = r_a r_b / (r_a +
/// r_b) (Wang 2016 eq. 17, whose r* is printed as the reciprocal of that). @param radius_a  0: a
/// plane
double hertz_stiffness(const HertzModel& model, double radius_a, double radius_b);

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
/// its eq. 33, k_n = pi/4 E (r_A + r_B), with the ground counted as the mirror image of the sphere.
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
