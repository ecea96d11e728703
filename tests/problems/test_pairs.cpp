// Pairs of shapes, each against brute force on 10^4 random ones: apart, overlapping and touching;
// the other way round, moved as a whole, and in positions where normals or points are not unique.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/problems/geometry_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

constexpr int many = 10000;

struct Pair {
  PlacedShape a, b;
};

/// From concentric to a fair distance apart; overlapping and apart are about as frequent.
Pair random_pair(RandomShapes& random, const std::string& a, const std::string& b) {
  Pair pair;
  pair.a =
      place(random.shape(a), {random.uniform(-1, 1) * random.direction(), random.orientation()});
  pair.b = place(random.shape(b), {{}, random.orientation()});
  const Vec3 n = random.direction();
  const double touching = reach(pair.a, n) + reach(pair.b, n);
  pair.b.position = pair.a.position + random.uniform(0, 1.8) * touching * n;
  return pair;
}

PlacedShape moved(const PlacedShape& placed, const Quaternion& turn, const Vec3& shift) {
  PlacedShape there = placed;
  there.position = rotate(turn, placed.position) + shift;
  for (Vec3& axis : there.axes) axis = rotate(turn, axis);
  return there;
}

bool finite(const Vec3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

/// What holds for any Proximity; false at the first that does not, for loops over many.
bool consistent(const Proximity& p) {
  return std::isfinite(p.gap) && finite(p.normal) && finite(p.point_a) && finite(p.point_b) &&
         std::abs(norm(p.normal) - 1) < 1e-12 &&
         norm(p.point_b - p.point_a - p.gap * p.normal) < 1e-9;
}

struct Worst {
  double below = 0;  ///< how much larger than the gap a separation was found
  double above = 0;  ///< how much smaller, for smooth shapes
  double own = 0;    ///< of gap and the separation along the normal
  double exchange = 0, motion = 0, touching = 0;
  int apart = 0, overlapping = 0, inconsistent = 0, not_in = 0;
};

/// All checks of bounded convex shapes. That the gap is the separation along its own normal, and no
/// other direction has a larger one, says that it is the largest. Brute force itself comes near the
/// largest value where shapes are smooth; on the ridges of boxes it stops too early.
Worst try_pairs(const std::string& kind_a, const std::string& kind_b, int directions_tried,
                int starts, unsigned seed) {
  RandomShapes random(seed);
  const std::vector<Vec3> all = directions(directions_tried);
  Worst worst;
  for (int trial = 0; trial < many; ++trial) {
    const Pair pair = random_pair(random, kind_a, kind_b);
    const Proximity p = proximity(pair.a, pair.b);
    p.gap > 0 ? ++worst.apart : ++worst.overlapping;
    if (!consistent(p)) ++worst.inconsistent;
    const double brute = brute_force(pair.a, pair.b, all, starts);
    worst.below = std::max(worst.below, brute - p.gap);
    worst.above = std::max(worst.above, p.gap - brute);
    worst.own = std::max(worst.own, std::abs(separation(pair.a, pair.b, p.normal) - p.gap));
    if (!contains(pair.a, p.point_a, 1e-7) || !contains(pair.b, p.point_b, 1e-7)) ++worst.not_in;
    const Proximity back = proximity(pair.b, pair.a);
    worst.exchange = std::max(worst.exchange, std::abs(back.gap - p.gap));
    const Quaternion turn = random.orientation();
    const Vec3 shift = 3 * random.direction();
    const Proximity there = proximity(moved(pair.a, turn, shift), moved(pair.b, turn, shift));
    worst.motion = std::max(worst.motion, std::abs(there.gap - p.gap));
    // Brought to touch along the normal, they touch.
    PlacedShape b = pair.b;
    b.position = b.position - p.gap * p.normal;
    worst.touching = std::max(worst.touching, std::abs(proximity(pair.a, b).gap));
  }
  return worst;
}

void check_worst(const Worst& worst) {
  CHECK(worst.inconsistent == 0);
  CHECK(worst.not_in == 0);
  CHECK(worst.own < 1e-11);  // where the nearest points of boxes are 1e-5 m apart, so is the
                             // normal's error relative to 1e-16 / 1e-5
  CHECK(worst.below < 1e-13);
  CHECK(worst.exchange < 1e-13);
  CHECK(worst.motion < 1e-13);
  CHECK(worst.touching < 1e-13);
  CHECK(worst.apart > many / 5);
  CHECK(worst.overlapping > many / 5);
}

/// Normals, points and features when everything is moved, where the smallest overlap is unique.
void check_normals(const std::string& kind_a, const std::string& kind_b, unsigned seed) {
  RandomShapes random(seed);
  double exchange = 0, motion = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    Pair pair = random_pair(random, kind_a, kind_b);
    const Proximity first = proximity(pair.a, pair.b);
    if (first.gap < 0) pair.b.position = pair.b.position - 0.99 * first.gap * first.normal;
    const Proximity p = proximity(pair.a, pair.b), back = proximity(pair.b, pair.a);
    exchange = std::max(exchange, norm(back.normal + p.normal));
    const Quaternion turn = random.orientation();
    const Proximity there =
        proximity(moved(pair.a, turn, {1, 2, 3}), moved(pair.b, turn, {1, 2, 3}));
    motion = std::max(motion, norm(there.normal - rotate(turn, p.normal)));
  }
  CHECK(exchange < 1e-6);
  CHECK(motion < 1e-6);
}

}  // namespace

