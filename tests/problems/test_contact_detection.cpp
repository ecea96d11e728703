// Contact detection and the problem made of spheres, by hand.
#include "problems/geometry/sphere_contacts.hpp"
#include "problems/model/frame.hpp"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>

#include "problems/base/pi.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

//   z
//   |      (c)            a: radius 1 at (0, 0, 1.1), 0.1 above the ground
//   |  (a)     (b)        b: radius 2 at (4, 0, 1.5), 0.5 inside the ground
//   +--------------- x    c: radius 1 at (0, 3.6, 5), alone: 4 above the ground
Spheres three() {
  return {{0, 0, 1.1, 4, 0, 1.5, 0, 3.6, 5}, {1, 0, 0, 0, 0.5, 0, 0, 0, -2}, {1, 2, 1}, {2, 16, 4}};
}
const double gap_ab = std::sqrt(16 + 0.16) - 3;

Spheres grid(std::size_t count, double spacing, double radius) {
  Spheres s;
  for (std::size_t i = 0; i < count; ++i) {
    s.position.insert(s.position.end(), {spacing * static_cast<double>(i), 0, 1e3});
    s.radius.push_back(radius);
    s.mass.push_back(1);
  }
  s.velocity.assign(3 * count, 0.0);
  return s;
}

}  // namespace

TEST_CASE("candidates are found with their gaps, in order") {
  const auto found = find_candidates(three(), 1.05);
  REQUIRE(found.size() == 3);
  CHECK((found[0].a == -1 && found[0].b == 0));
  CHECK(found[0].gap == Approx(0.1));
  CHECK((found[1].a == -1 && found[1].b == 1));
  CHECK(found[1].gap == Approx(-0.5));
  CHECK((found[2].a == 0 && found[2].b == 1));
  CHECK(found[2].gap == Approx(gap_ab));

  CHECK(find_candidates(three(), 0.2).size() == 2);  // without a-b
  CHECK(find_candidates(three(), 0.0).size() == 1);  // only what overlaps
  CHECK(find_candidates(three(), -0.6).empty());
  CHECK(find_candidates(three(), 4.5).size() == 6);  // all there are
  CHECK(find_candidates(Spheres{}, 1).empty());
}

TEST_CASE("candidates agree with all pairs tried one by one") {
  Spheres s;
  s.position = random_vector(3 * 300, 1);
  for (std::size_t i = 0; i < 300; ++i)
    s.radius.push_back(0.02 + 0.0005 * static_cast<double>(i % 100));
  s.mass.assign(300, 1);
  s.velocity.assign(900, 0);
  for (const double cutoff : {-0.02, 0.0, 0.05, 0.3}) {
    std::vector<std::pair<int, int>> expected, found;
    for (int i = 0; i < 300; ++i) {
      if (s.position[3 * i + 2] - s.radius[i] < cutoff) expected.emplace_back(-1, i);
      for (int j = i + 1; j < 300; ++j) {
        double squared = 0;
        for (int k = 0; k < 3; ++k) {
          squared += std::pow(s.position[3 * i + k] - s.position[3 * j + k], 2);
        }
        if (std::sqrt(squared) - s.radius[i] - s.radius[j] < cutoff) expected.emplace_back(i, j);
      }
    }
    for (const Candidate& candidate : find_candidates(s, cutoff)) {
      found.emplace_back(candidate.a, candidate.b);
    }
    std::sort(expected.begin(), expected.end());
    CHECK(found == expected);
  }
}

TEST_CASE("the nearest candidates are exactly as many as asked for, ties by body numbers") {
  // Fifty spheres in a row: 49 equal gaps and nothing else in reach.
  const Spheres row = grid(50, 2.5, 1);
  for (const std::size_t count : {1, 7, 49}) {
    const auto found = nearest_candidates(row, count);
    REQUIRE(found.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(found[i].a == static_cast<int>(i));
      CHECK(found[i].b == static_cast<int>(i) + 1);
    }
  }
  CHECK(nearest_candidates(row, 0).empty());
  const auto two = nearest_candidates(three(), 2);
  REQUIRE(two.size() == 2);
  CHECK((two[0].b == 0 && two[1].b == 1));  // both with the ground
}

TEST_CASE("more contacts than there are pairs within reach") {
  check_parts(error_of([] { nearest_candidates(grid(50, 2.5, 1), 50); }),
              {"50 contacts asked for, but only 49 pairs are within reach"});
  check_parts(error_of([] { nearest_candidates(Spheres{}, 3); }), {"3 contacts", "no spheres"});
}

TEST_CASE("pairs are in reach up to a gap of twice the largest radius") {
  CHECK(nearest_candidates(grid(2, 3.9, 1), 1).size() == 1);  // gap 1.9
  CHECK_THROWS_AS(nearest_candidates(grid(2, 4.1, 1), 1), InputError);
}

