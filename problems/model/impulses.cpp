#include "problems/model/impulses.hpp"

namespace ccp {

std::vector<double> body_momenta(const ContactProblem& problem, const std::vector<double>& gamma) {
  std::vector<double> momentum(6 * problem.bodies(), 0.0);
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const double *frame = &problem.frame[9 * c], *g = &gamma[3 * c];
    double p[3];  // F^T g, world axes
    for (int k = 0; k < 3; ++k) p[k] = frame[k] * g[0] + frame[3 + k] * g[1] + frame[6 + k] * g[2];
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = problem.contact_bodies[2 * c + side];
      if (body < 0) continue;
      double* own = &momentum[6 * static_cast<std::size_t>(body)];
      for (int k = 0; k < 3; ++k) own[k] += side == 0 ? -p[k] : p[k];
      if (!problem.rotates()) continue;
      const double* arm = (side == 0 ? &problem.arm_a : &problem.arm_b)->data() + 3 * c;
      for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double torque = arm[i] * p[j] - arm[j] * p[i];
        own[3 + k] += side == 0 ? -torque : torque;
      }
    }
  }
  return momentum;
}

std::vector<double> body_velocity_changes(const ContactProblem& problem,
                                          const std::vector<double>& gamma) {
  std::vector<double> change = body_momenta(problem, gamma);
  for (std::size_t i = 0; i < problem.bodies(); ++i) {
    double* own = &change[6 * i];
    for (int k = 0; k < 3; ++k) own[k] *= problem.inverse_mass[i];
    if (!problem.rotates()) continue;
    const double* inverse_inertia = &problem.inverse_inertia[9 * i];
    const double l[3] = {own[3], own[4], own[5]};
    for (int k = 0; k < 3; ++k) {
      own[3 + k] = inverse_inertia[3 * k] * l[0] + inverse_inertia[3 * k + 1] * l[1] +
                   inverse_inertia[3 * k + 2] * l[2];
    }
  }
  return change;
}

}  // namespace ccp
