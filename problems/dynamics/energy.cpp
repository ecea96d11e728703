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
    if (bodies.deforms(i)) {
      const Mat3 rate = bodies.deformation_rate_of(i);
      const Vec3& euler = bodies.elastic[i].euler;
      for (int k = 0; k < 9; ++k) {
        const double moment = k % 3 == 0 ? euler.x : k % 3 == 1 ? euler.y : euler.z;
        energy.kinetic += 0.5 * moment * rate[k] * rate[k];
      }
      energy.potential += strain_energy(bodies.elastic[i], bodies.deformation_of(i));
    }
    if (bodies.kind[i] == BodyKind::wall) continue;
    energy.potential -= bodies.mass[i] * dot(gravity, bodies.placed_at(i));
  }
  energy.potential += spring_energy(bodies);
  return energy;
}

}  // namespace ccp