TEST_CASE("a sphere and a sphere, a box and a sphere: 10^4 each") {
  const Worst spheres = try_pairs("sphere", "sphere", 100, 1, 11);
  check_worst(spheres);
  const Worst boxes = try_pairs("box", "sphere", 300, 2, 12);
  check_worst(boxes);
  check_normals("box", "sphere", 13);
}

TEST_CASE("ellipsoids: 10^4 pairs against a brute-force minimiser") {
  const Worst worst = try_pairs("ellipsoid", "ellipsoid", 400, 3, 21);
  check_worst(worst);
  CHECK(worst.above < 1e-9);
  check_normals("ellipsoid", "ellipsoid", 22);
}

TEST_CASE("a sphere and an ellipsoid: 10^4 pairs") {
  const Worst worst = try_pairs("sphere", "ellipsoid", 400, 3, 23);
  check_worst(worst);
  CHECK(worst.above < 1e-9);
}

TEST_CASE("a box and an ellipsoid: 10^4 pairs") {
  check_worst(try_pairs("box", "ellipsoid", 400, 3, 31));
  check_normals("box", "ellipsoid", 32);
}

TEST_CASE("a box and a box: 10^4 pairs") {
  check_worst(try_pairs("box", "box", 400, 3, 41));
  check_normals("box", "box", 42);
}

TEST_CASE("a plane and what is above it, below, or in it: 10^4 each") {
  RandomShapes random(51);
  for (const std::string kind : {"sphere", "box", "ellipsoid", "rod"}) {
    INFO(kind);
    double gap = 0, point = 0;
    int inconsistent = 0;
    for (int trial = 0; trial < many; ++trial) {
      const PlacedShape plane =
          place(make_shape("plane", {}), {random.direction(), random.orientation()});
      const PlacedShape b =
          place(random.shape(kind), {2 * random.direction(), random.orientation()});
      const Proximity p = proximity(plane, b);
      if (!consistent(p)) ++inconsistent;
      const Vec3& n = plane.axes[2];
      const double lowest = dot(n, b.position - plane.position) - reach(b, n);
      gap = std::max(gap, std::abs(p.gap - lowest));
      point = std::max(point, std::abs(dot(n, p.point_b - plane.position) - lowest));
      if (kind != "rod" && !contains(b, p.point_b, 1e-9)) ++inconsistent;
      const Proximity back = proximity(b, plane);
      if (back.gap != p.gap || norm(back.normal + p.normal) != 0) ++inconsistent;
    }
    CHECK(inconsistent == 0);
    CHECK(gap < 1e-14);
    CHECK(point < 1e-14);
  }
}

