#pragma once

#include "problems/dynamics/steppers/rigid_stepper.hpp"

namespace ccp {

/// How stiff contacts are.
struct DemOptions {
  bool hertz = true;              ///< f_n = k delta^(3/2), otherwise k delta
  double tangential = 2.0 / 7.0;  ///< k_t / k_n
};

/// The discrete element method: explicit penalty forces, no solver. Semi-implicit Euler with
///     f_n = max(0, k_n delta - c_n u_n),     xi <- xi + h u_t,   f_t = -k_t xi - c_t u_t,  |f_t|
///     <= mu f_n,
/// where the spring xi is shortened to what friction holds, c_t = c_n sqrt(k_t / k_n). Hertz: k_n =
/// (3/2) k sqrt(delta) as tangent of f = k delta^(3/2), k of hertz_stiffness(); linear: k_n = pi/4
/// E (r_A + r_B) as Kleinert 2014 eq.
/// 33. c_n is chosen for the restitution e: 2 zeta sqrt(m k_n), zeta = -ln e / sqrt(pi^2 + ln^2 e),
/// of the reduced mass m.
class DemStepper : public RigidStepper {
 public:
  /// @param model  with hertz.young > 0
  DemStepper(const StepModel& model, const DemOptions& options);

  /// Contacts that overlap, for who looks: their forces are in no problem.
  ContactProblem problem(const Bodies& bodies) const override;
  double finish(Bodies& bodies, const ContactProblem& problem,
                const std::vector<double>& gamma) override;
  /// Its gamma are the impulses of the penalty forces. The solver is not asked.
  /// @throws InputError for a step longer than sqrt(m / k) / 5 of any contact, with that limit
  Step step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
            const StepStart& start = {}) override;
  StepperMemory save() const override;
  void restore(const StepperMemory& memory) override;

 private:
  std::vector<double> penalty(const Bodies& bodies, const ContactProblem& problem,
                              const std::vector<double>& approach);
  /// Slip of the springs, [n][3] m in world axes, of the contacts of the step before.
  std::vector<std::int64_t> identity_;
  std::vector<double> spring_;
  DemOptions options_;
};

}  // namespace ccp
