// Contacts of many bodies against trying all pairs, and what a search costs.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <tuple>

#include "problems/geometry/broad_phase.hpp"
#include "problems/geometry/contact_detection.hpp"
#include "problems/geometry/find_contacts.hpp"
#include "tests/problems/geometry_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {
std::size_t allocation_count = 0;
}
void* operator new(std::size_t size) {
  ++allocation_count;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

void add(ShapedBodies& bodies, const Shape& shape, const Pose& pose, std::int32_t group = -1) {
  bodies.shape.push_back(shape);
  bodies.pose.push_back(pose);
  bodies.group.push_back(group);
}

/// A heap of spheres, ellipsoids and boxes from 1 cm to 30 cm, in a drum with a floor and a lifter.
ShapedBodies mixed_heap(int count, unsigned seed) {
  RandomShapes random(seed);
  ShapedBodies bodies;
  for (int i = 0; i < count; ++i) {
    const char* const kinds[] = {"sphere", "ellipsoid", "box"};
    Shape shape = random.shape(kinds[i % 3]);
    const double scale = std::pow(10, random.uniform(-1, -0.5));
    for (double& size : shape.size) size *= scale;
    add(bodies, shape,
        {{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0, 2)},
         random.orientation()});
  }
  add(bodies, make_shape("plane", {}), {}, 0);
  add(bodies, make_shape("cylinder_inside", {1}), {}, 0);
  add(bodies, make_shape("box", {0.1, 2, 0.1}), {{0.9, 0, 0}, rotation({0.1, 0.2, 0.3})}, 0);
  return bodies;
}

/// The same by trying all pairs of bodies.
std::vector<Contact> by_all_pairs(const ShapedBodies& bodies, double cutoff) {
  std::vector<Contact> found;
  const auto m = static_cast<std::int32_t>(bodies.shape.size());
  for (std::int32_t a = 0; a < m; ++a) {
    for (std::int32_t b = a + 1; b < m; ++b) {
      if (bodies.group[a] >= 0 && bodies.group[a] == bodies.group[b]) continue;
      ContactPoints points;
      contact_points(place(bodies.shape[a], bodies.pose[a]), place(bodies.shape[b], bodies.pose[b]),
                     {cutoff, 1}, points);
      for (const ContactPoint& point : points) {
        Contact contact{};
        contact.a = a, contact.b = b;
        contact.feature = point.feature;
        contact.gap = point.where.gap;
        contact.normal = point.where.normal;
        contact.point = 0.5 * (point.where.point_a + point.where.point_b);
        found.push_back(contact);
      }
    }
  }
  return found;
}

void check_same(const std::vector<Contact>& found, const std::vector<Contact>& expected) {
  REQUIRE(found.size() == expected.size());
  std::size_t different = 0;
  double gap = 0, point = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Contact &x = found[k], &y = expected[k];
    if (std::tie(x.a, x.b, x.feature) != std::tie(y.a, y.b, y.feature)) ++different;
    gap = std::max(gap, std::abs(x.gap - y.gap));
    point = std::max(point, norm(x.point - y.point));
  }
  CHECK(different == 0);
  CHECK(gap < 1e-12);
  CHECK(point < 1e-9);
}

}  // namespace

TEST_CASE("contacts of a mixed heap are those of all pairs") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const ShapedBodies bodies = mixed_heap(600, seed);
    for (const double cutoff : {0.0, 0.03, -0.01}) {
      const std::vector<Contact> expected = by_all_pairs(bodies, cutoff);
      CHECK(expected.size() > 100);
      check_same(find_contacts(bodies, cutoff), expected);
    }
  }
}

