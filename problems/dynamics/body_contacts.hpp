#pragma once

#include <cstdint>
#include <vector>

#include "problems/dynamics/bodies.hpp"

namespace ccp {

/// A contact of two bodies, or of an obstacle (side A) and a body.
struct BodyContact {
  std::int32_t obstacle = -1;  ///< side A; -1: it is body a
  std::int32_t a = -1, b = 0;  ///< bodies; a < b
  std::int32_t feature = 0;    ///< which of the points of this pair
  double gap = 0;              ///< m, signed distance of the surfaces
  Vec3 normal;                 ///< unit, from A to B
  /// m, halfway between the surfaces, so that what the bodies exchange keeps angular momentum; on
  /// the body's surface where side A is an obstacle, so that rolling on it is exact at any gap
  Vec3 point;
};

/// All contacts at the time bodies.time with
///     gap <= cutoff + sweep (closing speed),
/// obstacles first, then ordered by bodies and feature. Servo walls pass through obstacles and each
/// other, and so do bodies that a joint holds together. @param sweep  s
std::vector<BodyContact> find_body_contacts(const Bodies& bodies, double cutoff, double sweep);

/// A number that a contact keeps as long as its bodies do. Of the first feature of two bodies, and
/// of obstacle 0, it is pair_identity().
/// @throws InputError for more than 2^19 bodies or obstacles
std::int64_t contact_identity(const BodyContact& contact);
/// The obstacle on side A; -1 where that is a body.
std::int32_t obstacle_of(std::int64_t identity);

}  // namespace ccp
