#pragma once

#include <algorithm>

#include "problems/dynamics/bodies.hpp"

namespace ccp {

/// An obstacle that turns about the y axis of the world, its lowest point towards -x.
/// @param lying        its pose until then
/// @param omega, from  rad/s, and since when, s
inline Obstacle turning_obstacle(const Shape& shape, const Pose& lying, double omega, double from) {
  Obstacle obstacle;
  obstacle.shape = shape;
  obstacle.pose = lying;
  if (omega > 0) {
    obstacle.motion = [=](double time) {
      const Quaternion turned = rotation({0, omega * std::max(0.0, time - from), 0});
      return Pose{rotate(turned, lying.position), turned * lying.orientation};
    };
  }
  return obstacle;
}

}  // namespace ccp
