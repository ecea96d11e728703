#include "problems/dynamics/steppers/sphere_stepper.hpp"

#include <cmath>
#include <utility>

#include "problems/model/impulses.hpp"

namespace ccp {

double add_impulses(const ContactProblem& problem, const std::vector<double>& gamma,
                    std::vector<double>& velocity) {
  const std::vector<double> momentum = body_momenta(problem, gamma);
  double energy = 0;
  for (std::size_t i = 0; i < problem.bodies(); ++i) {
    for (int k = 0; k < 3; ++k) {
      const double change = problem.inverse_mass[i] * momentum[6 * i + k];
      velocity[3 * i + k] += change;
      energy += change * momentum[6 * i + k];
    }
  }
  return energy;
}

double move_spheres(Bodies& bodies, const ContactProblem& problem,
                    const std::vector<double>& gamma) {
  std::vector<double>& v = bodies.velocity;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    for (int k = 0; k < 3; ++k) v[3 * i + k] += problem.dt * problem.gravity[k];
  }
  add_impulses(problem, gamma, v);
  double fastest = 0;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      bodies.position[3 * i + k] += problem.dt * v[3 * i + k];
      square += v[3 * i + k] * v[3 * i + k];
    }
    if (square > fastest || std::isnan(square)) fastest = square;
    if (std::isnan(fastest)) return fastest;
  }
  return std::sqrt(fastest);
}

SphereStepper::SphereStepper(SphereModel model, Search search)
    : model_(model), search_(std::move(search)) {}

ContactProblem SphereStepper::problem(const Bodies& bodies) const {
  const Spheres spheres = bodies.spheres();
  ContactProblem step = sphere_problem(spheres, search_(spheres), model_);
  for (std::size_t c = 0; c < step.contacts(); ++c) {
    step.identity.push_back(
        pair_identity(step.contact_bodies[2 * c], step.contact_bodies[2 * c + 1]));
  }
  Guess& previous = step.guesses["previous"];
  previous = {memory_.recall(step), "the step before, by identity of the contacts"};
  clamp_into_cones(step.mu, previous.gamma);
  return step;
}

double SphereStepper::finish(Bodies& bodies, const ContactProblem& problem,
                             const std::vector<double>& gamma) {
  memory_.keep(problem, gamma);
  bodies.time += problem.dt;
  return move_spheres(bodies, problem, gamma);
}

StepperMemory SphereStepper::save() const {
  StepperMemory memory;
  memory_.save(memory);
  return memory;
}

}  // namespace ccp
