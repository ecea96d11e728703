#include "problems/dynamics/steppers/planar.hpp"

#include <algorithm>
#include <cmath>

#include "problems/geometry/sphere_contacts.hpp"
#include "problems/model/constraint_math.hpp"
#include "problems/model/impulses.hpp"

namespace ccp {

ContactProblem PlanarStepper::problem(const Bodies& bodies) const {
  const Spheres spheres = bodies.spheres();
  const bool rotates = bodies.rotate();
  SphereModel model;
  model.mu = model_.mu;
  model.dt = model_.dt;
  model.gravity = model_.gravity;
  model.young = 0;
  constexpr double sweep = 1.5;  // of what a pair can approach within the step
  ContactProblem problem = sphere_problem(
      spheres, find_candidates(spheres, model_.margin * spheres.radius[0], sweep * model_.dt),
      model);
  if (rotates) {
    problem.inverse_inertia.assign(9 * problem.bodies(), 0.0);
    problem.arm_a.assign(3 * problem.contacts(), 0.0);
    problem.arm_b.assign(3 * problem.contacts(), 0.0);
    for (std::size_t i = 0; i < problem.bodies(); ++i) {
      for (int k = 0; k < 3; ++k) {
        problem.velocity[6 * i + 3 + k] = bodies.angular_velocity[3 * i + k];
        problem.inverse_inertia[9 * i + 4 * k] = model_.inverse_inertia * problem.inverse_mass[i] /
                                                 (spheres.radius[i] * spheres.radius[i]);
      }
    }
  }
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    double* frame = &problem.frame[9 * c];  // n, t1 = y x n, t2 = y
    const double in_plane[6] = {frame[2], 0, -frame[0], 0, 1, 0};
    std::copy(in_plane, in_plane + 6, frame + 3);
    for (int side = 0; rotates && side < 2; ++side) {
      const std::int32_t body = problem.contact_bodies[2 * c + side];
      if (body < 0) continue;
      double* arm = (side == 0 ? &problem.arm_a : &problem.arm_b)->data() + 3 * c;
      for (int k = 0; k < 3; ++k) arm[k] = -side_sign(side) * spheres.radius[body] * frame[k];
    }
    const Vec3 free = free_velocity(problem, c);
    problem.r[3 * c + 1] = free.y;
    problem.r[3 * c + 2] = free.z;
  }
  return problem;
}

double PlanarStepper::finish(Bodies& bodies, const ContactProblem& problem,
                             const std::vector<double>& gamma) {
  const std::vector<double> change = body_velocity_changes(problem, gamma);
  double fastest = 0;  // squared
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    double square = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      double& v = bodies.velocity[3 * i + k];
      v += model_.dt * model_.gravity[k] + change[6 * i + k];
      bodies.position[3 * i + k] += model_.dt * v;
      if (bodies.rotate()) bodies.angular_velocity[3 * i + k] += change[6 * i + 3 + k];
      square += v * v;
    }
    if (!(square <= fastest)) fastest = square;  // a NaN stays
  }
  bodies.time += model_.dt;
  return std::sqrt(fastest);
}

}  // namespace ccp
