// The cones of rolling and equality triples, against their definitions by many points of the cones.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "solvers/core/cone_free.hpp"
#include "solvers/core/cone_rolling.hpp"

using namespace ccp;
using Catch::Approx;

namespace {

struct Random {
  std::mt19937 engine{7};
  double number(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
  Vec3 triple() { return {number(-1, 1), number(-1, 1), number(-1, 1)}; }
  Vec3 unit() {
    const Vec3 v = triple();
    return (1 / norm(v)) * v;
  }
  /// A point of the cone: on its edges as often as inside.
  RollingTriples point(const Vec3& normal, double mu, double rho) {
    const double n = number(0, 2);
    const Vec3 t = cross(normal, unit());
    const auto part = [&](double limit) { return limit * std::min(1.0, number(0, 2)); };
    return {n * normal + (part(mu * n) / norm(t)) * t, part(rho * n) * unit()};
  }
};

double product(const RollingTriples& a, const RollingTriples& b) {
  return dot(a.contact, b.contact) + dot(a.rolling, b.rolling);
}
RollingTriples difference(const RollingTriples& a, const RollingTriples& b) {
  return {a.contact - b.contact, a.rolling - b.rolling};
}

bool inside(const RollingTriples& g, const Vec3& normal, double mu, double rho) {
  const Split s = split(g.contact, normal);
  return s.n >= -1e-14 && s.size <= mu * s.n + 1e-13 && norm(g.rolling) <= rho * s.n + 1e-13;
}

struct Coefficients {
  double mu, rho;
};
constexpr Coefficients coefficients[] = {{0.5, 0.1}, {0, 0.3}, {0.8, 0}, {0, 0}, {2, 3}};

}  // namespace

// The nearest point p of a convex cone K to z is the one with z - p no way uphill: (z - p).k <= 0
// for all k in K and (z - p).p = 0.
TEST_CASE("the projection onto the rolling cone is the nearest point") {
  Random random;
  for (const auto& [mu, rho] : coefficients) {
    for (int trial = 0; trial < 300; ++trial) {
      const Vec3 normal = random.unit();
      const RollingTriples z{random.triple(), random.triple()};
      const RollingTriples p = project_rolling_cone(z, normal, mu, rho);
      const RollingTriples rest = difference(z, p);
      INFO(mu << ' ' << rho << " trial " << trial);
      CHECK(inside(p, normal, mu, rho));
      CHECK(std::abs(product(rest, p)) < 1e-14);
      for (int k = 0; k < 50; ++k) {
        CHECK(product(rest, random.point(normal, mu, rho)) < 1e-13);
      }
      CHECK(distance_to_rolling_cone(z, normal, mu, rho) ==
            Approx(std::sqrt(product(rest, rest))).margin(1e-15));
    }
  }
}

TEST_CASE("points of the rolling cone stay, and without rolling it is the friction cone") {
  Random random;
  for (int trial = 0; trial < 200; ++trial) {
    const Vec3 normal = random.unit();
    const RollingTriples g = random.point(normal, 0.6, 0.2);
    CHECK(distance_to_rolling_cone(g, normal, 0.6, 0.2) < 1e-14);
    const Vec3 z = random.triple();
    const Vec3 plain = project_friction_cone(z, normal, 0.6);
    CHECK(norm(project_rolling_cone({z, {}}, normal, 0.6, 0.2).contact - plain) < 1e-14);
  }
}

TEST_CASE("the dual of the rolling cone is what makes no sharp angle with it") {
  Random random;
  for (const auto& [mu, rho] : coefficients) {
    for (int trial = 0; trial < 300; ++trial) {
      const Vec3 normal = random.unit();
      const RollingTriples u{random.triple(), random.triple()};
      double least = 0;  // of u . k over unit impulses along the normal, k on the edges
      for (int k = 0; k < 200; ++k) {
        const RollingTriples g = random.point(normal, mu, rho);
        least = std::min(least, product(u, g) / std::max(dot(g.contact, normal), 1e-300));
      }
      const double violation = rolling_dual_violation(u, normal, mu, rho);
      CHECK(-least <= violation + 1e-13);
      // The worst impulse is known: against both slips, on the edge.
      const Split s = split(u.contact, normal);
      const Vec3 t = s.size > 0 ? (-mu / s.size) * s.t : Vec3{};
      const RollingTriples worst{normal + t, (-rho / norm(u.rolling)) * u.rolling};
      CHECK(std::max(-product(u, worst), 0.0) == Approx(violation).margin(1e-14));

      // u + P(-u) is in the dual, and the way there is at a right angle to it.
      const RollingTriples way =
          project_rolling_cone({-1.0 * u.contact, -1.0 * u.rolling}, normal, mu, rho);
      const RollingTriples q{u.contact + way.contact, u.rolling + way.rolling};
      CHECK(rolling_dual_violation(q, normal, mu, rho) < 1e-13);
      CHECK(std::abs(product(q, way)) < 1e-14);
      CHECK(distance_to_rolling_dual_cone(u, normal, mu, rho) ==
            Approx(std::sqrt(product(way, way))).margin(1e-15));
    }
  }
}

TEST_CASE("the free cone is everything, its dual zero, in the rows in use") {
  const Vec3 v{3, 4, 12};
  CHECK(distance_to_free_cone(v, 3) == 0);
  CHECK(distance_to_free_dual_cone(v, 3) == 13);
  CHECK(distance_to_free_cone(v, 2) == 12);
  CHECK(distance_to_free_dual_cone(v, 2) == 5);
  CHECK(distance_to_free_dual_cone(v, 1) == 3);
}
