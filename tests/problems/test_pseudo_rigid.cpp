// Pseudo-rigid bodies: their strain, vibration, momentum, and contacts in assembled form.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "problems/base/pi.hpp"
#include "problems/dynamics/energy.hpp"
#include "problems/dynamics/stepper_table.hpp"
#include "problems/geometry/shape_table.hpp"
#include "problems/model/constraint_math.hpp"
#include "tests/small_solver.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

constexpr double density = 1000;  // kg/m^3

/// @return its number
std::size_t add_ellipsoid(Bodies& bodies, const std::array<double, 3>& semi_axes,
                          const Vec3& position = {}, const Quaternion& q = {}) {
  const Shape shape{"ellipsoid", semi_axes};
  const MassProperties mass = mass_properties(shape, density);
  const std::size_t i = bodies.add(shape, BodyKind::rigid, mass.mass,
                                   {mass.inertia[0], mass.inertia[1], mass.inertia[2]});
  set_triple(bodies.position, i, position);
  const double entries[4] = {q.w, q.x, q.y, q.z};
  std::copy(entries, entries + 4, &bodies.orientation[4 * i]);
  return i;
}

Mat3 random_matrix(double size, unsigned seed) {
  Mat3 a;
  const std::vector<double> random = random_vector(9, seed);
  for (int k = 0; k < 9; ++k) a[k] = size * random[static_cast<std::size_t>(k)];
  return a;
}

double product(const Mat3& a, const Mat3& b) {
  double sum = 0;
  for (int k = 0; k < 9; ++k) sum += a[k] * b[k];
  return sum;
}

Mat3 sum(const Mat3& a, double t, const Mat3& b) {
  Mat3 c;
  for (int k = 0; k < 9; ++k) c[k] = a[k] + t * b[k];
  return c;
}

Step run(const StepModel& model, Bodies& bodies, int steps) {
  SmallSolver solver;
  const std::unique_ptr<Stepper> scheme = make_stepper("moreau", model);
  Step last;
  for (int k = 0; k < steps; ++k) last = scheme->step(bodies, solver, {});
  return last;
}

/// About the world's origin: of pseudo-rigid bodies x cross m v and twice the skew part of
/// dF/dt E_0 F^T.
Vec3 angular_momentum(const Bodies& bodies) {
  Vec3 all;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    all = all + bodies.mass[i] * cross(bodies.placed_at(i), triple(bodies.velocity, i));
    if (bodies.deforms(i)) {
      const Vec3& e = bodies.elastic[i].euler;
      const Mat3 euler{{e.x, 0, 0, 0, e.y, 0, 0, 0, e.z}};
      all = all +
            2 * axial(bodies.deformation_rate_of(i) * euler * transposed(bodies.deformation_of(i)));
    } else {
      all = all + momentum_from(bodies, i, bodies.turned(i), triple(bodies.angular_velocity, i));
    }
  }
  return all;
}

Vec3 momentum(const Bodies& bodies) {
  Vec3 all;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    all = all + bodies.mass[i] * triple(bodies.velocity, i);
  }
  return all;
}

StepModel without_gravity(double dt) {
  StepModel model;
  model.dt = dt;
  model.gravity = {};
  return model;
}

}  // namespace

TEST_CASE("the internal force is the slope of the strain energy, and has no torque") {
  const Elasticity body = elasticity_of(1e5, 0.3, 0, 0.01, {3, 4, 5});
  CHECK(body.euler.x == Approx(3));
  CHECK(body.euler.y == Approx(2));
  CHECK(body.euler.z == Approx(1));
  for (unsigned seed = 1; seed < 20; ++seed) {
    const Mat3 f = sum(identity3(), 1, random_matrix(0.3, seed));
    const Mat3 d = random_matrix(1, seed + 100);
    constexpr double t = 1e-5;
    const double slope =
        (strain_energy(body, sum(f, t, d)) - strain_energy(body, sum(f, -t, d))) / (2 * t);
    CHECK(-product(internal_force(body, f), d) == Approx(slope).epsilon(1e-6));
    CHECK(norm(axial(internal_force(body, f) * transposed(f))) < 1e-10);
    // K: symmetric, positive semidefinite, without a torque; the whole slope where nothing strains.
    const Mat3 other = random_matrix(1, seed + 200);
    CHECK(product(stiffness_times(body, f, d), other) ==
          Approx(product(d, stiffness_times(body, f, other))));
    CHECK(product(stiffness_times(body, f, d), d) > 0);
    CHECK(norm(axial(stiffness_times(body, f, d) * transposed(f))) < 1e-10);
    CHECK(product(stiffness_times(body, f, cross_matrix({1, 2, 3}) * f), d) ==
          Approx(0).margin(1e-9));
    const Mat3 from_rest = internal_force(body, sum(identity3(), t, d));
    const Mat3 k = stiffness_times(body, identity3(), d);
    for (int e = 0; e < 9; ++e) CHECK(-from_rest[e] / t == Approx(k[e]).epsilon(1e-3).margin(1));
    const Mat3 solved = ImplicitInertia(body, f, 0.1).solve(d);
    Mat3 again = stiffness_times(body, f, solved);
    const double euler[3] = {3, 2, 1};
    for (int e = 0; e < 9; ++e) again[e] = 0.25 * 0.01 * again[e] + euler[e % 3] * solved[e];
    for (int e = 0; e < 9; ++e) CHECK(again[e] == Approx(d[e]).margin(1e-10));
  }
}

