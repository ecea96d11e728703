#include "problems/dynamics/energy.hpp"

#include "problems/dynamics/joint_rows.hpp"
#include "problems/model/constraint_math.hpp"

namespace ccp {

Energy energy_of(const Bodies& bodies, const Vec3& gravity) {
  Energy energy;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    const Vec3 v{bodies.velocity[3 * i], bodies.velocity[3 * i + 1], bodies.velocity[3 * i + 2]};
    const Vec3 w{bodies.angular_velocity[3 * i], bodies.angular_velocity[3 * i + 1],
                 bodies.angular_velocity[3 * i + 2]};
    energy.kinetic += 0.5 * bodies.mass[i] * dot(v, v) +
                      0.5 * dot(w, momentum_from(bodies, i, bodies.turned(i), w));
    if (bodies.kind[i] == BodyKind::wall) continue;
    energy.potential -= bodies.mass[i] * dot(gravity, bodies.placed_at(i));
  }
  energy.potential += spring_energy(bodies);
  return energy;
}

}  // namespace ccp
