#pragma once

#include <array>

#include "problems/dynamics/stepper.hpp"

namespace ccp {

/// What acts on bodies in the plane y = 0.
struct PlanarModel {
  double mu = 0.2;
  double dt = 0.05;                          ///< s
  std::array<double, 3> gravity{0, 0, -10};  ///< m/s^2, without a y component
  double inverse_inertia = 2.5;              ///< times m r^2: 2.5 of solid spheres, 2 of discs
  double margin = 0.1;  ///< contacts of spheres are seen within this gap, in radii of the first
};

/// Spheres that stay in the plane y = 0 above the ground z = 0, with or without rotation: the
/// scheme of the Anitescu slides with gaps in r (their gamma = 1; Kleinert 2014 eq. 10),
///     r = D^T (v + dt g, w) + (gap / dt, 0, 0).
/// The first tangent t1 of every contact lies in the plane and t2 = y, so that a friction pyramid
/// with corners along +-t1 is exact. J = m radius^2 / inverse_inertia.
class PlanarStepper : public Stepper {
 public:
  explicit PlanarStepper(const PlanarModel& model) : model_(model) {}

  ContactProblem problem(const Bodies& bodies) const override;
  double finish(Bodies& bodies, const ContactProblem& problem,
                const std::vector<double>& gamma) override;

 private:
  PlanarModel model_;
};

}  // namespace ccp
