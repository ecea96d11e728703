#include "problems/geometry/ellipsoid_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "problems/geometry/support_ascent.hpp"

namespace ccp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Normal and gap as they are, and surface points that agree with them: those of B's support, and
/// gap away from there. Of two supports that are computed each for itself, only the parts along the
/// normal are exact to rounding.
Proximity from_b(const Vec3& normal, double gap, const Vec3& point_b) {
  return {gap, normal, point_b - gap * normal, point_b};
}

SupportProblem problem_of(const PlacedShape& a, const PlacedShape& b) {
  SupportProblem problem;
  problem.d = b.position - a.position;
  problem.first = round_solid(a), problem.second = round_solid(b);
  return problem;
}

Proximity round_round(const SupportProblem& problem, const SupportMaximum& found,
                      const PlacedShape& b) {
  return from_b(found.normal, found.value,
                b.position - support(problem.second, found.normal).point);
}

/// The round solid seen along the cylinder's axis, from the axis.
SupportProblem across(const PlacedShape& cylinder, const PlacedShape& round) {
  SupportProblem problem;
  problem.outer = problem.planar = true;
  problem.axis = cylinder.axes[2];
  const auto flat = [&](const Vec3& v) { return v - dot(v, problem.axis) * problem.axis; };
  problem.d = flat(round.position - cylinder.position);
  problem.first = round_solid(round);
  for (Vec3& axis : problem.first.semi_axis) axis = flat(axis);
  return problem;
}

/// The semi-axis that reaches farthest across.
Vec3 longest(const RoundSolid& solid) {
  Vec3 best = solid.semi_axis[0];
  for (const Vec3& axis : solid.semi_axis) {
    if (dot(axis, axis) > dot(best, best)) best = axis;
  }
  return best;
}

struct Tips {
  int count = 0;
  std::array<SupportMaximum, 2> tip;
};

/// The maxima of the reach: one, or one at either tip.
Tips find_tips(const PlacedShape& cylinder, const SupportProblem& problem) {
  Vec3 along = longest(problem.first);
  along = norm(along) > 0 ? 1 / norm(along) * along : cylinder.axes[0];
  Tips tips;
  for (const double side : {-1.0, 1.0}) {
    const SupportMaximum found = climb(problem, side * along);
    const bool same = tips.count > 0 && dot(found.normal, tips.tip[0].normal) > 1 - 1e-6;
    if (!same) tips.tip[static_cast<std::size_t>(tips.count++)] = found;
  }
  return tips;
}

Proximity at_tip(const PlacedShape& cylinder, const PlacedShape& round, const SupportMaximum& tip) {
  const Vec3 point = round.position + support(round_solid(round), tip.normal).point;
  return from_b(-1 * tip.normal, cylinder.shape.size[0] - tip.value, point);
}

}  // namespace

Proximity plane_round(const PlacedShape& plane, const PlacedShape& round) {
  const Vec3& normal = plane.axes[2];
  const Support lowest = support(round_solid(round), normal);
  const double gap = dot(normal, round.position - plane.position) - lowest.height;
  return from_b(normal, gap, round.position - lowest.point);
}

Proximity ellipsoid_ellipsoid(const PlacedShape& a, const PlacedShape& b) {
  const SupportProblem problem = problem_of(a, b);
  return round_round(problem, maximize(problem, infinity), b);
}

void ellipsoid_ellipsoid_points(const PlacedShape& a, const PlacedShape& b,
                                const PointOptions& options, ContactPoints& points) {
  const SupportProblem problem = problem_of(a, b);
  const SupportMaximum found = maximize(problem, options.cutoff);
  if (found.value <= options.cutoff) points.add(0, round_round(problem, found, b));
}

Proximity ellipse_ellipse(const PlacedShape& a, const PlacedShape& b) {
  SupportProblem problem = problem_of(a, b);
  problem.planar = true;
  problem.axis = a.axes[1];
  problem.d = problem.d - dot(problem.d, problem.axis) * problem.axis;
  return round_round(problem, maximize(problem, infinity), b);
}

