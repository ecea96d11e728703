#pragma once

#include <array>
#include <string_view>

#include "problems/base/quaternion.hpp"
#include "problems/base/vec3.hpp"

namespace ccp {

/// What a body looks like, in axes of its own. Mass properties are in shape_table.
///
///     kind             size                     origin and axes
///     sphere           {radius, -, -}           its centre
///     plane            -                        a point of it; the third axis is the normal, out
///     of
///                                               the solid
///     box              {half edges}             its centre; edges along the axes
///     cylinder_inside  {radius, -, -}           a point of the axis, which is the third; the solid
///     is
///                                               outside of it. Endless: caps are planes
///     ellipsoid        {semi-axes}              its centre
///     ellipse          {semi-axes a, c, -}      its centre; in the plane of the first and the
///     third
///                                               axis. Planar: the second axis is the world's y
///     rod              {half length, -, -}      its centre; along the first axis. Touches with its
///                                               two ends only
struct Shape {
  std::string_view kind;         ///< of shape_kinds(); a literal, for nobody keeps a copy
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

/// A point at which two shapes touch, or may within the step: a Proximity of parts of them.
struct ContactPoint {
  /// Which parts: the same number as long as they are the same, and another for each point of a
  /// pair. 0 where there is one point only.
  int feature = 0;
  Proximity where;
};
inline constexpr int feature_limit = 2048;  ///< feature numbers are below

/// The contact points of a pair, without a heap.
class ContactPoints {
 public:
  static constexpr int capacity = 16;
  void clear() { count_ = 0; }
  int size() const { return count_; }
  void add(int feature, const Proximity& where) {
    if (count_ < capacity) points_[static_cast<std::size_t>(count_++)] = {feature, where};
  }
  /// Keeps those for which keep(point) holds, in their order.
  template <class Keep>
  void keep_if(const Keep& keep) {
    int kept = 0;
    for (int k = 0; k < count_; ++k) {
      if (keep(points_[k])) points_[kept++] = points_[k];
    }
    count_ = kept;
  }
  ContactPoint* begin() { return points_.data(); }
  ContactPoint* end() { return points_.data() + count_; }
  const ContactPoint* begin() const { return points_.data(); }
  const ContactPoint* end() const { return points_.data() + count_; }

 private:
  int count_ = 0;
  std::array<ContactPoint, capacity> points_;
};

}  // namespace ccp
