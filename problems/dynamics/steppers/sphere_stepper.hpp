#pragma once

#include <functional>

#include "problems/dynamics/impulse_memory.hpp"
#include "problems/dynamics/stepper.hpp"
#include "problems/geometry/sphere_contacts.hpp"

namespace ccp {

/// Adds M^-1 D gamma to the velocities of bodies that do not rotate, [m][3].
/// @return gamma . N gamma, J
double add_impulses(const ContactProblem& problem, const std::vector<double>& gamma,
                    std::vector<double>& velocity);

/// The end of a time step: v += dt g + M^-1 D gamma, x += dt v.
/// @return the largest speed, m/s
double move_spheres(Bodies& bodies, const ContactProblem& problem,
                    const std::vector<double>& gamma);

/// What schemes for spheres that do not rotate have in common: sphere_problem() of the contacts
/// that a search finds, identities of the pairs, the guess "previous" (the step before, by
/// identity and clamped into the cones), and move_spheres().
class SphereStepper : public Stepper {
 public:
  /// The contacts of a step, ordered by their bodies (by_bodies).
  using Search = std::function<std::vector<Candidate>(const Spheres&)>;

  ContactProblem problem(const Bodies& bodies) const override;
  double finish(Bodies& bodies, const ContactProblem& problem,
                const std::vector<double>& gamma) override;
  StepperMemory save() const override;
  void restore(const StepperMemory& memory) override { memory_.restore(memory); }

 protected:
  SphereStepper(SphereModel model, Search search);

  const SphereModel& model() const { return model_; }
  std::vector<Candidate> search(const Spheres& spheres) const { return search_(spheres); }
  const ImpulseMemory& memory() const { return memory_; }
  void set(SphereModel model, Search search) {
    model_ = model;
    search_ = std::move(search);
  }

 private:
  SphereModel model_;
  Search search_;
  ImpulseMemory memory_;
};

}  // namespace ccp