TEST_CASE("the inside of a cylinder: 10^4 each against all directions across") {
  RandomShapes random(61);
  for (const std::string kind : {"sphere", "box", "ellipsoid"}) {
    INFO(kind);
    double above = 0, below = 0, own = 0;
    int inconsistent = 0;
    for (int trial = 0; trial < many; ++trial) {
      const PlacedShape cylinder =
          place(make_shape("cylinder_inside", {2}), {random.direction(), random.orientation()});
      const PlacedShape b = place(
          random.shape(kind),
          {cylinder.position + random.uniform(0, 3) * random.direction(), random.orientation()});
      const Proximity p = proximity(cylinder, b);
      if (!consistent(p) || !contains(b, p.point_b, 1e-9)) ++inconsistent;
      const auto out = [&](double angle) {
        const Vec3 n = std::cos(angle) * cylinder.axes[0] + std::sin(angle) * cylinder.axes[1];
        return dot(n, b.position - cylinder.position) + reach(b, n);
      };
      // Uphill from every maximum among 180 directions.
      double best = -1;
      std::array<double, 180> sampled;
      for (int k = 0; k < 180; ++k) sampled[k] = out(3.141592653589793 * k / 90);
      for (int k = 0; k < 180; ++k) {
        if (sampled[k] < sampled[(k + 1) % 180] || sampled[k] < sampled[(k + 179) % 180]) continue;
        double at = 3.141592653589793 * k / 90, here = sampled[k];
        for (double step = 0.02; step > 1e-9;) {
          const double side = out(at + step) > out(at - step) ? step : -step;
          if (out(at + side) > here) {
            at += side, here = out(at);
          } else {
            step *= 0.5;
          }
        }
        best = std::max(best, here);
      }
      below = std::max(below, p.gap - (2 - best));
      above = std::max(above, (2 - best) - p.gap);
      const Vec3 x = p.point_b - cylinder.position;
      const double distance = norm(x - dot(x, cylinder.axes[2]) * cylinder.axes[2]);
      own = std::max(own, std::abs(2 - distance - p.gap));
    }
    CHECK(inconsistent == 0);
    CHECK(below < 1e-13);
    CHECK(above < 1e-9);
    CHECK(own < 1e-12);
  }
}

TEST_CASE("ellipses in a plane: 10^4 pairs, and a line") {
  RandomShapes random(71);
  std::vector<Vec3> circle;
  for (int k = 0; k < 120; ++k) {
    circle.push_back(
        {std::cos(k * 3.141592653589793 / 60), 0, std::sin(k * 3.141592653589793 / 60)});
  }
  double above = 0, below = 0, line = 0;
  int inconsistent = 0;
  for (int trial = 0; trial < many; ++trial) {
    const auto ellipse = [&](const Vec3& position) {
      return place(random.shape("ellipse"), {position, rotation({0, random.uniform(-3, 3), 0})});
    };
    const PlacedShape a = ellipse({}),
                      b = ellipse({random.uniform(-1.5, 1.5), 0, random.uniform(-1.5, 1.5)});
    const Proximity p = proximity(a, b);
    if (!consistent(p) || p.normal.y != 0) ++inconsistent;
    const double brute = brute_force(a, b, circle, 3, {0, 1, 0});
    below = std::max(below, brute - p.gap);
    above = std::max(above, p.gap - brute);
    // Formula of the support point, against the support function.
    const double angle = random.uniform(-1, 1);
    const PlacedShape ground = place(make_shape("plane", {}), {{}, rotation({0, angle, 0})});
    const Proximity low = proximity(ground, b);
    line = std::max(
        line, std::abs(low.gap - (dot(ground.axes[2], b.position) - reach(b, ground.axes[2]))));
    if (!consistent(low)) ++inconsistent;
  }
  CHECK(inconsistent == 0);
  CHECK(below < 1e-13);
  CHECK(above < 1e-9);
  CHECK(line < 1e-14);
}

