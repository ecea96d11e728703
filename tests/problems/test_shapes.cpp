// Kinds of shapes: mass properties against sums over many small parts, bounds, and bad input.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/problems/geometry_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// Mass and inertia by summing over the midpoints of a grid of cells.
MassProperties by_cells(const Shape& shape, double density, const Vec3& half, int n, int ny) {
  const PlacedShape placed{shape, {}};
  const double cell[3] = {2 * half.x / n, 2 * half.y / ny, 2 * half.z / n};
  MassProperties sum;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < ny; ++j) {
      for (int k = 0; k < n; ++k) {
        const Vec3 x{-half.x + (i + 0.5) * cell[0], -half.y + (j + 0.5) * cell[1],
                     -half.z + (k + 0.5) * cell[2]};
        if (!contains(placed, x, 0)) continue;
        const double m = density * cell[0] * cell[1] * cell[2];
        sum.mass += m;
        sum.inertia[0] += m * (x.y * x.y + x.z * x.z);
        sum.inertia[1] += m * (x.x * x.x + x.z * x.z);
        sum.inertia[2] += m * (x.x * x.x + x.y * x.y);
      }
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("mass and inertia are those of many small parts") {
  for (const Shape& shape : {make_shape("sphere", {0.7}), make_shape("box", {0.2, 0.5, 0.9}),
                             make_shape("ellipsoid", {0.9, 0.5, 1.0})}) {
    INFO(shape.kind);
    const MassProperties exact = mass_properties(shape, 1200);
    const MassProperties summed =
        by_cells(shape, 1200, shape_kind(shape.kind).half_extent({shape, {}}), 120, 120);
    CHECK(exact.mass == Approx(summed.mass).epsilon(2e-3));
    for (int k = 0; k < 3; ++k) CHECK(exact.inertia[k] == Approx(summed.inertia[k]).epsilon(4e-3));
  }
}

TEST_CASE("mass and inertia of planar and thin shapes, by hand") {
  // A disc of 2 m, 1 m thick, 3 kg/m^3: m = 12 pi, m R^2 / 2 about its axis.
  const MassProperties disc = mass_properties(make_shape("ellipse", {2, 2}), 3);
  CHECK(disc.mass == Approx(12 * 3.141592653589793));
  CHECK(disc.inertia[1] == Approx(disc.mass * 2));
  CHECK(disc.inertia[0] == Approx(disc.mass));
  // m (a^2 + b^2) / 4, whichever way the ellipse lies.
  const MassProperties ellipse = mass_properties(make_shape("ellipse", {1, 3}), 3);
  CHECK(ellipse.inertia[1] == Approx(ellipse.mass * 2.5));
  // A rod of length 2: m l^2 / 12 about its middle.
  const MassProperties rod = mass_properties(make_shape("rod", {1}), 3);
  CHECK(rod.mass == Approx(6));
  CHECK(rod.inertia[0] == 0);
  CHECK(rod.inertia[1] == Approx(6 * 4 / 12.0));
}

TEST_CASE("bounds hold the shape, and touch it") {
  RandomShapes random(3);
  for (const ShapeKind& row : shape_kinds()) {
    if (!row.half_extent) {
      CHECK(row.reaches != nullptr);
      CHECK(row.mass_properties == nullptr);
      continue;
    }
    for (int trial = 0; trial < 100; ++trial) {
      const PlacedShape placed = place(random.shape(row.kind), {{}, random.orientation()});
      const Vec3 half = row.half_extent(placed);
      CHECK(half.x == Approx(reach(placed, {1, 0, 0})));
      CHECK(half.y == Approx(reach(placed, {0, 1, 0})));
      CHECK(half.z == Approx(reach(placed, {0, 0, 1})));
    }
  }
}

TEST_CASE("shapes that cannot be") {
  check_parts(error_of([] { make_shape("ball", {1}); }), {"no shape 'ball'", "sphere"});
  check_parts(error_of([] { make_shape("spere", {1}); }), {"did you mean 'sphere'"});
  check_parts(error_of([] { make_shape("box", {1, 2}); }), {"box", "half edge", "2 numbers"});
  check_parts(error_of([] { make_shape("plane", {1}); }), {"plane", "none", "1 numbers"});
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    check_parts(error_of([&] { make_shape("sphere", {bad}); }), {"sphere: radius", "> 0 m"});
    check_parts(error_of([&] { make_shape("ellipsoid", {1, bad, 1}); }), {"semi-axis 1", "> 0 m"});
    check_parts(error_of([&] { mass_properties(make_shape("sphere", {1}), bad); }), {"density"});
  }
  check_parts(error_of([] { mass_properties(make_shape("plane", {}), 1); }), {"plane: mass"});
  check_parts(error_of([] { check_shape({"rod", {-1, 0, 0}}); }), {"rod: half length"});
}

TEST_CASE("quaternions turn as rotation vectors say") {
  // A third of a turn about (1, 1, 1): x to y, y to z, z to x.
  const double third = 2 * 3.141592653589793 / 3 / std::sqrt(3.0);
  const Quaternion q = rotation({third, third, third});
  const auto axes = axes_of(q);
  CHECK(axes[0].y == Approx(1));
  CHECK(axes[1].z == Approx(1));
  CHECK(axes[2].x == Approx(1));
  RandomShapes random(5);
  for (int trial = 0; trial < 100; ++trial) {
    const Quaternion a = random.orientation(), b = random.orientation();
    const Vec3 v = random.direction();
    const auto columns = axes_of(a);
    const Vec3 by_axes = v.x * columns[0] + v.y * columns[1] + v.z * columns[2];
    CHECK(norm(rotate(a, v) - by_axes) < 1e-14);
    CHECK(norm(rotate(a * b, v) - rotate(a, rotate(b, v))) < 1e-14);
    CHECK(norm(rotate(conjugate(a), rotate(a, v)) - v) < 1e-14);
    CHECK(is_unit(a * b));
    // Many small turns are one large one.
    Quaternion many{};
    for (int k = 0; k < 1000; ++k) many = rotation(1e-3 * v) * many;
    CHECK(norm(rotate(many, {0, 0, 1}) - rotate(rotation(v), {0, 0, 1})) < 1e-12);
  }
  CHECK_FALSE(is_unit({1, 0.1, 0, 0}));
  CHECK(is_unit(normalized({1, 0.1, 0, 0})));
}
