#include "problems/dynamics/body_contacts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/dynamics/impulse_memory.hpp"
#include "problems/geometry/pair_table.hpp"

namespace ccp {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 19, feature_unit = std::int64_t{1} << 52;

/// Of the points of a body or obstacle that are not far from it, m/s.
double speed_of(const Vec3& v, const Vec3& w, double radius) {
  return norm(v) + radius * norm(w);
}

Vec3 row(const std::vector<double>& array, std::size_t i) {
  return {array[3 * i], array[3 * i + 1], array[3 * i + 2]};
}

}  // namespace

std::int64_t contact_identity(const BodyContact& contact) {
  const std::int32_t side_a = contact.obstacle < 0 ? contact.a : -1 - contact.obstacle;
  if (std::abs(static_cast<std::int64_t>(side_a)) >= most) {
    throw InputError(fmt::format("contact of body {}: more than {} bodies", contact.b, most));
  }
  return pair_identity(side_a, contact.b) + contact.feature * feature_unit;
}

std::int32_t obstacle_of(std::int64_t identity) {
  // Without features: (a + 1) 2^32 + b with |a + 1| <= 2^19.
  std::int64_t pair = identity % feature_unit;
  if (pair >= feature_unit / 2) pair -= feature_unit;
  const std::int64_t side_a = (pair >> 32) - 1;
  return side_a < 0 ? static_cast<std::int32_t>(-1 - side_a) : -1;
}

std::vector<BodyContact> find_body_contacts(const Bodies& bodies, double cutoff, double sweep) {
  std::vector<BodyContact> contacts;
  const auto add = [&](const PlacedShape& a, const PlacedShape& b, std::int32_t obstacle,
                       std::int32_t first, std::size_t second, double closing) {
    const Proximity p = proximity(a, b);
    if (!(p.gap <= cutoff + sweep * closing)) return;
    contacts.push_back({obstacle, first, static_cast<std::int32_t>(second), 0, p.gap, p.normal,
                        obstacle < 0 ? 0.5 * (p.point_a + p.point_b) : p.point_b});
  };
  std::vector<double> speed(bodies.count());
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    speed[i] =
        speed_of(row(bodies.velocity, i), row(bodies.angular_velocity, i), bodies.shape[i].size[0]);
  }
  for (std::size_t o = 0; o < bodies.obstacles.size(); ++o) {
    const PlacedShape at = place(bodies.obstacles[o].shape, bodies.obstacles[o].at(bodies.time));
    for (std::size_t i = 0; i < bodies.count(); ++i) {
      if (bodies.kind[i] == BodyKind::wall) continue;
      add(at, bodies.placed(i), static_cast<std::int32_t>(o), -1, i, speed[i]);
    }
  }
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    for (std::size_t j = i + 1; j < bodies.count(); ++j) {
      if (bodies.kind[i] == BodyKind::wall && bodies.kind[j] == BodyKind::wall) continue;
      add(bodies.placed(i), bodies.placed(j), -1, static_cast<std::int32_t>(i), j,
          speed[i] + speed[j]);
    }
  }
  return contacts;
}

}  // namespace ccp