TEST_CASE("a completed frame is orthonormal and right-handed for any normal") {
  std::vector<std::array<double, 3>> normals = {{1, 0, 0},     {0, 1, 0},      {0, 0, 1},
                                                {-1, 0, 0},    {0, -1, 0},     {0, 0, -1},
                                                {0.6, 0.8, 0}, {0.6, 0, -0.8}, {1e-9, 0, 1}};
  const auto random = random_vector(300, 7);
  for (std::size_t i = 0; i < 100; ++i) {
    const double length = std::hypot(random[3 * i], random[3 * i + 1], random[3 * i + 2]);
    normals.push_back(
        {random[3 * i] / length, random[3 * i + 1] / length, random[3 * i + 2] / length});
  }
  for (const auto& n : normals) {
    double f[9] = {n[0], n[1], n[2]};
    complete_frame(f);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const double dot =
            f[3 * i] * f[3 * j] + f[3 * i + 1] * f[3 * j + 1] + f[3 * i + 2] * f[3 * j + 2];
        CHECK(std::abs(dot - (i == j)) < 1e-14);
      }
    }
    const double det = f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) +
                       f[2] * (f[3] * f[7] - f[4] * f[6]);
    CHECK(det == Approx(1));
  }
}

TEST_CASE("the problem made of three spheres") {
  const Spheres s = three();
  SphereModel model;
  model.mu = 0.3;
  const ContactProblem p = sphere_problem(s, find_candidates(s, 1.05), model);
  p.validate("three");
  REQUIRE(p.contacts() == 3);
  CHECK(p.bodies() == 3);
  CHECK_FALSE(p.rotates());
  CHECK(p.inverse_mass == std::vector<double>{0.5, 1.0 / 16, 0.25});
  CHECK(p.contact_bodies == std::vector<std::int32_t>{-1, 0, -1, 1, 0, 1});
  CHECK(p.mu == std::vector<double>{0.3, 0.3, 0.3});

  // a on the ground: v = (1, 0, 0), dt g = -0.1, gap/dt = 10. r = frame (v + dt g) + (10, 0, 0).
  const auto world = [&](std::size_t c, int k) {
    double sum = 0;
    for (int row = 0; row < 3; ++row) {
      sum += p.frame[9 * c + 3 * row + k] * (p.r[3 * c + row] - (row == 0 ? p.gap[c] / p.dt : 0));
    }
    return sum;
  };
  CHECK(p.r[0] == Approx(-0.1 + 10));
  CHECK(world(0, 0) == Approx(1));
  CHECK(std::abs(world(0, 1)) < 1e-14);
  CHECK(p.r[3] == Approx(-0.1 - 50));
  CHECK(world(1, 1) == Approx(0.5));
  // a-b: the normal points from a to b, both fall alike, v_b - v_a = (-1, 0.5, 0).
  const double length = std::sqrt(16.16);
  CHECK(p.frame[18] == Approx(4 / length));
  CHECK(std::abs(p.frame[19]) < 1e-15);
  CHECK(p.frame[20] == Approx(0.4 / length));
  CHECK(p.r[6] == Approx(-4 / length + gap_ab / 0.01));
  CHECK(world(2, 0) == Approx(-1));
  CHECK(world(2, 1) == Approx(0.5));
  CHECK(std::abs(world(2, 2)) < 1e-14);

  // Stiffness: pi/4 E (r_a + r_b), the ground as the sphere's mirror image.
  CHECK(p.stiffness[0] == Approx(pi / 4 * 50e9 * 2));
  CHECK(p.stiffness[2] == Approx(pi / 4 * 50e9 * 4));
  CHECK(p.stiffness[4] == Approx(pi / 4 * 50e9 * 3));
  CHECK(p.stiffness[4] / p.stiffness[5] == Approx(1.7 * 1.3 / (2 * 0.91)));
}

TEST_CASE("no stiffness is stored without Young's modulus") {
  SphereModel model;
  model.young = 0;
  CHECK(sphere_problem(three(), find_candidates(three(), 1), model).stiffness.empty());
}

TEST_CASE("spheres with the same centre have no normal") {
  Spheres s = grid(2, 0, 1);
  check_parts(error_of([&] { sphere_problem(s, find_candidates(s, 0), SphereModel{}); }),
              {"spheres 0 and 1 have the same centre"});
}

TEST_CASE("sorting in space keeps spheres whole") {
  Spheres s;
  s.position = random_vector(3 * 500, 11);
  s.velocity = random_vector(3 * 500, 12);
  s.radius = random_vector(500, 13);
  s.mass = random_vector(500, 14);
  std::map<double, std::size_t> by_radius;
  for (std::size_t i = 0; i < 500; ++i) by_radius[s.radius[i]] = i;
  const Spheres before = s;
  const auto path_length = [](const Spheres& spheres) {
    double length = 0;
    for (std::size_t i = 3; i < spheres.position.size(); ++i) {
      length += std::abs(spheres.position[i] - spheres.position[i - 3]);
    }
    return length;
  };
  sort_spatially(s);
  REQUIRE(s.count() == 500);
  CHECK(path_length(s) < 0.5 * path_length(before));
  for (std::size_t i = 0; i < 500; ++i) {
    const std::size_t j = by_radius.at(s.radius[i]);
    CHECK(s.mass[i] == before.mass[j]);
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(s.position[3 * i + k] == before.position[3 * j + k]);
      CHECK(s.velocity[3 * i + k] == before.velocity[3 * j + k]);
    }
  }
  Spheres none;
  CHECK_NOTHROW(sort_spatially(none));
}
