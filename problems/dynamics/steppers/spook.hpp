#pragma once

#include "problems/dynamics/steppers/rigid_stepper.hpp"

namespace ccp {

/// Elastic contacts in the SPOOK scheme, with a stage of impacts (Wang 2016 Sect. 2 and App. A,
/// Algorithm 1). For bodies that approach faster than impact_speed v_imp a step begins with
///     u_n = n.v+ + e min(0, n.v-) where n.v- < -v_imp,   u_n = n.v+ elsewhere,   Sigma = 0,
/// from zero, which changes velocities and nothing else; then there is the step of Hertz's law, see
/// sphere_problem() for its rows. Rolling rows have Sigma = 1e-6/h, and joints are soft:
///     J v + Sigma gamma = -(4/h) Upsilon Theta + Upsilon J v_old,   Sigma = (4/h^2) 1e-10 Upsilon,
/// Upsilon = 1/9. Contacts overlap, or are apart by at most hertz.smallest_overlap.
class SpookStepper : public RigidStepper {
 public:
  /// @param model  with hertz.young > 0
  explicit SpookStepper(const StepModel& model);

  /// That of the elastic step, with the velocities as they are.
  ContactProblem problem(const Bodies& bodies) const override;
  /// Both stages. The step's problem is that of the elastic one; obstacles take impulses of both.
  Step step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
            const StepStart& start = {}) override;

  /// The problem of the impacts; without contacts where nothing is faster than v_imp.
  ContactProblem impacts(const Bodies& bodies) const;

 private:
  std::vector<BodyContact> touching(const Bodies& bodies) const;
  static void add_model_guess(const Bodies& bodies, PosedStep& posed,
                              const std::vector<double>& hertz);
  void make_elastic_pools(const Bodies& bodies, PosedStep& posed) const;
};

}  // namespace ccp