// ---- contact points ----------------------------------------------------------------------------

namespace {

ContactPoints points_of(const PlacedShape& a, const PlacedShape& b, double cutoff,
                        int division = 1) {
  ContactPoints points;
  contact_points(a, b, {cutoff, division}, points);
  return points;
}

PlacedShape box(const Vec3& half, const Vec3& position, const Vec3& turn = {}) {
  return place(make_shape("box", {half.x, half.y, half.z}), {position, rotation(turn)});
}

std::vector<int> features(const ContactPoints& points) {
  std::vector<int> numbers;
  for (const ContactPoint& point : points) numbers.push_back(point.feature);
  return numbers;
}

constexpr double quarter_turn = 1.5707963267948966;

}  // namespace

//   side view          +-----+ B        the upper box is shifted by (0.4, 0.2): they share
//              +-----+ |     |          1.6 x 1.8, 0.1 apart
//              | A   +-+-----+
TEST_CASE("a box above a box: the corners of what their faces share") {
  const PlacedShape a = box({1, 1, 1}, {}), b = box({1, 1, 0.5}, {0.4, 0.2, 1.6});
  const ContactPoints points = points_of(a, b, 0.2);
  REQUIRE(points.size() == 4);
  double x_low = 9, x_high = -9, y_low = 9, y_high = -9;
  for (const ContactPoint& point : points) {
    CHECK(consistent(point.where));
    CHECK(point.where.gap == Approx(0.1));
    CHECK(point.where.normal.z == Approx(1));
    CHECK(point.where.point_a.z == Approx(1));
    x_low = std::min(x_low, point.where.point_a.x),
    x_high = std::max(x_high, point.where.point_a.x);
    y_low = std::min(y_low, point.where.point_a.y),
    y_high = std::max(y_high, point.where.point_a.y);
  }
  CHECK(x_low == Approx(-0.6));
  CHECK(x_high == Approx(1));
  CHECK(y_low == Approx(-0.8));
  CHECK(y_high == Approx(1));
  CHECK(points_of(a, b, 0.05).size() == 0);
  // The same contacts, whichever is the reference face and whichever way round.
  PlacedShape tilted = b;
  for (const Vec3& turn : {Vec3{1e-4, 0, 0}, Vec3{0, -1e-4, 1e-5}, Vec3{1e-3, 2e-3, 1e-4}}) {
    tilted = box({1, 1, 0.5}, b.position, turn);
    CHECK(features(points_of(a, tilted, 0.2)) == features(points));
    const Vec3 back = -1 * turn;
    const PlacedShape below = box({1, 1, 1}, {}, back);
    CHECK(features(points_of(below, b, 0.2)) == features(points));
  }
  CHECK(points_of(b, a, 0.2).size() == 4);
}

TEST_CASE("a box turned by 45 degrees on a box: four of eight corners") {
  const ContactPoints points =
      points_of(box({1, 1, 1}, {}), box({1, 1, 1}, {0, 0, 1.99}, {0, 0, quarter_turn / 2}), 0);
  REQUIRE(points.size() == 4);
  Vec3 sum;
  for (const ContactPoint& point : points) {
    CHECK(point.where.gap == Approx(-0.01));
    CHECK(norm(point.where.point_a - Vec3{0, 0, 1}) ==
          Approx(std::sqrt(1 + 0.171573)).epsilon(1e-4));
    sum = sum + point.where.point_a;
  }
  CHECK(std::hypot(sum.x, sum.y) < 1.0);  // on all sides of the middle
}

