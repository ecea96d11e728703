#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "problems/geometry/shapes.hpp"

namespace ccp {

/// A body's motion.
struct Twist {
  Vec3 velocity;  ///< m/s, of the origin of its pose
  Vec3 angular;   ///< rad/s, world axes
};

/// Bodies as contact search sees them.
struct ShapedBodies {
  std::vector<Shape> shape;  ///< [m] checked by check_shape
  std::vector<Pose> pose;    ///< [m] unit quaternions
  /// [m], or empty: bodies of one group >= 0 never touch each other. Obstacles are such a group,
  /// and so are the parts of a body of several shapes. −1: in no group.
  std::vector<std::int32_t> group;
  /// Pairs a < b that do not touch each other, ascending: bodies that a joint holds together.
  std::vector<std::pair<std::int32_t, std::int32_t>> apart;
  std::vector<Twist> twist;  ///< [m], or empty where all is at rest; for `sweep` only
};

struct ContactOptions {
  double cutoff = 0;  ///< m: contacts with gap <= cutoff + sweep * (closing speed at the point)
  double sweep = 0;   ///< s, how far ahead approaching bodies are looked for
  /// Faces of boxes that lie on each other: 1, up to four points at the corners of what they share;
  /// 2, faces divided 2 x 2 and a point in the middle of what each two quarters share.
  int face_division = 1;
};

/// A contact of two bodies.
struct Contact {
  std::int32_t a, b;         ///< bodies, a < b
  std::int32_t feature = 0;  ///< < feature_limit; (a, b, feature) is one contact, and stays it
  double gap = 0;            ///< m, < 0 where they overlap
  Vec3 normal;               ///< unit, from A to B; always finite
  Vec3 point;                ///< m, halfway between the surfaces: they are at ± gap/2 normal
  Vec3 arm_a, arm_b;         ///< m, point − position of A and of B
};

/// Finds contacts, step after step; keeps its working arrays. Memory and time are linear in bodies
/// and contacts; nothing is allocated for a contact but its place in the result.
class ContactFinder {
 public:
  ContactFinder();
  ~ContactFinder();
  ContactFinder(ContactFinder&&) noexcept;
  ContactFinder& operator=(ContactFinder&&) noexcept;

  /// All contacts, ordered by (a, b, feature), in place of what is in `contacts`. The same bodies
  /// give the same bits.
  /// @throws InputError for arrays of different lengths, a non-unit quaternion, a position that is
  ///     not finite, kinds that come near each other but have no row in pair_table, and options out
  ///     of range
  void find(const ShapedBodies& bodies, const ContactOptions& options,
            std::vector<Contact>& contacts);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

/// The same, once.
std::vector<Contact> find_contacts(const ShapedBodies& bodies, const ContactOptions& options);
inline std::vector<Contact> find_contacts(const ShapedBodies& bodies, double cutoff) {
  return find_contacts(bodies, ContactOptions{cutoff});
}

}  // namespace ccp
