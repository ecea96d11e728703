#include "problems/dynamics/steppers/elastic.hpp"

#include <algorithm>
#include <cmath>

namespace ccp {

std::vector<double> hertz_impulses(const ContactProblem& problem, const SphereModel& model) {
  std::vector<double> gamma(3 * problem.contacts(), 0.0);
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const std::int32_t a = problem.contact_bodies[2 * c], b = problem.contact_bodies[2 * c + 1];
    const double overlap = std::max(-problem.gap[c], 0.0);
    const double firm = std::max(overlap, model.hertz.smallest_overlap);
    const double k = hertz_stiffness(model.hertz, a < 0 ? 0 : problem.radius[a], problem.radius[b]);
    gamma[3 * c] = problem.dt * k * overlap * std::sqrt(firm);
    for (int row = 1; row < 3; ++row) {
      double slip = 0;
      for (int i = 0; i < 3; ++i) {
        const double relative =
            problem.velocity[6 * b + i] - (a < 0 ? 0 : problem.velocity[6 * a + i]);
        slip += problem.frame[9 * c + 3 * row + i] * relative;
      }
      gamma[3 * c + row] = -problem.dt / model.hertz.tangential * slip;
    }
  }
  clamp_into_cones(problem.mu, gamma);
  return gamma;
}

ElasticStepper::ElasticStepper(const SphereModel& model)
    : SphereStepper(model, [reach = model.hertz.smallest_overlap](const Spheres& spheres) {
        return find_candidates(spheres, reach);
      }) {}

ContactProblem ElasticStepper::problem(const Bodies& bodies) const {
  ContactProblem step = SphereStepper::problem(bodies);
  step.guesses["hertz"] = {hertz_impulses(step, model()), "Hertz's law and Rayleigh dissipation"};
  return step;
}

}  // namespace ccp
