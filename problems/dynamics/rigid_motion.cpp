#include "problems/dynamics/rigid_motion.hpp"

#include <cmath>

#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

void set_orientation(Bodies& bodies, std::size_t i, const Quaternion& q) {
  double* to = &bodies.orientation[4 * i];
  to[0] = q.w, to[1] = q.x, to[2] = q.y, to[3] = q.z;
}

bool turns(BodyKind kind) {
  return kind == BodyKind::rigid || kind == BodyKind::planar;
}
/// Whether I does not depend on the orientation.
bool is_isotropic(const Bodies& bodies, std::size_t i) {
  const double* j = &bodies.inertia[3 * i];
  return bodies.kind[i] != BodyKind::rigid || (j[0] == j[1] && j[1] == j[2]);
}

void drift_deformation(Bodies& bodies, std::size_t i, double time) {
  for (std::size_t k = 9 * i; k < 9 * i + 9; ++k) {
    bodies.deformation[k] += time * bodies.deformation_rate[k];
  }
  bodies.follow_deformation(i);
}

}  // namespace

FreeMotion free_motion(const Bodies& bodies, const Vec3& gravity, const Load& load, double dt) {
  const std::size_t m = bodies.count();
  std::vector<double> loads;
  if (load) {
    loads.assign(6 * m, 0.0);
    load(bodies, loads);
  }
  FreeMotion free;
  free.dt = dt;
  free.velocity.assign(6 * m, 0.0);
  free.momentum.assign(3 * m, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    Vec3 force, torque;
    if (load) force = triple(loads, 2 * i), torque = triple(loads, 2 * i + 1);
    const bool wall = bodies.kind[i] == BodyKind::wall;
    const Vec3 axis = triple(bodies.axis, i);
    if (wall) force = dot(force, axis) * axis;
    Vec3 v = triple(bodies.velocity, i);
    if (!wall) v = v + dt * gravity;
    if (load) v = v + dt / bodies.mass[i] * force;
    set_triple(free.velocity, 2 * i, v);
    if (!turns(bodies.kind[i])) continue;
    const Vec3 w = triple(bodies.angular_velocity, i);
    const Quaternion q = bodies.turned(i);
    if (is_isotropic(bodies, i)) {
      set_triple(free.velocity, 2 * i + 1, load ? w + dt * spin_from(bodies, i, q, torque) : w);
      continue;
    }
    const Vec3 momentum = momentum_from(bodies, i, q, w) + dt * torque;
    const Quaternion middle = normalized(rotation(0.5 * dt * w) * q);
    set_triple(free.momentum, i, momentum);
    set_triple(free.velocity, 2 * i + 1, spin_from(bodies, i, middle, momentum));
  }
  return free;
}

void end_motion(Bodies& bodies, const FreeMotion& free, const std::vector<double>& change) {
  const double dt = free.dt;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    const Vec3 v = triple(free.velocity, 2 * i) + triple(change, 2 * i);
    set_triple(bodies.velocity, i, v);
    set_triple(bodies.position, i, bodies.placed_at(i) + dt * v);
    if (!turns(bodies.kind[i])) continue;
    const Vec3 turned = triple(change, 2 * i + 1);
    const Vec3 w = triple(free.velocity, 2 * i + 1) + turned;
    const Quaternion before = bodies.turned(i);
    const Quaternion after = normalized(rotation(dt * w) * before);
    set_orientation(bodies, i, after);
    set_triple(bodies.angular_velocity, i,
               is_isotropic(bodies, i) ? w
                                       : spin_from(bodies, i, after,
                                                   triple(free.momentum, i) +
                                                       momentum_from(bodies, i, before, turned)));
  }
  bodies.time += dt;
}

void end_deformation(Bodies& bodies, const std::vector<double>& rates, double time) {
  bodies.deformation_rate = rates;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    if (bodies.deforms(i)) drift_deformation(bodies, i, time);
  }
}

void add_change(Bodies& bodies, const std::vector<double>& change) {
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    set_triple(bodies.velocity, i, triple(bodies.velocity, i) + triple(change, 2 * i));
    if (!turns(bodies.kind[i])) continue;
    set_triple(bodies.angular_velocity, i,
               triple(bodies.angular_velocity, i) + triple(change, 2 * i + 1));
  }
}

void drift(Bodies& bodies, double time) {
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    set_triple(bodies.position, i, bodies.placed_at(i) + time * triple(bodies.velocity, i));
    if (bodies.deforms(i)) drift_deformation(bodies, i, time);
    if (!turns(bodies.kind[i])) continue;
    const Quaternion before = bodies.turned(i);
    const Vec3 w = triple(bodies.angular_velocity, i);
    const Quaternion after = normalized(rotation(time * w) * before);
    set_orientation(bodies, i, after);
    if (is_isotropic(bodies, i)) continue;
    set_triple(bodies.angular_velocity, i,
               spin_from(bodies, i, after, momentum_from(bodies, i, before, w)));
  }
  bodies.time += time;
}

void shift(Bodies& bodies, const std::vector<double>& shift) {
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    set_triple(bodies.position, i, bodies.placed_at(i) + triple(shift, 2 * i));
    if (!turns(bodies.kind[i])) continue;
    set_orientation(bodies, i, normalized(rotation(triple(shift, 2 * i + 1)) * bodies.turned(i)));
  }
}

double fastest(const Bodies& bodies, std::size_t* which) {
  double most = 0;
  if (which) *which = 0;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    const Vec3 v = triple(bodies.velocity, i);
    const Vec3 w = triple(bodies.angular_velocity, i);
    const double square = dot(v, v);
    if (square <= most && std::isfinite(dot(w, w))) continue;
    most = std::isfinite(dot(w, w)) ? square : std::nan("");
    if (which) *which = i;
    if (std::isnan(most)) break;
  }
  return std::sqrt(most);
}

}  // namespace ccp