Proximity cylinder_round(const PlacedShape& cylinder, const PlacedShape& round) {
  const Tips tips = find_tips(cylinder, across(cylinder, round));
  const bool second = tips.count == 2 && tips.tip[1].value > tips.tip[0].value;
  return at_tip(cylinder, round, tips.tip[second ? 1 : 0]);
}

void cylinder_round_points(const PlacedShape& cylinder, const PlacedShape& round,
                           const PointOptions&, ContactPoints& points) {
  const SupportProblem problem = across(cylinder, round);
  const Tips tips = find_tips(cylinder, problem);
  const Vec3 along = longest(problem.first);
  for (int k = 0; k < tips.count; ++k) {
    const SupportMaximum& tip = tips.tip[static_cast<std::size_t>(k)];
    const int side = dot(tip.normal, along) < 0 ? 0 : 1;
    // Two tips differ in the side, and are listed with the negative one first.
    points.add(tips.count == 2 ? k : side, at_tip(cylinder, round, tip));
  }
}

// ---- a box and an ellipsoid --------------------------------------------------------------------

namespace {

using Sides = std::array<int, 3>;  ///< of a feature of a box: -1, 0 (all along that axis), 1

/// A box about the origin along the world's axes, and an ellipsoid.
struct BoxAndEllipsoid {
  std::array<double, 3> half;
  Vec3 centre;
  RoundSolid solid;

