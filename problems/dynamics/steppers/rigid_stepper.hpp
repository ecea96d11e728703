#pragma once

#include <vector>

#include "problems/dynamics/impulse_memory.hpp"
#include "problems/dynamics/step_problem.hpp"
#include "problems/dynamics/stepper.hpp"

namespace ccp {

/// What the family of schemes on general bodies shares: contacts with identities that start the
/// next step warm, obstacles, the free motion, and the sum of impulses on obstacles.
class RigidStepper : public Stepper {
 public:
  /// @throws InputError for a model out of range
  explicit RigidStepper(const StepModel& model);

  /// problem(), a solve and finish(), with the impulses on obstacles.
  Step step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
            const StepStart& start = {}) override;
  /// The free motion with what the impulses change, which are remembered.
  double finish(Bodies& bodies, const ContactProblem& problem,
                const std::vector<double>& gamma) override;
  StepperMemory save() const override;
  void restore(const StepperMemory& memory) override { memory_.restore(memory); }

 protected:
  const StepModel& model() const { return model_; }
  /// Contacts nearer than the margin, or that close within the step.
  std::vector<BodyContact> contacts_near(const Bodies& bodies) const;
  FreeMotion free(const Bodies& bodies) const;
  /// What attraction does to obstacles within the step, from where the bodies are: [obstacles][3] N
  /// s.
  std::vector<double> attracted(const Bodies& bodies) const;
  /// Adds the guess "previous": the impulses of the step before, by identity, clamped into the
  /// cones.
  void add_guess(ContactProblem& problem) const;
  void remember(const ContactProblem& problem, const std::vector<double>& gamma) {
    memory_.keep(problem, gamma);
  }
  /// Solves a further stage of a step, for velocities, from zero, and adds what obstacles take.
  /// @return its impulses; none where there are no rows
  static std::vector<double> solve_stage(const Bodies& bodies, const ContactProblem& problem,
                                         StepSolver& solver, const StepAccuracy& accuracy,
                                         Step& step);

 private:
  /// A step whose start does not move bodies; the multipliers are remembered, not what acted.
  Step step_apart(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                  const StepStart& start);
  StepModel model_;
  ImpulseMemory memory_;
};

/// Adds e min(0, n.v) to the normal rows: Newton's law of impact, for contacts that approach faster
/// than model.impact_speed. @param approach  [n] n.v before the impact, m/s
void add_restitution(const StepModel& model, const std::vector<double>& approach,
                     ContactProblem& problem);

}  // namespace ccp