TEST_CASE("faces that are divided: a point for each two quarters") {
  const PlacedShape a = box({1, 1, 1}, {});
  const ContactPoints aligned = points_of(a, box({1, 1, 1}, {0, 0, 2}), 0.01, 2);
  REQUIRE(aligned.size() == 4);
  for (const ContactPoint& point : aligned) {
    CHECK(std::abs(point.where.point_a.x) == Approx(0.5));
    CHECK(std::abs(point.where.point_a.y) == Approx(0.5));
    CHECK(point.where.gap == Approx(0).margin(1e-12));
  }
  // Shifted by half a quarter each way: 3 x 3 overlapping pairs.
  const ContactPoints shifted = points_of(a, box({1, 1, 1}, {0.5, 0.5, 2}), 0.01, 2);
  CHECK(shifted.size() == 9);
  const std::vector<int> numbers = features(shifted);
  CHECK(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end());
  CHECK(numbers.back() < feature_limit);
}

//  two boxes with an edge each, crossed at a right angle: A's along y, B's along x
TEST_CASE("edges that cross, and edges that are parallel") {
  const double edge = std::sqrt(2.0);  // height of an edge of a box that stands on its edge
  const PlacedShape a = box({1, 3, 1}, {}, {0, quarter_turn / 2, 0});
  const ContactPoints crossed =
      points_of(a, box({3, 1, 1}, {0, 0, 2 * edge + 0.25}, {quarter_turn / 2, 0, 0}), 1);
  REQUIRE(crossed.size() == 1);
  CHECK(crossed.begin()->where.gap == Approx(0.25));
  CHECK(crossed.begin()->where.normal.z == Approx(1));
  CHECK(norm(crossed.begin()->where.point_a - Vec3{0, 0, edge}) < 1e-12);
  // Two edges along y that face each other, shifted by 1 m: they share 5 m of 6.
  const ContactPoints parallel =
      points_of(a, box({1, 3, 1}, {0, 1, 2 * edge + 0.25}, {0, quarter_turn / 2, 0}), 1);
  REQUIRE(parallel.size() == 2);
  for (const ContactPoint& point : parallel) {
    CHECK(consistent(point.where));
    CHECK(point.where.gap == Approx(0.25));
    CHECK(point.where.normal.z == Approx(1));
  }
  CHECK(std::abs(parallel.begin()[0].where.point_a.y - parallel.begin()[1].where.point_a.y) ==
        Approx(5));
}

TEST_CASE("contact points of boxes agree with their signed distance: 10^4 pairs") {
  RandomShapes random(81);
  int missing = 0, extra = 0, inconsistent = 0, doubled = 0, beyond = 0, off_surface = 0,
      single = 0;
  double lowest = 0, highest = 0;
  for (int trial = 0; trial < many; ++trial) {
    Pair pair = random_pair(random, "box", "box");
    // Half of them with faces that are nearly parallel.
    if (trial % 2 == 1) {
      const Quaternion turn = rotation(std::pow(10, random.uniform(-9, 0)) * random.direction());
      for (int k = 0; k < 3; ++k) pair.b.axes[k] = rotate(turn, pair.a.axes[(k + trial) % 3]);
    }
    const double gap = proximity(pair.a, pair.b).gap;
    const double cutoff = gap + random.uniform(0.01, 0.1);
    const ContactPoints points = points_of(pair.a, pair.b, cutoff);
    if (points.size() == 0) ++missing;
    if (points.size() > 4) ++extra;
    if (points.size() == 1) ++single;
    double least = 1e9;
    for (const ContactPoint& point : points) {
      least = std::min(least, point.where.gap);
      if (!consistent(point.where)) ++inconsistent;
      if (point.feature < 0 || point.feature >= feature_limit) ++inconsistent;
      if (point.where.gap > cutoff) ++beyond;
      // Ends of edges that are parallel up to 2.5 degrees get the normal of the nearest points.
      const double off = 1e-8 + 0.05 * std::max(0.0, point.where.gap);
      if (!contains(pair.a, point.where.point_a, off) ||
          !contains(pair.b, point.where.point_b, off)) {
        ++off_surface;
      }
    }
    const std::vector<int> numbers = features(points);
    if (std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end()) ++doubled;
    if (points.size() == 0) continue;
    // 1e-3 of the gap where a face is preferred to an edge.
    lowest = std::max(lowest, (gap - least) / (1 + std::abs(gap)));
    highest = std::max(highest, (least - gap) / (1 + std::abs(gap)));
    // None where there is none.
    if (points_of(pair.a, pair.b, gap - 0.01 * (1 + std::abs(gap))).size() > 0) ++extra;
  }
  CHECK(missing == 0);
  CHECK(extra == 0);
  CHECK(inconsistent == 0);
  CHECK(doubled == 0);
  CHECK(beyond == 0);
  CHECK(off_surface == 0);
  CHECK(lowest < 2e-3);
  CHECK(highest < 2e-3);
  CHECK(single > many / 10);
}