  double separation(const Vec3& n) const {
    return dot(n, centre) - support(solid, n).height -
           (half[0] * std::abs(n.x) + half[1] * std::abs(n.y) + half[2] * std::abs(n.z));
  }
};

/// f for the plane, line or point that carries a feature: normals of it have no part along it.
SupportProblem feature_problem(const BoxAndEllipsoid& pair, const Sides& sides) {
  SupportProblem problem;
  problem.d = pair.centre;
  problem.first = pair.solid;
  double* const d[3] = {&problem.d.x, &problem.d.y, &problem.d.z};
  int along = 0;
  for (int k = 0; k < 3; ++k) {
    *d[k] -= sides[k] * pair.half[k];
    if (sides[k] != 0) continue;
    ++along;
    *d[k] = 0;
    problem.axis = k == 0 ? Vec3{1, 0, 0} : k == 1 ? Vec3{0, 1, 0} : Vec3{0, 0, 1};
  }
  problem.planar = along == 1;
  return problem;
}

bool is_face(const Sides& sides) {
  return std::abs(sides[0]) + std::abs(sides[1]) + std::abs(sides[2]) == 1;
}

Vec3 middle(const Sides& sides) {
  const Vec3 n{double(sides[0]), double(sides[1]), double(sides[2])};
  return 1 / norm(n) * n;
}

/// The feature that is nearest to the ellipsoid, found from a first guess by going over to the one
/// that the nearest point says, like an active set. @return whether that ended at one that holds:
/// at a local maximum of the separation
bool nearest_feature(const BoxAndEllipsoid& pair, Vec3& normal) {
  const double centre[3] = {pair.centre.x, pair.centre.y, pair.centre.z};
  Sides sides{};
  int most = 0;  // the side on which the centre is farthest out, should it be inside
  for (int k = 0; k < 3; ++k) {
    if (std::abs(centre[k]) > pair.half[k]) sides[k] = centre[k] < 0 ? -1 : 1;
    if (std::abs(centre[k]) - pair.half[k] > std::abs(centre[most]) - pair.half[most]) most = k;
  }
  if (sides == Sides{}) sides[most] = centre[most] < 0 ? -1 : 1;
  for (int change = 0; change < 12; ++change) {
    const Vec3 start = middle(sides);
    const SupportProblem problem = feature_problem(pair, sides);
    normal = is_face(sides) ? start : climb(problem, start).normal;
    const Vec3 nearest = pair.centre - support(pair.solid, normal).point;
    const double p[3] = {nearest.x, nearest.y, nearest.z};
    const double n[3] = {normal.x, normal.y, normal.z};
    Sides next = sides;
    for (int k = 0; k < 3; ++k) {
      if (sides[k] == 0 && std::abs(p[k]) > pair.half[k] * (1 + 1e-12)) next[k] = p[k] < 0 ? -1 : 1;
      if (sides[k] != 0 && sides[k] * n[k] < 0) next[k] = 0;
    }
    if (next == sides) return true;
    if (next == Sides{}) return false;
    sides = next;
  }
  return false;
}

/// Over all features, from their own middles and from the ellipsoid's axes.
SupportMaximum best_of_all(const BoxAndEllipsoid& pair, SupportMaximum best) {
  const auto take = [&](const Vec3& n) {
    const double value = pair.separation(n);
    // Better by more than rounding, so that the choice between equals does not hang on it.
    if (value > best.value + 1e-13 * std::abs(best.value)) best = {n, value};
  };
  for (int code = 0; code < 27; ++code) {
    const Sides sides{code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
    if (sides == Sides{}) continue;
    take(middle(sides));
    if (is_face(sides)) continue;
    const SupportProblem problem = feature_problem(pair, sides);
    take(climb(problem, middle(sides)).normal);
    for (const Vec3& axis : pair.solid.semi_axis) {
      Vec3 along = axis;
      if (problem.planar) along = along - dot(along, problem.axis) * problem.axis;
      if (!(norm(along) > 0)) continue;
      for (const double side : {1.0, -1.0}) take(climb(problem, side / norm(along) * along).normal);
    }
  }
  return best;
}

Vec3 own(const PlacedShape& placed, const Vec3& v) {
  return {dot(placed.axes[0], v), dot(placed.axes[1], v), dot(placed.axes[2], v)};
}

BoxAndEllipsoid in_box_axes(const PlacedShape& box, const PlacedShape& ellipsoid) {
  BoxAndEllipsoid pair{box.shape.size, own(box, ellipsoid.position - box.position),
                       round_solid(ellipsoid)};
  for (Vec3& axis : pair.solid.semi_axis) axis = own(box, axis);
  return pair;
}

SupportMaximum farthest_apart(const BoxAndEllipsoid& pair) {
  Vec3 normal{0, 0, 1};
  const bool holds = nearest_feature(pair, normal);
  const SupportMaximum best{normal, pair.separation(normal)};
  // See maximize(): a maximum as shallow as that is the only one.
  if (holds && -best.value <= smallest_curvature_radius(pair.solid)) return best;
  return best_of_all(pair, best);
}

Proximity in_world(const PlacedShape& box, const PlacedShape& ellipsoid,
                   const SupportMaximum& best) {
  const Vec3 n =
      best.normal.x * box.axes[0] + best.normal.y * box.axes[1] + best.normal.z * box.axes[2];
  return from_b(n, best.value, ellipsoid.position - support(round_solid(ellipsoid), n).point);
}

}  // namespace

Proximity box_ellipsoid(const PlacedShape& box, const PlacedShape& ellipsoid) {
  return in_world(box, ellipsoid, farthest_apart(in_box_axes(box, ellipsoid)));
}

void box_ellipsoid_points(const PlacedShape& box, const PlacedShape& ellipsoid,
                          const PointOptions& options, ContactPoints& points) {
  const BoxAndEllipsoid pair = in_box_axes(box, ellipsoid);
  for (const Vec3& n : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}) {
    const double side = dot(n, pair.centre) < 0 ? -1 : 1;
    if (pair.separation(side * n) > options.cutoff) return;
  }
  const SupportMaximum best = farthest_apart(pair);
  if (best.value <= options.cutoff) points.add(0, in_world(box, ellipsoid, best));
}

}  // namespace ccp
