#include "problems/model/constraint_math.hpp"

#include <algorithm>

namespace ccp {

bool is_movable(const ContactProblem& problem, int body) {
  if (body < 0) return false;
  if (problem.inverse_mass[body] != 0) return true;
  if (!problem.rotates()) return false;
  const double* inertia = &problem.inverse_inertia[9 * static_cast<std::size_t>(body)];
  return std::any_of(inertia, inertia + 9, [](double entry) { return entry != 0; });
}

Vec3 free_velocity(const ContactProblem& problem, std::size_t contact) {
  const Vec3 g{problem.gravity[0], problem.gravity[1], problem.gravity[2]};
  Vec3 sum;
  for (int side = 0; side < 2; ++side) {
    const std::int32_t body = problem.contact_bodies[2 * contact + side];
    if (body < 0) continue;
    const auto at = 2 * static_cast<std::size_t>(body);
    const Vec3 v = triple(problem.velocity, at) + problem.dt * g;
    const Vec3 w = triple(problem.velocity, at + 1);
    const Vec3 surface = velocity_at(v, w, arm_of(problem, contact, side));
    sum = sum + side_sign(side) * to_contact_axes(&problem.frame[9 * contact], surface);
  }
  return sum;
}

}  // namespace ccp
