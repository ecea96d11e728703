#pragma once

#include <array>
#include <string_view>

#include "problems/base/quaternion.hpp"
#include "problems/base/vec3.hpp"

namespace ccp {

/// What a body looks like, in axes of its own.
///
///     kind      size                 origin and axes
///     sphere    {radius, -, -}       its centre
///     plane     -                    a point of it; the third axis is the normal, out of the solid
struct Shape {
  std::string_view kind;         ///< of pair_entries(); a literal, for nobody keeps a copy
  std::array<double, 3> size{};  ///< m
};

/// Where a body is.
struct Pose {
  Vec3 position;           ///< m
  Quaternion orientation;  ///< unit
};

/// A shape somewhere in the world.
struct PlacedShape {
  Shape shape;
  Vec3 position;  ///< m, of its origin
  std::array<Vec3, 3> axes{
      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  ///< its own, orthonormal, world axes
};
inline PlacedShape place(const Shape& shape, const Pose& pose) {
  return {shape, pose.position, axes_of(pose.orientation)};
}

/// How two shapes A and B stand to each other: the points of their surfaces that are nearest, or
/// deepest inside the other where they overlap, and
///     point_b - point_a = gap normal.
struct Proximity {
  double gap = 0;  ///< m, signed distance of the surfaces
  Vec3 normal;     ///< unit, from A to B; not finite where there is none (centres that agree)
  Vec3 point_a, point_b;  ///< m, on the surfaces
};

}  // namespace ccp
