#include "problems/dynamics/body_contacts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/dynamics/impulse_memory.hpp"
#include "problems/geometry/find_contacts.hpp"
#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 19, feature_unit = std::int64_t{1} << 52;

/// Pairs that joints hold together, obstacles first, ascending.
std::vector<std::pair<std::int32_t, std::int32_t>> held_pairs(const Bodies& bodies) {
  const auto obstacles = static_cast<std::int32_t>(bodies.obstacles.size());
  const auto number = [&](const JointSide& side) {
    return side.body >= 0 ? obstacles + side.body : side.obstacle;
  };
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const Joint& joint : bodies.joints) {
    if (!joint.collide) pairs.emplace_back(std::minmax(number(joint.a), number(joint.b)));
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// Obstacles, and behind them the bodies; what does not touch each other is one group.
ShapedBodies shapes_of(const Bodies& bodies, double sweep) {
  constexpr std::int32_t guided = 0, free = -1;
  ShapedBodies all;
  all.apart = held_pairs(bodies);
  for (std::size_t o = 0; o < bodies.obstacles.size(); ++o) {
    const Obstacle& obstacle = bodies.obstacles[o];
    all.shape.push_back(obstacle.shape);
    all.pose.push_back(obstacle.at(bodies.time));
    all.group.push_back(guided);
    Twist twist;
    if (obstacle.motion && sweep > 0) {
      const ObstacleMotion motion = obstacle_motion(bodies, o, bodies.time, sweep);
      twist = {motion.velocity, motion.spin};
    }
    all.twist.push_back(twist);
  }
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    const DeformedShape now = bodies.shape_now(i);
    all.shape.push_back(now.shape);
    all.pose.push_back({bodies.placed_at(i), now.orientation});
    all.group.push_back(bodies.kind[i] == BodyKind::wall ? guided : free);
    all.twist.push_back({triple(bodies.velocity, i), triple(bodies.angular_velocity, i)});
  }
  return all;
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
  const auto obstacles = static_cast<std::int32_t>(bodies.obstacles.size());
  std::vector<BodyContact> contacts;
  for (const Contact& found :
       find_contacts(shapes_of(bodies, sweep), ContactOptions{cutoff, sweep})) {
    BodyContact contact;
    contact.feature = found.feature;
    contact.gap = found.gap;
    contact.normal = found.normal;
    contact.point = found.point;
    contact.b = found.b - obstacles;
    if (found.a < obstacles) {
      contact.obstacle = found.a;
      contact.point = found.point + 0.5 * found.gap * found.normal;
    } else {
      contact.a = found.a - obstacles;
    }
    contacts.push_back(contact);
  }
  return contacts;
}

}  // namespace ccp
