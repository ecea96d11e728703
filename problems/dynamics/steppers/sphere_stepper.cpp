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

double move_spheres(Spheres& spheres, const ContactProblem& problem,
                    const std::vector<double>& gamma) {
  std::vector<double>& v = spheres.velocity;
  for (std::size_t i = 0; i < spheres.count(); ++i) {
    for (int k = 0; k < 3; ++k) v[3 * i + k] += problem.dt * problem.gravity[k];
  }
  add_impulses(problem, gamma, v);
  double fastest = 0;
  for (std::size_t i = 0; i < spheres.count(); ++i) {
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      spheres.position[3 * i + k] += problem.dt * v[3 * i + k];
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
  ContactProblem step = sphere_problem(bodies.spheres, search_(bodies.spheres), model_);
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
  return move_spheres(bodies.spheres, problem, gamma);
}

}  // namespace ccp
