// Cone algebra, by hand in contact axes and again with the normal turned any way.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "solvers/core/cone.hpp"

using namespace ccp;
using Catch::Approx;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double infinity = 1e300;  // what max_step returns for "never"

/// An orthonormal frame; triples (n, t1, t2) go to world axes and back.
struct Frame {
  Vec3 n{1, 0, 0}, t1{0, 1, 0}, t2{0, 0, 1};
  Vec3 world(const Vec3& v) const { return v.x * n + v.y * t1 + v.z * t2; }
  Vec3 contact(const Vec3& v) const { return {dot(v, n), dot(v, t1), dot(v, t2)}; }
};

class Random {
 public:
  double operator()(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  Vec3 triple() { return {(*this)(-1, 1), (*this)(-1, 1), (*this)(-1, 1)}; }
  /// Inside C, at relative distance `delta` from its boundary, in contact axes.
  Vec3 interior(double delta) {
    const double size = (*this)(0.5, 2), angle = (*this)(0, 6.3);
    return {size * (1 + delta), size * std::cos(angle), size * std::sin(angle)};
  }

 private:
  std::mt19937 engine_{42};
};

/// Contact axes, the world axes, and some that are aligned with nothing.
std::vector<Frame> frames() {
  std::vector<Frame> list = {
      {}, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {{0, -1, 0}, {0, 0, -1}, {1, 0, 0}}};
  Random random;
  for (int i = 0; i < 5; ++i) {
    Vec3 n = random.triple(), t = random.triple();
    n = (1 / norm(n)) * n;
    t = t - dot(t, n) * n;
    t = (1 / norm(t)) * t;
    list.push_back({n, t, cross(n, t)});
  }
  return list;
}

void check_near(const Vec3& a, const Vec3& b, double tolerance) {
  INFO("(" << a.x << ", " << a.y << ", " << a.z << ") against (" << b.x << ", " << b.y << ", "
           << b.z << ")");
  CHECK(norm(a - b) <= tolerance);
}

Vec3 project(const Vec3& v, double mu) {
  return project_friction_cone(v, {1, 0, 0}, mu);
}

bool same(const Vec3& a, const Vec3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

long double det_exactly(const Vec3& v) {  // contact axes
  const long double n = v.x, t1 = v.y, t2 = v.z;
  return (n * n - t1 * t1 - t2 * t2) / 2;
}

}  // namespace

// ---- projection --------------------------------------------------------------------------------

TEST_CASE("projection onto the friction cone by hand") {
  // Inside, on the boundary and at the apex: nothing changes, to the last bit.
  CHECK(same(project({2, 0.3, -0.4}, 0.5), {2, 0.3, -0.4}));
  CHECK(same(project({2, 0.6, 0.8}, 0.5), {2, 0.6, 0.8}));
  CHECK(same(project({0, 0, 0}, 0.5), {0, 0, 0}));
  // In the polar cone -K*: {-n >= mu |t|}.
  CHECK(same(project({-1, 0, 0}, 0.5), {0, 0, 0}));
  CHECK(same(project({-1, 1, 1}, 0.5), {0, 0, 0}));
  CHECK(same(project({-0.5, 1, 0}, 0.5), {0, 0, 0}));  // on its boundary
  // Between: mu = 0.5, v = (0, 5, 0) goes to n = mu |t| / (1 + mu^2) = 2, t = mu n = 1.
  check_near(project({0, 5, 0}, 0.5), {2, 1, 0}, 4 * eps);
  check_near(project({0, 0, -5}, 0.5), {2, 0, -1}, 4 * eps);
  check_near(project({1, 3, 4}, 0.75), {3.04, 3.04 * 0.75 * 0.6, 3.04 * 0.75 * 0.8}, 8 * eps);
  CHECK(distance_to_cone(0, 5, 0.5) == Approx(std::sqrt(20)));
}

TEST_CASE("projection without friction is onto a half-line") {
  CHECK(same(project({2, 0, 0}, 0), {2, 0, 0}));
  CHECK(same(project({2, 3, -4}, 0), {2, 0, 0}));
  CHECK(same(project({-2, 3, -4}, 0), {0, 0, 0}));
  CHECK(same(project({-2, 0, 0}, 0), {0, 0, 0}));
  CHECK(same(project({0, 1, 0}, 0), {0, 0, 0}));
  CHECK(distance_to_cone(-3, 4, 0) == Approx(5));
  CHECK(distance_to_cone(3, 4, 0) == Approx(4));
  CHECK(distance_to_cone(-3, 0, 0) == Approx(3));
  CHECK(distance_to_cone(3, 0, 0) == 0);
  // Its dual is the half-space u_n >= 0.
  CHECK(distance_to_dual_cone(-3, 4, 0) == Approx(3));
  CHECK(distance_to_dual_cone(3, 4, 0) == 0);
  CHECK(distance_to_dual_cone(3, 0, 0) == 0);
}

TEST_CASE("projection with huge friction, and with hardly any tangential part") {
  // K is nearly the half-space n >= 0: only the normal part is corrected.
  const Vec3 p = project({-1, 1, 0}, 1e8);
  check_near(p, {1e-8 - 1e-16, 1 - 1e-8, 0}, 1e-14);
  CHECK(same(project({1e-8, 1, 0}, 1e9), {1e-8, 1, 0}));
  // Of all tangential parts too small to matter nothing is left, and no NaN comes.
  for (const double tiny : {1e-30, 1e-160, 1e-200, 5e-324}) {
    for (const double mu : {0.0, 1e-12, 0.4, 10.0}) {
      for (const double n : {-1.0, 0.0, 1.0}) {
        const Vec3 q = project({n, tiny, -tiny}, mu);
        CHECK(std::abs(q.x - (n == 0 ? q.x : std::max(n, 0.0))) <= 4e-16);
        CHECK(std::hypot(q.y, q.z) <= 2 * tiny);
        CHECK(q.x >= 0);
      }
    }
  }
  check_near(project({-1e-12, 1, 0}, 1e-6), {(-1e-12 + 1e-6) / (1 + 1e-12), 1e-12 - 1e-18, 0},
             1e-21);
}

TEST_CASE(
    "the projection splits a triple into two orthogonal ones, one of K and one of its polar") {
  Random random;
  for (const Frame& f : frames()) {
    for (int i = 0; i < 2000; ++i) {
      const double mu = i % 10 == 0 ? 0 : std::pow(10, random(-3, 2));
      const Vec3 v = random.triple();
      const Vec3 p = f.contact(project_friction_cone(f.world(v), f.n, mu));
      const Vec3 rest = v - p;
      const double tolerance = 1e-14 * (1 + mu);
      CHECK(std::hypot(p.y, p.z) <= mu * p.x + tolerance);
      CHECK(p.x >= -tolerance);
      CHECK(-rest.x >= mu * std::hypot(rest.y, rest.z) - tolerance);  // in -K*
      CHECK(std::abs(dot(p, rest)) <= 1e-14);
      const double t = std::hypot(v.y, v.z);
      CHECK(distance_to_cone(v.x, t, mu) == Approx(norm(rest)).margin(1e-14));
      // The dual cone by its own definition: K* = K of 1/mu.
      if (mu > 0) {
        const double expected = norm(v - project(v, 1 / mu));
        CHECK(distance_to_dual_cone(v.x, t, mu) == Approx(expected).margin(tolerance));
      }
      // Projecting again changes nothing.
      const Vec3 world = f.world(p);
      check_near(project_friction_cone(world, f.n, mu), world, 1e-14 * (1 + mu));
    }
  }
}

// ---- Jordan algebra ----------------------------------------------------------------------------

TEST_CASE("Jordan product, unit, inverse and spectral values") {
  Random random;
  for (const Frame& f : frames()) {
    const Vec3 e = jordan::sqrt2 * f.n;
    for (int i = 0; i < 200; ++i) {
      const Vec3 x = random.interior(random(0.05, 2)), y = random.triple(), z = random.triple();
      const Vec3 wx = f.world(x), wy = f.world(y), wz = f.world(z);
      const double det = static_cast<double>(det_exactly(x));
      check_near(jordan::product(wx, e, f.n), wx, 1e-14);
      check_near(jordan::product(wx, wy, f.n), jordan::product(wy, wx, f.n), 1e-14);
      const Vec3 inverse = jordan::inverse(wx, f.n);
      check_near(jordan::product(inverse, wx, f.n), e, 1e-12 / det);
      CHECK(dot(jordan::product(wx, wy, f.n), e) == Approx(dot(x, y)).margin(1e-14));  // tr
      // <x o y, z> = <y, x o z>
      CHECK(dot(jordan::product(wx, wy, f.n), wz) ==
            Approx(dot(wy, jordan::product(wx, wz, f.n))).margin(1e-14));

      double low = 0, high = 0;
      jordan::spectral_values(wx, f.n, low, high);
      CHECK(low == Approx((x.x - std::hypot(x.y, x.z)) / std::sqrt(2.0)).margin(1e-14));
      CHECK(high == Approx((x.x + std::hypot(x.y, x.z)) / std::sqrt(2.0)));
      CHECK(low * high == Approx(det));
      CHECK(jordan::det(wx, f.n) == Approx(det));
      CHECK(jordan::is_interior(wx, f.n));
      CHECK_FALSE(jordan::is_interior(-1.0 * wx, f.n));
      check_near(jordan::reflect(wx, f.n), f.world({x.x, -x.y, -x.z}), 1e-14);
    }
    CHECK_FALSE(jordan::is_interior({0, 0, 0}, f.n));
  }
  CHECK_FALSE(jordan::is_interior({1, 0.6, 0.8}, {1, 0, 0}));  // the boundary is not inside
}

TEST_CASE("quadratic representation") {
  Random random;
  for (const Frame& f : frames()) {
    const Vec3 e = jordan::sqrt2 * f.n;
    for (int i = 0; i < 200; ++i) {
      const Vec3 w = f.world(random.interior(random(0.05, 2))), z = random.triple();
      const double det_w = jordan::det(w, f.n);
      // P(w) = 2 L(w)^2 - L(w^2)
      const Vec3 by_products = 2.0 * jordan::product(w, jordan::product(w, z, f.n), f.n) -
                               jordan::product(jordan::product(w, w, f.n), z, f.n);
      const Vec3 p = jordan::quadratic(w, det_w, z, f.n);
      check_near(p, by_products, 1e-13);
      check_near(jordan::quadratic(w, det_w, e, f.n), jordan::product(w, w, f.n), 1e-13);
      // P(w) w^-1 = w, and P(w^-1) undoes P(w).
      const Vec3 inverse = jordan::inverse(w, f.n);
      check_near(jordan::quadratic(w, det_w, inverse, f.n), w, 1e-11);
      check_near(jordan::quadratic(inverse, 1 / det_w, p, f.n), z, 1e-10);
      // det P(w) z = det(w)^2 det z
      CHECK(jordan::det(p, f.n) == Approx(det_w * det_w * jordan::det(z, f.n)).margin(1e-12));
    }
  }
}

TEST_CASE("det stays accurate towards the boundary of the cone") {
  Random random;
  for (const Frame& f : frames()) {
    for (const double delta : {1.0, 1e-2, 1e-4, 1e-5}) {
      for (int i = 0; i < 100; ++i) {
        const Vec3 x = random.interior(delta);
        const double exact = static_cast<double>(det_exactly(x));
        CHECK(jordan::det(f.world(x), f.n) == Approx(exact).epsilon(1e-10));
      }
    }
    // Beyond that it is as accurate as the input: relative error of the order eps / delta.
    for (const double delta : {1e-8, 1e-11}) {
      const Vec3 x = random.interior(delta);
      const double exact = static_cast<double>(det_exactly(x));
      CHECK(jordan::det(f.world(x), f.n) == Approx(exact).epsilon(8 * eps / delta));
    }
  }
}

TEST_CASE("the Nesterov-Todd point takes x to y") {
  Random random;
  for (const Frame& f : frames()) {
    for (const double delta_x : {1.0, 1e-3, 1e-6, 1e-9}) {
      for (const double delta_y : {1.0, 1e-3, 1e-6, 1e-9}) {
        for (const double ratio : {1e-6, 1.0, 1e6}) {
          const Vec3 x = f.world(random.interior(delta_x)),
                     y = f.world(ratio * random.interior(delta_y));
          const jordan::ScalingPoint point = jordan::nt_scaling(x, y, f.n);
          const double tolerance = 1e-13 + 20 * eps * (1 / delta_x + 1 / delta_y);
          INFO("delta " << delta_x << ", " << delta_y << ", ratio " << ratio);
          const Vec3 p = jordan::quadratic(point.w, point.det, x, f.n);
          check_near(p, y, tolerance * norm(y));
          CHECK(point.det > 0);
          CHECK(point.det == Approx(std::sqrt(jordan::det(y, f.n) / jordan::det(x, f.n))));
          CHECK(jordan::is_interior(point.w, f.n));
        }
      }
    }
    // x = y scales by the identity.
    const Vec3 x = f.world({2, 0.3, -0.5});
    const jordan::ScalingPoint point = jordan::nt_scaling(x, x, f.n);
    check_near(point.w, jordan::sqrt2 * f.n, 1e-14);
    CHECK(point.det == Approx(1));
  }
}

// ---- step to the boundary ----------------------------------------------------------------------

namespace {

/// Largest theta with x + theta d in C, by bisection in long double (contact axes).
double bisected_step(const Vec3& x, const Vec3& d) {
  const auto inside = [&](long double theta) {
    const long double n = x.x + theta * d.x, t1 = x.y + theta * d.y, t2 = x.z + theta * d.z;
    return n > 0 && n * n > t1 * t1 + t2 * t2;
  };
  long double low = 0, high = 1;
  while (inside(high)) {
    low = high;
    high *= 2;
    if (high > 1e30L) return infinity;
  }
  for (int i = 0; i < 200; ++i) {
    const long double middle = (low + high) / 2;
    (inside(middle) ? low : high) = middle;
  }
  return static_cast<double>(low);
}

}  // namespace

TEST_CASE("the largest step inside the cone by hand") {
  const Vec3 n{1, 0, 0};
  CHECK(jordan::max_step({1, 0, 0}, {-1, 0, 0}, n) == Approx(1));  // to the apex
  CHECK(jordan::max_step({1, 0, 0}, {0, 2, 0}, n) == Approx(0.5));
  CHECK(jordan::max_step({3, 0, 0}, {1, 2, 0}, n) == Approx(3));    // 3 + t = 2t
  CHECK(jordan::max_step({2, 1, 0}, {-2, -1, 0}, n) == Approx(1));  // straight to the apex
  CHECK(jordan::max_step({1, 0.5, 0}, {0, -3, 0}, n) == Approx(0.5));
  CHECK(jordan::max_step({1, 0, 0}, {1, 0.5, 0}, n) == infinity);
  CHECK(jordan::max_step({1, 0, 0}, {1, 1, 0}, n) == infinity);  // along the boundary
  CHECK(jordan::max_step({1, 0, 0}, {0, 0, 0}, n) == infinity);
  CHECK(jordan::max_step({1, 0, 0}, {-1, 1, 0}, n) == Approx(0.5));  // d on the boundary of -C
}

TEST_CASE("the largest step inside the cone against bisection") {
  Random random;
  int infinite = 0;
  for (const Frame& f : frames()) {
    for (const double delta : {1.0, 1e-3, 1e-6}) {
      for (int i = 0; i < 500; ++i) {
        const Vec3 x = random.interior(delta);
        Vec3 d = random.triple();
        if (i % 5 == 1) d.x = std::hypot(d.y, d.z) * (1 - 1e-4 * random(0, 1));  // leaves C late
        if (i % 5 == 2) d = (-1 / random(0.5, 2)) * (x + 1e-3 * d);              // towards the apex
        if (i % 5 == 3) d.x = -std::hypot(d.y, d.z);                             // boundary of -C
        if (i % 5 == 4) d = 1e-6 * d;
        const double expected = bisected_step(x, d);
        const double step = jordan::max_step(f.world(x), f.world(d), f.n);
        INFO("x = (" << x.x << ", " << x.y << ", " << x.z << "), d = (" << d.x << ", " << d.y
                     << ", " << d.z << ")");
        if (expected == infinity) {
          CHECK(step >= 1e12);
          ++infinite;
        } else {
          // Near the apex two roots nearly meet, and each is then known to the root of rounding
          // only.
          const double ill = i % 5 == 2 ? 1e-6 : i % 5 == 1 ? 1e-8 : 0;
          CHECK(step == Approx(expected).epsilon(1e-12 + 1e-13 / delta + ill));
          CHECK(jordan::is_interior(f.world(x + (0.999 * step) * d), f.n));
        }
      }
    }
  }
  CHECK(infinite > 100);
}

TEST_CASE("stretch is diag(a, b, b) in contact axes") {
  for (const Frame& f : frames()) {
    check_near(stretch(2, 3, f.world({1, -1, 0.5}), f.n), f.world({2, -3, 1.5}), 1e-14);
  }
  const Split s = split({3, 0, 4}, {1, 0, 0});
  CHECK(s.n == 3);
  CHECK(s.size == 4);
  CHECK(same(s.t, {0, 0, 4}));
}
