#include "problems/dynamics/bodies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/geometry/shape_table.hpp"
#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

constexpr double unit_tolerance = 1e-8;

bool is_finite(const Vec3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

void append(std::vector<double>& array, const Vec3& v) {
  array.insert(array.end(), {v.x, v.y, v.z});
}

void check_size_of(const Shape& shape, const std::string& where, const std::string& place) {
  try {
    check_shape(shape);
  } catch (const InputError& error) {
    throw InputError(where + ": " + place + ": " + error.what());
  }
}

/// R diag(d) R^T v.
Vec3 turned_product(const Quaternion& q, const Vec3& d, const Vec3& v) {
  const Vec3 own = rotate(conjugate(q), v);
  return rotate(q, {d.x * own.x, d.y * own.y, d.z * own.z});
}

}  // namespace

bool Bodies::rotate() const {
  return std::any_of(kind.begin(), kind.end(), [](BodyKind k) {
    return k == BodyKind::rigid || k == BodyKind::planar || k == BodyKind::pseudo_rigid;
  });
}

void Bodies::turn(std::size_t i, const Quaternion& q) {
  const double entries[4] = {q.w, q.x, q.y, q.z};
  std::copy(entries, entries + 4, &orientation[4 * i]);
}

DeformedShape Bodies::shape_now(std::size_t i) const {
  if (deforms(i)) return deformed(shape[i], deformation_of(i));
  return {shape[i], turned(i)};
}

PlacedShape Bodies::placed(std::size_t i) const {
  const DeformedShape now = shape_now(i);
  return place(now.shape, {placed_at(i), now.orientation});
}

Mat3 Bodies::matrix(const std::vector<double>& array, std::size_t i) {
  Mat3 a;
  std::copy_n(&array[9 * i], 9, a.a);
  return a;
}
void Bodies::set_matrix(std::vector<double>& array, std::size_t i, const Mat3& a) {
  std::copy_n(a.a, 9, &array[9 * i]);
}

void Bodies::make_pseudo_rigid(std::size_t i, double young, double poisson, double damping) {
  const std::string place = fmt::format("body {}", i);
  if (shape[i].kind != "ellipsoid" && shape[i].kind != "sphere") {
    throw InputError("pseudo-rigid bodies", place, "an ellipsoid or a sphere",
                     std::string(shape[i].kind));
  }
  OptionList material("of " + place, "material");
  material.number("young", young, OptionList::Range::positive(), "Young's modulus, Pa")
      .number("poisson", poisson, {-1, 0.5, true, true}, "Poisson's ratio")
      .number("damping", damping, OptionList::Range::at_least(0), "eta, s")
      .check();
  if (!deforms()) elastic.resize(count());
  deformation.resize(9 * count(), 0.0);
  deformation_rate.resize(9 * count(), 0.0);
  kind[i] = BodyKind::pseudo_rigid;
  const double volume = mass_properties(shape[i], 1).mass;  // at 1 kg/m^3
  elastic[i] = elasticity_of(young, poisson, damping, volume, triple(inertia, i));
  const std::array<Vec3, 3> axes = axes_of(turned(i));
  const Mat3 f{{axes[0].x, axes[1].x, axes[2].x, axes[0].y, axes[1].y, axes[2].y, axes[0].z,
                axes[1].z, axes[2].z}};
  set_matrix(deformation, i, f);
  set_matrix(deformation_rate, i, cross_matrix(triple(angular_velocity, i)) * f);
}

void Bodies::follow_deformation(std::size_t i) {
  const Mat3 f = deformation_of(i);
  if (!(determinant(f) > 0)) {
    throw InputError(
        "pseudo-rigid bodies", fmt::format("body {} at {:.6g} s", i, time),
        "a deformation that turns nothing inside out (a smaller step or a stiffer body)",
        fmt::format("one with det F = {:.3g}", determinant(f)));
  }
  turn(i, rotation_of(f));
  set_triple(angular_velocity, i, axial(deformation_rate_of(i) * inverted(f)));
}

std::size_t Bodies::add(const Shape& body, BodyKind how, double kg, const Vec3& own_inertia) {
  append(position, {});
  orientation.insert(orientation.end(), {1, 0, 0, 0});
  append(velocity, {});
  append(angular_velocity, {});
  mass.push_back(kg);
  append(inertia, own_inertia);
  mu.push_back(std::numeric_limits<double>::infinity());
  rolling.push_back(std::numeric_limits<double>::infinity());
  shape.push_back(body);
  kind.push_back(how);
  append(axis, {});
  if (deforms()) {
    elastic.emplace_back();
    deformation.resize(9 * count(), 0.0);
    deformation_rate.resize(9 * count(), 0.0);
  }
  return count() - 1;
}

std::size_t Bodies::add_wall(const Shape& wall, double kg, const Vec3& along) {
  const std::size_t i = add(wall, BodyKind::wall, kg, {});
  axis[3 * i] = along.x, axis[3 * i + 1] = along.y, axis[3 * i + 2] = along.z;
  return i;
}

Spheres Bodies::spheres() const {
  Spheres all;
  for (std::size_t i = 0; i < count(); ++i) {
    if (shape[i].kind != "sphere") {
      throw InputError(fmt::format("body {}: expected a sphere, found a {}", i, shape[i].kind));
    }
    all.radius.push_back(shape[i].size[0]);
  }
  all.position = position;
  all.velocity = velocity;
  all.mass = mass;
  return all;
}