TEST_CASE("a box on a plane and in a cylinder, a rod on a line: their corners and ends") {
  const PlacedShape ground = place(make_shape("plane", {}), {});
  const ContactPoints flat = points_of(ground, box({1, 2, 0.5}, {5, 0, 0.6}), 0.2);
  REQUIRE(flat.size() == 4);
  CHECK(features(flat) == std::vector<int>{0, 1, 2, 3});
  for (const ContactPoint& point : flat) CHECK(point.where.gap == Approx(0.1));
  // On its edge: two corners; the other way round, the normal points down.
  const ContactPoints edge =
      points_of(box({1, 2, 1}, {0, 0, std::sqrt(2.0)}, {0, quarter_turn / 2, 0}), ground, 0.2);
  REQUIRE(edge.size() == 2);
  CHECK(edge.begin()->where.normal.z == -1);
  CHECK(edge.begin()->where.gap == Approx(0).margin(1e-12));

  // A beam along the axis of a drum of 1 m, 0.8 wide and 0.6 high: its long edges touch.
  const PlacedShape drum = place(make_shape("cylinder_inside", {0.5}), {});
  const ContactPoints beam = points_of(drum, box({0.4, 0.3, 2}, {}), 1e-9);
  CHECK(beam.size() == 8);
  for (const ContactPoint& point : beam) CHECK(point.where.gap == Approx(0).margin(1e-12));

  // Painleve's rod: length 2, 72 degrees; the centre 0.951 + 0.1 above the line.
  const double angle = 72 * quarter_turn / 90;
  const PlacedShape rod =
      place(make_shape("rod", {1}), {{0, 0, std::sin(angle) + 0.1}, rotation({0, -angle, 0})});
  const ContactPoints ends = points_of(ground, rod, 10);
  REQUIRE(ends.size() == 2);
  CHECK(ends.begin()[0].where.gap == Approx(0.1));
  CHECK(ends.begin()[0].where.point_b.x == Approx(-std::cos(angle)));
  CHECK(ends.begin()[1].where.gap == Approx(2 * std::sin(angle) + 0.1));
  CHECK(points_of(ground, rod, 0.2).size() == 1);
}

TEST_CASE("an ellipsoid across a cylinder touches with both tips") {
  const PlacedShape drum = place(make_shape("cylinder_inside", {1}), {});
  const PlacedShape egg = place(make_shape("ellipsoid", {0.95, 0.2, 0.2}), {{0.02, 0, 0}, {}});
  const ContactPoints points = points_of(drum, egg, 0.1);
  REQUIRE(points.size() == 2);
  CHECK(points.begin()[0].where.gap == Approx(0.07));  // at x = -0.93
  CHECK(points.begin()[0].where.normal.x == Approx(1));
  CHECK(points.begin()[1].where.gap == Approx(0.03));
  CHECK(points_of(drum, egg, 0.05).size() == 1);
  CHECK(features(points_of(drum, egg, 0.05)) == std::vector<int>{1});
}

