// Planar scenes: what they are made of, and time steps by hand.
#include "problems/scenes/planar.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "problems/model/impulses.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// One contact of one body that does not rotate, N = I / m: the Coulomb law in closed form.
class BlockOnGround : public StepSolver {
 public:
  void solve(const ContactProblem& p, const StepAccuracy& accuracy,
             std::vector<double>& gamma) override {
    CHECK(accuracy.converged);
    ++steps;
    if (p.contacts() == 0) return;
    const double mass = 1 / p.inverse_mass[0];
    const double normal = std::max(0.0, -mass * p.r[0]);
    gamma = {normal, std::clamp(-mass * p.r[1], -p.mu[0] * normal, p.mu[0] * normal), 0};
  }
  int steps = 0;
};

}  // namespace

TEST_CASE("body velocities from impulses are M^-1 D gamma") {
  const ContactProblem rotating = random_problem({5, 12, true, true, 3});
  const ContactProblem spheres = random_problem({5, 12, false, true, 4});
  for (const ContactProblem& problem : {rotating, spheres}) {
    const auto gamma = random_vector(3 * problem.contacts(), 7);
    CHECK(relative_difference(body_velocity_changes(problem, gamma),
                              dense_body_velocities(problem, gamma)) < 1e-14);
  }
}

TEST_CASE("pyramid: rows (rows + 1) / 2 spheres that touch") {
  BlockOnGround unused;
  for (const int rows : {1, 4, 6, 8, 10, 20}) {
    PyramidOptions options;
    options.rows = rows;
    const ContactProblem problem = generate_pyramid(options, unused);
    INFO(rows << " rows");
    REQUIRE_NOTHROW(problem.validate("pyramid"));
    CHECK(problem.bodies() == static_cast<std::size_t>(rows * (rows + 1) / 2));
    CHECK(problem.contacts() == static_cast<std::size_t>(rows + 3 * rows * (rows - 1) / 2));
    for (std::size_t c = 0; c < problem.contacts(); ++c) {
      CHECK(std::abs(problem.gap[c]) < 1e-12);
      CHECK(problem.frame[9 * c + 7] == 1);  // t2 = y, so all else is in the plane
      CHECK(problem.frame[9 * c + 4] == 0);
      CHECK(problem.r[3 * c + 2] == 0);
    }
  }
  CHECK(unused.steps == 0);
}

TEST_CASE("pyramid: r is the velocity of the surfaces") {
  // One sphere of radius 0.5 m that rolls at 2 m/s: its lowest point rests.
  class Roll : public StepSolver {
   public:
    void solve(const ContactProblem& p, const StepAccuracy&, std::vector<double>& gamma) override {
      // Weight, and a kick along t1 = x that turns the sphere: 1 N s at 0.5 m under the centre.
      gamma = {0.5, 1, 0};
      CHECK(p.r[0] == Approx(-0.5));
    }
  } roll;
  PyramidOptions options;
  options.rows = 1;
  options.planar.steps = 1;
  const ContactProblem problem = generate_pyramid(options, roll);
  // v = 1 m/s; w = -0.5 * 1 / (2/5 0.25) = -5 rad/s about y; at the ground 1 + 5 * 0.5 = 3.5 m/s.
  CHECK(problem.velocity[0] == Approx(1));
  CHECK(problem.velocity[4] == Approx(-5));
  CHECK(problem.r[0] == Approx(-0.5));
  CHECK(problem.r[1] == Approx(3.5));
}

TEST_CASE("particle: friction takes mu g dt of its speed in every step") {
  ParticleOptions options;
  options.speed = 1;
  options.planar.mu = 0.3;
  options.planar.dt = 0.1;
  options.planar.steps = 5;
  BlockOnGround law;
  std::vector<double> x, speed;
  generate_particle(options, law, [&](const SceneState& now) {
    x.push_back(now.bodies.position[0]);
    speed.push_back(now.bodies.velocity[0]);
    CHECK(now.bodies.position[2] == Approx(1));
    CHECK(now.time == Approx(0.1 * static_cast<double>(x.size() - 1)).margin(1e-15));
  });
  CHECK(law.steps == 5);
  CHECK(relative_difference(speed, {1, 0.7, 0.4, 0.1, 0, 0}) < 1e-14);
  CHECK(relative_difference(x, {0, 0.07, 0.11, 0.12, 0.12, 0.12}) < 1e-14);
}

TEST_CASE("planar scenes refuse what makes no sense") {
  BlockOnGround law;
  ParticleOptions particle;
  particle.planar.dt = 0;
  check_parts(error_of([&] { generate_particle(particle, law); }), {"dt", "> 0", "0"});
  particle.planar.dt = 0.1;
  particle.planar.slope = 90;
  check_parts(error_of([&] { generate_particle(particle, law); }), {"slope", "90"});
  PyramidOptions pyramid;
  pyramid.rows = 0;
  check_parts(error_of([&] { generate_pyramid(pyramid, law); }), {"rows", ">= 1", "0"});
}