TEST_CASE("a deformed ellipsoid is the ellipsoid that F makes of it") {
  for (unsigned seed = 1; seed < 30; ++seed) {
    const Shape shape{"ellipsoid", {0.3, 0.2, 0.5}};
    Mat3 f = sum(identity3(), 1, random_matrix(0.4, seed));
    const std::vector<double> turn = random_vector(3, seed + 50);
    const std::array<Vec3, 3> axes = axes_of(rotation({3 * turn[0], 3 * turn[1], 3 * turn[2]}));
    const Mat3 r{{axes[0].x, axes[1].x, axes[2].x, axes[0].y, axes[1].y, axes[2].y, axes[0].z,
                  axes[1].z, axes[2].z}};
    f = r * f;
    if (!(determinant(f) > 0.1)) continue;
    const DeformedShape now = deformed(shape, f);
    CHECK(is_unit(now.orientation));
    CHECK(now.shape.size[0] * now.shape.size[1] * now.shape.size[2] ==
          Approx(determinant(f) * 0.03));
    const std::vector<double> direction = random_vector(3, seed + 90);
    Vec3 u{direction[0], direction[1], direction[2]};
    u = 1 / norm(u) * u;
    const Vec3 y{0.3 * u.x, 0.2 * u.y, 0.5 * u.z}, x = f * y;  // on the surface, before and after
    const Vec3 own = rotate(conjugate(now.orientation), x);
    const auto& s = now.shape.size;
    CHECK(std::pow(own.x / s[0], 2) + std::pow(own.y / s[1], 2) + std::pow(own.z / s[2], 2) ==
          Approx(1).epsilon(1e-12));
    // The rotation of the polar decomposition: R^T F is symmetric.
    const std::array<Vec3, 3> polar = axes_of(rotation_of(f));
    const Mat3 back{{polar[0].x, polar[0].y, polar[0].z, polar[1].x, polar[1].y, polar[1].z,
                     polar[2].x, polar[2].y, polar[2].z}};
    CHECK(norm(axial(back * f)) < 1e-13);
  }
  const DeformedShape ball = deformed({"sphere", {0.3}}, {{2, 0, 0, 0, 1, 0, 0, 0, 1}});
  CHECK(ball.shape.size[0] == 0.3);
}