TEST_CASE(
    "positions without a unique normal or point give finite numbers, and the same ones again") {
  const auto at = [](std::string_view kind, const std::vector<double>& sizes,
                     const Vec3& position) {
    return place(make_shape(kind, sizes), {position, {}});
  };
  const std::vector<std::pair<PlacedShape, PlacedShape>> pairs = {
      // concentric
      {at("sphere", {1}, {1, 2, 3}), at("sphere", {2}, {1, 2, 3})},
      {at("ellipsoid", {1, 2, 3}, {}), at("ellipsoid", {1, 2, 3}, {})},
      {at("ellipsoid", {1, 1, 1}, {}), at("ellipsoid", {2, 2, 2}, {})},
      {at("sphere", {1}, {}), at("ellipsoid", {1, 1, 1}, {})},
      {at("box", {1, 1, 1}, {}), at("box", {1, 1, 1}, {})},
      {at("box", {1, 1, 1}, {}), at("sphere", {1}, {})},
      {at("box", {1, 1, 1}, {}), at("ellipsoid", {1, 1, 1}, {})},
      {at("box", {1, 2, 3}, {}), at("ellipsoid", {3, 2, 1}, {})},
      {at("ellipse", {1, 2}, {}), at("ellipse", {1, 2}, {})},
      {at("ellipse", {1, 1}, {}), at("ellipse", {1, 1}, {})},
      {at("cylinder_inside", {1}, {}), at("sphere", {0.5}, {})},
      {at("cylinder_inside", {1}, {}), at("ellipsoid", {0.5, 0.5, 2}, {})},
      {at("cylinder_inside", {1}, {}), at("box", {0.5, 0.5, 2}, {})},
      // faces, edges and corners that agree
      {at("box", {1, 1, 1}, {}), at("box", {1, 1, 1}, {0, 0, 2})},
      {at("box", {1, 1, 1}, {}), at("box", {1, 1, 1}, {0, 2, 2})},
      {at("box", {1, 1, 1}, {}), at("box", {1, 1, 1}, {2, 2, 2})},
      {at("box", {1, 1, 1}, {}), at("box", {1, 1, 1}, {2 + 1e-15, 2, 2})},
      {at("box", {1, 1, 1}, {}), at("box", {1, 1, 1}, {2.1, 2.1, 2.1})},
      {at("box", {1, 1, 1}, {}), at("sphere", {1}, {1, 1, 1})},
      {at("box", {1, 1, 1}, {}), at("sphere", {1}, {1, 0, 0})},
      {at("box", {1, 1, 1}, {}), at("ellipsoid", {1, 1, 1}, {1, 1, 1})},
      {at("box", {1, 1, 1}, {}), at("ellipsoid", {0.1, 0.2, 0.3}, {1, 1, 0})},
      {at("plane", {}, {}), at("box", {1, 1, 1}, {})},
      {at("plane", {}, {}), at("rod", {1}, {})},
      {at("plane", {}, {}), at("ellipsoid", {1, 2, 3}, {})},
  };
  for (const auto& [a, b] : pairs) {
    INFO(a.shape.kind << " and " << b.shape.kind << " at " << b.position.x << ", " << b.position.y);
    for (const int division : {1, 2}) {
      const ContactPoints points = points_of(a, b, 0.5, division),
                          again = points_of(a, b, 0.5, division);
      const ContactPoints back = points_of(b, a, 0.5, division);
      CHECK(points.size() > 0);
      CHECK(features(points) == features(again));
      CHECK(back.size() == points.size());
      for (int k = 0; k < points.size(); ++k) {
        const Proximity &p = points.begin()[k].where, &q = again.begin()[k].where;
        CHECK(consistent(p));
        CHECK(p.gap == q.gap);
        CHECK(norm(p.normal - q.normal) == 0);
        CHECK(norm(p.point_a - q.point_a) == 0);
      }
    }
  }
  // The overlap of concentric ones is along the thinnest direction.
  CHECK(proximity(at("ellipsoid", {3, 1, 2}, {}), at("ellipsoid", {3, 1, 2}, {})).gap ==
        Approx(-2));
  CHECK(proximity(at("box", {3, 1, 2}, {}), at("ellipsoid", {3, 1, 2}, {})).gap == Approx(-2));
  CHECK(proximity(at("box", {3, 1, 2}, {}), at("box", {3, 1, 2}, {})).gap == Approx(-2));
}
