#include "problems/geometry/find_contacts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/base/error.hpp"
#include "problems/geometry/broad_phase.hpp"
#include "problems/geometry/pair_table.hpp"
#include "problems/geometry/shape_table.hpp"

namespace ccp {
namespace {

/// Rows of pair_table by numbers of kinds, so that nobody compares names for each pair.
class PairIndex {
 public:
  struct Found {
    const PairEntry* row = nullptr;
    bool swapped = false;
  };
  PairIndex() : size_(shape_kinds().size()), found_(size_ * size_) {
    for (std::size_t a = 0; a < size_; ++a) {
      for (std::size_t b = 0; b < size_; ++b) {
        Found& found = found_[size_ * a + b];
        found.row = find_entry(shape_kinds()[a].kind, shape_kinds()[b].kind, found.swapped);
      }
    }
  }
  const Found& operator()(std::int32_t a, std::int32_t b) const {
    return found_[size_ * static_cast<std::size_t>(a) + static_cast<std::size_t>(b)];
  }

 private:
  std::size_t size_;
  std::vector<Found> found_;
};

std::int32_t kind_number(std::string_view kind) {
  return static_cast<std::int32_t>(&shape_kind(kind) - shape_kinds().data());
}

bool finite(const Vec3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

void check(const ShapedBodies& bodies) {
  const std::size_t m = bodies.shape.size();
  const auto same_length = [&](const char* name, std::size_t length, bool may_be_empty) {
    if (length == m || (may_be_empty && length == 0)) return;
    throw InputError("bodies", name, fmt::format("{} entries", m), fmt::format("{}", length));
  };
  same_length("pose", bodies.pose.size(), false);
  same_length("group", bodies.group.size(), true);
  same_length("twist", bodies.twist.size(), true);
  for (std::size_t i = 0; i < m; ++i) {
    const Pose& pose = bodies.pose[i];
    if (!finite(pose.position)) {
      throw InputError(
          "bodies", fmt::format("position of body {}", i), "finite numbers",
          fmt::format("({}, {}, {})", pose.position.x, pose.position.y, pose.position.z));
    }
    if (!is_unit(pose.orientation)) {
      throw InputError("bodies", fmt::format("orientation of body {}", i), "a unit quaternion",
                       fmt::format("one of length {}", norm(pose.orientation)));
    }
  }
}

void check(const ContactOptions& options) {
  if (!std::isfinite(options.cutoff)) {
    throw InputError("contact search", "cutoff", "a finite number, m",
                     fmt::format("{}", options.cutoff));
  }
  if (!(options.sweep >= 0 && std::isfinite(options.sweep))) {
    throw InputError("contact search", "sweep", "a number >= 0 s",
                     fmt::format("{}", options.sweep));
  }
  if (options.face_division != 1 && options.face_division != 2) {
    throw InputError("contact search", "face_division", "1 or 2",
                     fmt::format("{}", options.face_division));
  }
}

/// Velocity of a point of a body.
Vec3 velocity_at(const Twist& twist, const Vec3& arm) {
  return twist.velocity + cross(twist.angular, arm);
}

}  // namespace

struct ContactFinder::Work {
  PairIndex pairs;
  BroadPhase broad;
  std::vector<PlacedShape> placed;  ///< [m]
  std::vector<std::int32_t> kind;   ///< [m] numbers of shape_kinds()
  std::vector<Bound> bound;         ///< [m] with half the cutoff, and with the sweep
  std::vector<double> fastest;      ///< [m] m/s, of any point of the body
  std::vector<IndexPair> near;