//  T8: without Poisson's effect a stretch along an axis swings alone, w^2 = V E / E_0 = 5 E / rho
//  a^2; a ball that swells has w^2 = V (3 lambda + 2 G) / E_0. The scheme's own solution of E_0 q''
//  + eta K q' + K q = 0 is known step by step.
TEST_CASE("a pseudo-rigid ellipsoid swings with the frequency of K and E_0") {
  struct Case {
    std::array<double, 3> size;
    double poisson, eta_over_h;
    bool swells;
  };
  for (const Case& c :
       {Case{{0.1, 0.08, 0.06}, 0, 0, false}, Case{{0.1, 0.08, 0.06}, 0, 1, false},
        Case{{0.1, 0.1, 0.1}, 0.25, 0, true}, Case{{0.1, 0.1, 0.1}, 0.25, 1, true}}) {
    constexpr double young = 1e5, h = 1e-4, small = 1e-6;
    const double eta = c.eta_over_h * h;
    Bodies bodies;
    add_ellipsoid(bodies, c.size);
    bodies.make_pseudo_rigid(0, young, c.poisson, eta);
    for (std::size_t k = 0; k < (c.swells ? 3u : 1u); ++k) bodies.deformation[4 * k] += small;
    const double moduli = c.swells ? young / (1 - 2 * c.poisson) : young;
    const double rate2 = 5 * moduli / (density * 0.01), rate = std::sqrt(rate2);
    CHECK(moduli ==
          Approx(c.swells ? 3 * bodies.elastic[0].lambda + 2 * bodies.elastic[0].shear : young));
    const StepModel model = without_gravity(h);
    double q = small, v = 0, before = small;
    std::vector<double> crossings;
    for (int k = 0; k < 2000; ++k) {
      run(model, bodies, 1);
      const double change = -h * rate2 * (q + h / 2 * v) - h * eta * rate2 * v;
      const double next = v + change / (1 + (eta * h / 2 + h * h / 4) * rate2);
      q += h / 2 * (v + next);
      v = next;
      const double now = bodies.deformation[0] - 1;
      CHECK(std::abs(now - q) < 1e-3 * small);
      if (before > 0 && now <= 0) crossings.push_back(h * (k + before / (before - now)));
      before = now;
    }
    REQUIRE(crossings.size() > 5);
    const double period =
        (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
    CHECK(2 * pi / period == Approx(rate).epsilon(1e-3));
    const Energy energy = energy_of(bodies, {});
    const double first =
        0.5 * bodies.elastic[0].volume * moduli * small * small * (c.swells ? 3 : 1);
    CHECK((energy.kinetic + energy.potential) / first ==
          Approx(std::exp(-eta * rate2 * 2000 * h)).epsilon(2e-2));
  }
}

TEST_CASE("a free pseudo-rigid body keeps its momentum and its angular momentum") {
  for (const double damping : {0.0, 1e-3}) {
    Bodies bodies;
    add_ellipsoid(bodies, {0.1, 0.2, 0.15}, {1, 2, 3}, rotation({0.3, -0.2, 0.5}));
    bodies.velocity = {1, -2, 0.5};
    bodies.angular_velocity = {5, 1, -3};
    bodies.make_pseudo_rigid(0, 1e5, 0.3, damping);
    const Mat3 strained = sum(identity3(), 1, random_matrix(0.1, 3));
    Bodies::set_matrix(bodies.deformation, 0, strained * bodies.deformation_of(0));
    bodies.follow_deformation(0);
    const Vec3 l = angular_momentum(bodies), p = momentum(bodies);
    const Energy before = energy_of(bodies, {});
    run(without_gravity(1e-3), bodies, 1000);
    CHECK(norm(angular_momentum(bodies) - l) < 1e-11 * norm(l));
    CHECK(norm(momentum(bodies) - p) < 1e-13);
    CHECK(norm(bodies.placed_at(0) - Vec3{2, 0, 3.5}) < 1e-12);
    const Energy after = energy_of(bodies, {});
    const double ratio = (after.kinetic + after.potential) / (before.kinetic + before.potential);
    CHECK(ratio < (damping > 0 ? 1 : 1.05));
    CHECK(ratio > (damping > 0 ? 0.2 : 0.9));
  }
}

TEST_CASE("a stiff pseudo-rigid body turns like the rigid one") {
  std::vector<double> errors;
  for (const double h : {2e-3, 1e-3, 5e-4}) {
    Bodies soft;
    add_ellipsoid(soft, {0.1, 0.2, 0.15});
    soft.angular_velocity = {0.2, 3, -1};
    Bodies rigid = soft;
    soft.make_pseudo_rigid(0, 1e9, 0.25, h);
    run(without_gravity(h), soft, static_cast<int>(std::lround(1 / h)));
    run(without_gravity(5e-4), rigid, 2000);
    errors.push_back(norm(rotation_vector(soft.turned(0) * conjugate(rigid.turned(0)))));
    CHECK(norm(triple(soft.angular_velocity, 0) - triple(rigid.angular_velocity, 0)) < 0.02);
  }
  CHECK(errors[2] < 2e-3);
  CHECK(errors[1] < 0.6 * errors[0]);
  CHECK(errors[2] < 0.6 * errors[1]);
}

TEST_CASE("N of a stiff body is the rigid one's, of a soft one larger, and symmetric") {
  const auto pose = [](double young) {
    Bodies bodies;
    add_ellipsoid(bodies, {0.2, 0.1, 0.15}, {0, 0, 0.1 - 1e-4}, rotation({pi / 2, 0, 0}));
    bodies.position[2] = 0.1 - 1e-4;
    bodies.orientation = {1, 0, 0, 0};
    add_ellipsoid(bodies, {0.12, 0.1, 0.15}, {0.02, 0.03, 0.35});
    bodies.obstacles.push_back({{"plane", {}}, {}, {}, {}});
    set_triple(bodies.position, 0, {0, 0, 0.15 - 1e-4});
    set_triple(bodies.position, 1, {0.02, 0.03, 0.44});
    bodies.angular_velocity[0] = 1;
    bodies.velocity[5] = -1;
    if (young > 0) {
      bodies.make_pseudo_rigid(0, young, 0.25, 0);
    }
    return make_stepper("moreau", without_gravity(1e-3))->problem(bodies);
  };
  const ContactProblem rigid = pose(0), stiff = pose(1e15), soft = pose(1e4);
  REQUIRE(rigid.contacts() == 2);
  REQUIRE(stiff.contacts() == 2);
  CHECK(stiff.form == ContactProblem::Form::assembled);
  CHECK(stiff.identity == rigid.identity);
  stiff.validate("stiff");
  const std::vector<double> n = dense_delassus(rigid), m = dense_delassus(stiff),
                            s = dense_delassus(soft);
  for (std::size_t i = 0; i < n.size(); ++i) {
    CHECK(m[i] == Approx(n[i]).epsilon(1e-6).margin(1e-6));
    CHECK(s[i] == s[i % 6 * 6 + i / 6]);
  }
  for (std::size_t i = 0; i < 3; ++i) CHECK(s[7 * i] > n[7 * i] + 0.01);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(stiff.r[i] == Approx(rigid.r[i]).epsilon(1e-3).margin(1e-4));
  }
}