TEST_CASE("pairs of boxes of all sizes are those that overlap") {
  RandomShapes random(7);
  std::vector<Bound> bounds;
  for (int i = 0; i < 1500; ++i) {
    const double half = std::pow(10, random.uniform(-3, 0));
    bounds.push_back({2 * random.direction(), {half, half * random.uniform(0, 1), half}});
  }
  for (int i = 0; i < 40; ++i) bounds.push_back({bounds[i].centre, {0, 0, 0}});  // points
  bounds.push_back({{1e30, -1e300, 0}, {1, 1, 1}});                              // far away
  std::vector<IndexPair> pairs, expected;
  BroadPhase broad;
  for (int repeat = 0; repeat < 2; ++repeat) {
    broad.find(
        bounds, [](std::int32_t, std::int32_t) { return true; }, pairs);
    expected.clear();
    for (std::int32_t a = 0; a < static_cast<std::int32_t>(bounds.size()); ++a) {
      for (std::int32_t b = a + 1; b < static_cast<std::int32_t>(bounds.size()); ++b) {
        if (overlap(bounds[a], bounds[b])) expected.push_back({a, b});
      }
    }
    REQUIRE(pairs.size() == expected.size());
    bool same = true;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      same = same && pairs[k].a == expected[k].a && pairs[k].b == expected[k].b;
    }
    CHECK(same);
    bounds.resize(500);  // and less with the same object
  }
}

TEST_CASE("spheres on the ground: the candidates of the search for spheres") {
  RandomShapes random(9);
  Spheres spheres;
  ShapedBodies bodies;
  for (int i = 0; i < 500; ++i) {
    const Vec3 x{random.uniform(0, 1), random.uniform(0, 1), random.uniform(0, 0.5)};
    const Vec3 v = random.direction();
    spheres.position.insert(spheres.position.end(), {x.x, x.y, x.z});
    spheres.velocity.insert(spheres.velocity.end(), {v.x, v.y, v.z});
    spheres.radius.push_back(random.uniform(0.02, 0.05));
    spheres.mass.push_back(1);
    add(bodies, make_shape("sphere", {spheres.radius.back()}), {x, {}});
    bodies.twist.push_back({v, random.direction()});
  }
  add(bodies, make_shape("plane", {}), {});
  bodies.twist.push_back({});
  for (const double sweep : {0.0, 0.02}) {
    std::vector<Candidate> expected = find_candidates(spheres, 0.01, sweep);
    ContactOptions options;
    options.cutoff = 0.01;
    options.sweep = sweep;
    const std::vector<Contact> found = find_contacts(bodies, options);
    // Spin does not bring the surfaces of spheres nearer; here the ground is the last body.
    for (Candidate& candidate : expected) {
      if (candidate.a < 0) candidate.a = candidate.b, candidate.b = 500;
    }
    std::sort(expected.begin(), expected.end(), by_bodies);
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      CHECK(found[k].a == expected[k].a);
      CHECK(found[k].b == expected[k].b);
      CHECK(found[k].gap == Approx(expected[k].gap).margin(1e-15));
    }
  }
}

//   ( 0 )  0.2  ( 1 )      radius 1, centres 2.2 apart along x
TEST_CASE("what a contact says: points, arms, groups") {
  ShapedBodies bodies;
  add(bodies, make_shape("sphere", {1}), {{1, 0, 5}, {}}, 4);
  add(bodies, make_shape("sphere", {1}), {{3.2, 0, 5}, {}}, -1);
  const std::vector<Contact> found = find_contacts(bodies, 0.5);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gap == Approx(0.2));
  CHECK(found[0].point.x == Approx(2.1));
  CHECK(found[0].arm_a.x == Approx(1.1));
  CHECK(found[0].arm_b.x == Approx(-1.1));
  CHECK(found[0].normal.x == Approx(1));
  CHECK(find_contacts(bodies, 0.1).empty());
  bodies.group[1] = 4;
  CHECK(find_contacts(bodies, 0.5).empty());
  bodies.group = {-1, -1};
  CHECK(find_contacts(bodies, 0.5).size() == 1);
  bodies.group.clear();
  CHECK(find_contacts(bodies, 0.5).size() == 1);
  CHECK(find_contacts({}, 0.5).empty());
}