void Bodies::check(const std::string& where) const {
  for (std::size_t i = 0; i < count(); ++i) {
    const std::string place = fmt::format("body {}", i);
    check_size_of(shape[i], where, place);
    if (!(mass[i] > 0) || !std::isfinite(mass[i])) {
      throw InputError(where, place, "a mass > 0", fmt::format("{} kg", mass[i]));
    }
    const Vec3 own = triple(inertia, i);
    const bool turns = kind[i] == BodyKind::rigid || kind[i] == BodyKind::planar || deforms(i);
    if (turns && !(own.x > 0 && own.y > 0 && own.z > 0)) {
      throw InputError(where, place, "moments of inertia > 0",
                       fmt::format("({}, {}, {}) kg m^2", own.x, own.y, own.z));
    }
    const Vec3 guide{axis[3 * i], axis[3 * i + 1], axis[3 * i + 2]};
    if (kind[i] == BodyKind::wall && !(std::abs(norm(guide) - 1) < unit_tolerance)) {
      throw InputError(where, place, "a unit vector that the wall slides along",
                       fmt::format("one of length {}", norm(guide)));
    }
    if (!(std::abs(norm(turned(i)) - 1) < unit_tolerance)) {
      throw InputError(where, place, "a unit quaternion",
                       fmt::format("one of length {}", norm(turned(i))));
    }
    for (int k = 0; k < 3; ++k) {
      if (!std::isfinite(position[3 * i + k]) || !std::isfinite(velocity[3 * i + k]) ||
          !std::isfinite(angular_velocity[3 * i + k])) {
        throw InputError(where, place, "a finite position and velocity", "another one");
      }
    }
  }
  for (std::size_t o = 0; o < obstacles.size(); ++o) {
    check_size_of(obstacles[o].shape, where, fmt::format("obstacle {}", o));
    const double length = norm(obstacles[o].at(time).orientation);
    if (!(std::abs(length - 1) < unit_tolerance)) {
      throw InputError(where, fmt::format("obstacle {}", o), "a unit quaternion",
                       fmt::format("one of length {}", length));
    }
  }
}

Bodies sphere_bodies(const Spheres& spheres, bool rotate) {
  Bodies bodies;
  for (std::size_t i = 0; i < spheres.count(); ++i) {
    const double j = 0.4 * spheres.mass[i] * spheres.radius[i] * spheres.radius[i];
    bodies.add({"sphere", {spheres.radius[i]}}, rotate ? BodyKind::rigid : BodyKind::non_rotating,
               spheres.mass[i], {j, j, j});
  }
  bodies.position = spheres.position;
  bodies.velocity = spheres.velocity;
  return bodies;
}

Vec3 spin_from(const Bodies& bodies, std::size_t i, const Quaternion& orientation,
               const Vec3& momentum) {
  const Vec3 own = triple(bodies.inertia, i);
  switch (bodies.kind[i]) {
    case BodyKind::rigid:
      return turned_product(orientation, {1 / own.x, 1 / own.y, 1 / own.z}, momentum);
    case BodyKind::planar:
      return {0, momentum.y / own.y, 0};
    default:
      return {};
  }
}

Vec3 momentum_from(const Bodies& bodies, std::size_t i, const Quaternion& orientation,
                   const Vec3& spin) {
  switch (bodies.kind[i]) {
    case BodyKind::rigid:
      return turned_product(orientation, triple(bodies.inertia, i), spin);
    case BodyKind::planar:
      return {0, bodies.inertia[3 * i + 1] * spin.y, 0};
    default:
      return {};
  }
}

namespace {

/// m and rad that an obstacle moves between two times.
double moved(const Obstacle& obstacle, double from, double to) {
  const Pose a = obstacle.at(from), b = obstacle.at(to);
  return norm(b.position - a.position) +
         norm(rotation_vector(b.orientation * conjugate(a.orientation)));
}

/// Halves the interval, keeping the half with the larger movement: where that does not shrink with
/// the time it takes, the motion jumps.
void refuse_jumps(const Obstacle& obstacle, std::size_t number, double from, double dt) {
  double all = moved(obstacle, from, from + dt);
  if (!std::isfinite(all)) {
    throw InputError(fmt::format("obstacle {}", number), fmt::format("motion at {:.6g} s", from),
                     "a finite position and a unit quaternion", "another one");
  }
  if (all == 0) return;
  double low = from, width = dt, step = all;
  for (int k = 0; k < 12; ++k) {
    width /= 2;
    const double first = moved(obstacle, low, low + width);
    const double second = moved(obstacle, low + width, low + 2 * width);
    all = std::max(all, first + second);  // one that turns round may end where it began
    step = std::max(first, second);
    if (second > first) low += width;
  }
  const double rounding = 1e-12 * (1 + norm(obstacle.at(low).position));
  if (step > 0.5 * all && step > rounding) {
    throw InputError(fmt::format("obstacle {}", number), fmt::format("motion at {:.6g} s", low),
                     "one without a jump", fmt::format("a jump by {:.3g} m or rad", step));
  }
}

}  // namespace

ObstacleMotion obstacle_motion(const Bodies& bodies, std::size_t number, double from, double dt) {
  const Obstacle& obstacle = bodies.obstacles[number];
  const Pose start = obstacle.at(from);
  ObstacleMotion motion;
  motion.centre = start.position;
  motion.velocity = obstacle.belt;
  if (!obstacle.motion) return motion;
  refuse_jumps(obstacle, number, from, dt);
  const Pose end = obstacle.at(from + dt);
  motion.velocity = motion.velocity + (1 / dt) * (end.position - start.position);
  motion.spin = (1 / dt) * rotation_vector(end.orientation * conjugate(start.orientation));
  if (!is_finite(motion.velocity) || !is_finite(motion.spin)) {
    throw InputError(fmt::format("obstacle {}", number), fmt::format("motion at {:.6g} s", from),
                     "a finite position and a unit quaternion", "another one");
  }
  return motion;
}

}  // namespace ccp