  void place(const ShapedBodies& bodies, const ContactOptions& options);
  void add_contacts(const ShapedBodies& bodies, const ContactOptions& options,
                    const IndexPair& pair, std::vector<Contact>& contacts) const;
};

void ContactFinder::Work::place(const ShapedBodies& bodies, const ContactOptions& options) {
  const std::size_t m = bodies.shape.size();
  placed.resize(m), kind.resize(m), bound.resize(m), fastest.assign(m, 0);
  for (std::size_t i = 0; i < m; ++i) {
    const Pose& pose = bodies.pose[i];
    placed[i] = ccp::place(bodies.shape[i], {pose.position, normalized(pose.orientation)});
    kind[i] = i > 0 && bodies.shape[i].kind == bodies.shape[i - 1].kind
                  ? kind[i - 1]
                  : kind_number(bodies.shape[i].kind);
    const ShapeKind& row = shape_kinds()[static_cast<std::size_t>(kind[i])];
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Vec3 half =
        row.half_extent ? row.half_extent(placed[i]) : Vec3{infinity, infinity, infinity};
    if (!bodies.twist.empty() && row.half_extent) {
      fastest[i] = norm(bodies.twist[i].velocity) + norm(bodies.twist[i].angular) * norm(half);
    }
    // The last part is for roundings.
    const double margin =
        0.5 * options.cutoff + options.sweep * fastest[i] + 1e-12 * (norm(pose.position) + half.x);
    bound[i] = {pose.position, half + Vec3{margin, margin, margin}};
  }
}

void ContactFinder::Work::add_contacts(const ShapedBodies& bodies, const ContactOptions& options,
                                       const IndexPair& pair,
                                       std::vector<Contact>& contacts) const {
  const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
  if (!bodies.group.empty() && bodies.group[a] >= 0 && bodies.group[a] == bodies.group[b]) return;
  if (std::binary_search(bodies.apart.begin(), bodies.apart.end(), std::pair(pair.a, pair.b))) {
    return;
  }
  const PairIndex::Found& found = pairs(kind[a], kind[b]);
  if (!found.row) {
    proximity(placed[a], placed[b]);  // throws
  }
  const bool sweeps = options.sweep > 0 && !bodies.twist.empty();
  const double cutoff = options.cutoff + (sweeps ? options.sweep * (fastest[a] + fastest[b]) : 0);
  ContactPoints points;
  contact_points(*found.row, found.swapped, placed[a], placed[b], {cutoff, options.face_division},
                 points);
  for (const auto& [feature, where] : points) {
    Contact contact{
        pair.a, pair.b, feature, where.gap, where.normal, 0.5 * (where.point_a + where.point_b),
        {},     {}};
    contact.arm_a = contact.point - placed[a].position;
    contact.arm_b = contact.point - placed[b].position;
    if (sweeps) {
      const double closing = dot(contact.normal, velocity_at(bodies.twist[a], contact.arm_a) -
                                                     velocity_at(bodies.twist[b], contact.arm_b));
      if (!(contact.gap <= options.cutoff + options.sweep * std::max(0.0, closing))) continue;
    }
    contacts.push_back(contact);
  }
}

ContactFinder::ContactFinder() : work_(std::make_unique<Work>()) {}
ContactFinder::~ContactFinder() = default;
ContactFinder::ContactFinder(ContactFinder&&) noexcept = default;
ContactFinder& ContactFinder::operator=(ContactFinder&&) noexcept = default;

void ContactFinder::find(const ShapedBodies& bodies, const ContactOptions& options,
                         std::vector<Contact>& contacts) {
  contacts.clear();
  check(bodies);
  check(options);
  work_->place(bodies, options);
  const auto reaches = [&](std::int32_t unbounded, std::int32_t other) {
    const auto u = static_cast<std::size_t>(unbounded);
    const Bound& bound = work_->bound[static_cast<std::size_t>(other)];
    // Bounds have half the cutoff; here the other half is needed as well.
    const double rest = 0.5 * options.cutoff + options.sweep * work_->fastest[u];
    const ShapeKind& row = shape_kinds()[static_cast<std::size_t>(work_->kind[u])];
    return row.reaches(work_->placed[u], bound.centre, bound.half + Vec3{rest, rest, rest});
  };
  work_->broad.find(work_->bound, reaches, work_->near);
  for (const IndexPair& pair : work_->near) {
    work_->add_contacts(bodies, options, pair, contacts);
  }
}

std::vector<Contact> find_contacts(const ShapedBodies& bodies, const ContactOptions& options) {
  std::vector<Contact> contacts;
  ContactFinder().find(bodies, options, contacts);
  return contacts;
}

}  // namespace ccp