TEST_CASE("a contact search that cannot be") {
  ShapedBodies bodies = mixed_heap(10, 1);
  bodies.pose[3].orientation = {1, 1, 0, 0};
  check_parts(error_of([&] { find_contacts(bodies, 0); }), {"orientation of body 3", "unit"});
  bodies.pose[3] = {{0, std::nan(""), 0}, {}};
  check_parts(error_of([&] { find_contacts(bodies, 0); }), {"position of body 3", "finite"});
  bodies.pose.pop_back();
  check_parts(error_of([&] { find_contacts(bodies, 0); }), {"pose", "13 entries", "12"});
  bodies = mixed_heap(10, 1);
  bodies.twist.resize(2);
  check_parts(error_of([&] { find_contacts(bodies, 0); }), {"twist", "13 entries", "2"});
  bodies = mixed_heap(10, 1);
  ContactOptions options;
  options.face_division = 3;
  check_parts(error_of([&] { find_contacts(bodies, options); }), {"face_division", "1 or 2"});
  options.face_division = 1, options.sweep = -1;
  check_parts(error_of([&] { find_contacts(bodies, options); }), {"sweep", ">= 0"});
  check_parts(error_of([&] { find_contacts(bodies, HUGE_VAL); }), {"cutoff"});
  ShapedBodies rods;
  for (int i = 0; i < 2; ++i) add(rods, make_shape("rod", {1}), {});
  check_parts(error_of([&] { find_contacts(rods, 1); }), {"no contact between rod and rod"});
}

TEST_CASE("a search repeated gives the same bits and asks for no memory") {
  const ShapedBodies bodies = mixed_heap(600, 5);
  ContactFinder finder;
  std::vector<Contact> first, second;
  finder.find(bodies, {}, first);
  finder.find(bodies, {}, second);
  const std::size_t before = allocation_count;
  finder.find(bodies, {}, second);
  CHECK(allocation_count == before);
  REQUIRE(first.size() == second.size());
  for (std::size_t k = 0; k < first.size(); ++k) {
    CHECK(first[k].gap == second[k].gap);
    CHECK(norm(first[k].normal - second[k].normal) == 0);
    CHECK(norm(first[k].point - second[k].point) == 0);
  }
}

// Not a test: test_geometry "[timing]" prints what the README says.
TEST_CASE("processor seconds of a search among 10^5 bodies", "[.timing]") {
  for (const char* kind : {"sphere", "ellipsoid", "box"}) {
    RandomShapes random(1);
    ShapedBodies bodies;
    // A cube at packing of about 0.6, radii 8 to 16 mm, as a pile has.
    const int side = 46;
    for (int i = 0; i < 100000; ++i) {
      const double r = random.uniform(0.008, 0.016);
      std::vector<double> sizes(shape_kind(kind).sizes.size(), r);
      if (sizes.size() == 3) sizes[1] *= 0.7, sizes[2] *= 0.5;
      const double pitch = sizes.size() == 3 ? 0.019 : 0.0235;
      const Vec3 jitter = 0.3 * pitch * random.direction();
      const int row = i / side, layer = row / side;
      const Vec3 cell{double(i % side), double(row % side), double(layer)};
      add(bodies, make_shape(kind, sizes), {pitch * cell + jitter, random.orientation()});
    }
    // A floor, four walls and a blade.
    for (const Vec3& turn : {Vec3{0, 0, 0}, Vec3{0, 1.57, 0}, Vec3{0, -1.57, 0}, Vec3{1.57, 0, 0},
                             Vec3{-1.57, 0, 0}}) {
      add(bodies, make_shape("plane", {}), {{0.5, 0.5, 0}, rotation(turn)}, 0);
      if (norm(turn) > 0) {
        const Vec3 n = axes_of(bodies.pose.back().orientation)[2];
        bodies.pose.back().position = Vec3{0.5, 0.5, 0} - 0.5 * n;
      }
    }
    add(bodies, make_shape("box", {0.01, 0.2, 0.3}), {{0.5, 0.5, 0.7}, {}}, 0);
    ContactFinder finder;
    std::vector<Contact> contacts;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const std::clock_t start = std::clock();  // processor time: others may use the machine
      finder.find(bodies, ContactOptions{0.002}, contacts);
      std::printf("%s: %zu contacts, %.3f s\n", kind, contacts.size(),
                  static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
  }
}
