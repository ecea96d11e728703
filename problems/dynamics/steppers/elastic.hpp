#pragma once

#include "problems/dynamics/steppers/sphere_stepper.hpp"

namespace ccp {

/// What an elastic model says of the impulses: gamma_n = dt k_n delta^(3/2) of Hertz's law and
/// gamma_t = -(dt / gamma_t) u_t of Rayleigh's dissipation with the velocities at the start of the
/// step, clamped into the cones (Wang 2016 eq. 9-10 in our units: see docs/sequence-format.md).
/// @param problem  one of sphere_problem with model.hertz
std::vector<double> hertz_impulses(const ContactProblem& problem, const SphereModel& model);

/// Elastic contacts, Hertz's law in the SPOOK scheme (Wang 2016 App. A, see HertzModel): spheres
/// that overlap, or are apart by at most hertz.smallest_overlap. Impacts have no stage of their
/// own. Problems carry the guess "hertz", too: hertz_impulses().
class ElasticStepper : public SphereStepper {
 public:
  /// @param model  with hertz.young > 0
  explicit ElasticStepper(const SphereModel& model);
  ContactProblem problem(const Bodies& bodies) const override;
};

}  // namespace ccp