TEST_CASE("two pseudo-rigid bodies and a rigid one that collide keep all momenta") {
  Bodies bodies;
  add_ellipsoid(bodies, {0.1, 0.2, 0.15}, {0, 0, 0});
  add_ellipsoid(bodies, {0.1, 0.1, 0.15}, {0.21, 0.03, 0.05}, rotation({0, 0.3, 0}));
  add_ellipsoid(bodies, {0.1, 0.1, 0.15}, {-0.22, 0.02, -0.03});
  bodies.velocity = {1, 0, 0, -1, 0.2, 0, 2, 0, 0};
  bodies.angular_velocity = {0, 3, 1, 0, 0, 2, 1, 0, 0};
  for (const std::size_t i : {0, 1}) bodies.make_pseudo_rigid(i, 1e5, 0.25, 1e-3);
  const Vec3 l = angular_momentum(bodies), p = momentum(bodies);
  StepModel model = without_gravity(1e-3);
  model.restitution = 0.3;
  model.mu = 0.4;
  run(model, bodies, 100);
  CHECK(std::abs(bodies.velocity[0] - 1) > 0.1);
  CHECK(bodies.velocity[6] < 1.9);
  CHECK(norm(momentum(bodies) - p) < 1e-12 * norm(p));
  CHECK(norm(angular_momentum(bodies) - l) < 1e-9 * norm(l));
}

TEST_CASE("a pseudo-rigid ellipsoid on a plane comes to rest on its weight, flattened") {
  Bodies bodies;
  add_ellipsoid(bodies, {0.1, 0.1, 0.08}, {0, 0, 0.081});
  bodies.make_pseudo_rigid(0, 2e4, 0.25, 2e-3);
  bodies.obstacles.push_back({{"plane", {}}, {}, {}, {}});
  StepModel model;
  model.dt = 1e-3;
  const Step last = run(model, bodies, 3000);
  const double weight = 10 * bodies.mass[0];
  CHECK(-last.obstacle_impulse[2] / model.dt == Approx(weight).epsilon(1e-3));
  CHECK(norm(triple(bodies.velocity, 0)) < 1e-3);  // of g h = 1e-2: contacts close at gap <= 0
  CHECK(bodies.deformation[8] < 1 - 1e-3);         // lower
  CHECK(bodies.deformation[0] > 1 + 1e-4);         // and wider
  CHECK(bodies.deformation[4] == Approx(bodies.deformation[0]));
  // Statics: the impulse at the lowest point Y = (0, 0, -c) and the inner force balance.
  const Mat3 inner = internal_force(bodies.elastic[0], bodies.deformation_of(0));
  CHECK(inner[8] == Approx(0.08 * weight).epsilon(1e-3));
}

TEST_CASE("what pseudo-rigid bodies cannot do is refused") {
  Bodies bodies;
  bodies.add({"box", {0.1, 0.1, 0.1}}, BodyKind::rigid, 1, {1, 1, 1});
  check_parts(error_of([&] { bodies.make_pseudo_rigid(0, 1e5, 0.3, 0); }),
              {"body 0", "ellipsoid or a sphere", "box"});
  add_ellipsoid(bodies, {0.1, 0.1, 0.1});
  check_parts(error_of([&] { bodies.make_pseudo_rigid(1, -1, 0.3, 0); }), {"young", "-1"});
  check_parts(error_of([&] { bodies.make_pseudo_rigid(1, 1, 0.5, 0); }), {"poisson", "0.5"});
  CHECK(!bodies.deforms());
  bodies.make_pseudo_rigid(1, 1e5, 0.3, 0);
  bodies.position[3] = 1;
  bodies.check("here");
  SmallSolver solver;
  for (const char* scheme : {"shake", "rattle", "lcp", "relaxation", "spook", "dem"}) {
    INFO(scheme);
    Bodies state = bodies;
    StepModel model = without_gravity(1e-3);
    model.hertz.young = 1e5;
    const auto stepper = make_stepper(scheme, model);
    check_parts(error_of([&] { stepper->step(state, solver, {}); }), {"moreau"});
  }
  bodies.deformation[9] = -1;
  check_parts(error_of([&] { run(without_gravity(1e-3), bodies, 1); }), {"body 1", "inside out"});
}
