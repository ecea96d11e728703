// Time steppers: one step by hand for each, and what each conserves.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "problems/dynamics/recording.hpp"
#include "problems/dynamics/steppers/elastic.hpp"
#include "problems/dynamics/steppers/planar.hpp"
#include "problems/dynamics/steppers/shake.hpp"
#include "problems/dynamics/steppers/shake_among.hpp"
#include "tests/small_solver.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// A sphere of 1 m and 2 kg at a height of its lowest point, with a velocity.
Bodies one_sphere(double height, std::array<double, 3> v) {
  return sphere_bodies({{0, 0, 1 + height}, {v[0], v[1], v[2]}, {1}, {2}}, false);
}

ShakeOptions shake_options() {
  ShakeOptions options;
  options.model.dt = 0.1;
  options.model.mu = 0.5;
  options.search = [](const Spheres& spheres) { return find_candidates(spheres, 0.5); };
  return options;
}

double momentum(const Bodies& bodies, int k) {
  double sum = 0;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    sum += bodies.mass[i] * bodies.velocity[3 * i + k];
  }
  return sum;
}

}  // namespace

TEST_CASE("shake: free flight is symplectic Euler, and nobody is asked to solve nothing") {
  Bodies bodies = one_sphere(10, {1, 0, 0});
  ShakeStepper stepper(shake_options());
  SmallSolver solver;
  const Step step = stepper.step(bodies, solver, {});
  CHECK(solver.calls == 0);
  CHECK(step.problem.contacts() == 0);
  // v = (1, 0, -1), then x += 0.1 v.
  CHECK(relative_difference(bodies.velocity, {1, 0, -1}) < 1e-15);
  CHECK(relative_difference(bodies.position, {0.1, 0, 10.9}) < 1e-15);
  CHECK(step.speed == Approx(std::sqrt(2.0)));
}

TEST_CASE("shake: a contact that acts is closed at the end of the step") {
  // 0.2 m above the ground at -4 m/s: without contact it would end 0.3 m inside.
  Bodies bodies = one_sphere(0.2, {0, 0, -4});
  ShakeStepper stepper(shake_options());
  SmallSolver solver;
  const Step step = stepper.step(bodies, solver, {});
  CHECK(step.problem.r[0] == Approx(-4 - 1 + 2));  // v + dt g + gap / dt
  CHECK(step.gamma[0] == Approx(2 * 3));
  CHECK(bodies.position[2] == Approx(1));
  CHECK(bodies.velocity[2] == Approx(-2));  // it stops in the next step
  stepper.step(bodies, solver, {});
  CHECK(std::abs(bodies.velocity[2]) < 1e-14);
}

TEST_CASE("shake: penetrations are undone no faster than asked for") {
  for (const double push : {std::numeric_limits<double>::infinity(), 0.2}) {
    Bodies bodies = one_sphere(-0.3, {0, 0, 0});
    ShakeOptions options = shake_options();
    options.max_push = push;
    ShakeStepper stepper(options);
    SmallSolver solver;
    stepper.step(bodies, solver, {});
    CHECK(bodies.velocity[2] == Approx(std::min(push, 3.0)));
  }
}

TEST_CASE("shake: starts are zero, the step before by name, or scaled by a line search") {
  Bodies bodies = one_sphere(0, {0, 0, 0});
  ShakeOptions options = shake_options();
  ShakeStepper stepper(options);
  SmallSolver solver;
  stepper.step(bodies, solver, {});  // gamma_n = 2 kg * 10 m/s^2 * 0.1 s = 2
  stepper.step(bodies, solver, {});
  CHECK(solver.start == std::vector<double>{0, 0, 0});
  stepper.step(bodies, solver, {}, {"previous", 0.5});
  CHECK(solver.start[0] == Approx(1));
  check_parts(error_of([&] {
                stepper.step(bodies, solver, {}, {"hertz", 1});
              }),
              {"guess", "'hertz'"});
  // Half the step: the impulses are kept as forces. Then 1/2 N gamma^2 + r gamma is least at
  // gamma = 1 = what is recalled; with half the gravity the line search halves it.
  options.model.dt = 0.05;
  options.warm = true;
  stepper.set_options(options);
  CHECK(stepper.own_start(stepper.problem(bodies))[0] == Approx(1));
  options.model.gravity[2] = -5;
  stepper.set_options(options);
  CHECK(stepper.own_start(stepper.problem(bodies))[0] == Approx(0.5));
}

TEST_CASE("shake and elastic steps conserve momentum where nothing else acts") {
  // Two spheres that meet off their line of centres, far above the ground.
  const Bodies start =
      sphere_bodies({{0, 0, 50, 1.9, 0.4, 50.3}, {3, 0, 0, -1, 0.5, 0}, {1, 1}, {1, 3}}, false);
  ShakeOptions rigid = shake_options();
  rigid.model.gravity = {0, 0, 0};
  SphereModel soft = rigid.model;
  soft.hertz.young = 1e4;
  ShakeStepper shake(rigid);
  ElasticStepper elastic(soft);
  for (Stepper* stepper : {static_cast<Stepper*>(&shake), static_cast<Stepper*>(&elastic)}) {
    Bodies bodies = start;
    SmallSolver solver;
    stepper->step(bodies, solver, {});
    REQUIRE(solver.calls == 1);
    CHECK(std::abs(bodies.velocity[0] - 3) > 0.1);
    for (int k = 0; k < 3; ++k)
      CHECK(momentum(bodies, k) == Approx(momentum(start, k)).margin(1e-13));
  }
}

TEST_CASE("elastic: at rest nothing moves and Hertz's law carries the weight") {
  SphereModel model;
  model.dt = 5e-3;
  model.hertz.young = 1e6;
  model.hertz.poisson = 0.25;
  // k = 1e6 sqrt(1) / (3 (1 - 1/16)); overlap (m g / k)^(2/3)
  const double k = 1e6 / (3 * 0.9375), overlap = std::pow(20 / k, 2.0 / 3);
  Bodies bodies = one_sphere(-overlap, {0, 0, 0});
  ElasticStepper stepper(model);
  SmallSolver solver;
  const Step step = stepper.step(bodies, solver, {});
  CHECK(step.gamma[0] == Approx(5e-3 * 20).epsilon(1e-9));
  CHECK(step.problem.guesses.at("hertz").gamma[0] == Approx(5e-3 * 20));
  CHECK(std::abs(bodies.velocity[2]) < 1e-12);
  CHECK(step.problem.identity == std::vector<std::int64_t>{0});
}

TEST_CASE("planar: friction below the centre turns a sphere that slides") {
  // 1 m, 2 kg, J = 0.8; on the ground at 3 m/s, mu = 0.25: gamma_n = 2, gamma_t = -0.5.
  // v_x = 3 - 0.25; w_y = 1 m * 0.5 / 0.8; about the contact point m v_x + J w / 1 m stays 6.
  Bodies bodies = sphere_bodies({{0, 0, 1}, {3, 0, 0}, {1}, {2}}, true);
  PlanarModel model;
  model.dt = 0.1;
  model.mu = 0.25;
  PlanarStepper stepper(model);
  class Coulomb : public StepSolver {
    void solve(const ContactProblem& p, const StepAccuracy&, std::vector<double>& gamma) override {
      CHECK(p.r[0] == Approx(-1));
      CHECK(p.r[1] == Approx(3));
      gamma = {2, -0.5, 0};
    }
  } coulomb;
  const Step step = stepper.step(bodies, coulomb, {});
  CHECK(bodies.velocity[0] == Approx(2.75));
  CHECK(bodies.angular_velocity[1] == Approx(0.625));
  CHECK(2 * bodies.velocity[0] + 0.8 * bodies.angular_velocity[1] == Approx(6));
  CHECK(std::abs(bodies.velocity[2]) < 1e-15);
  CHECK(bodies.position[0] == Approx(0.275));
  CHECK(step.speed == Approx(2.75));
  // The point of contact now slides at v_x - w_y.
  CHECK(stepper.problem(bodies).r[1] == Approx(2.75 - 0.625));
}

TEST_CASE("a scheme with two stages overrides step") {
  // Each step solves twice, the second time to undo what is left of the approach.
  class TwoStages : public ShakeStepper {
   public:
    using ShakeStepper::ShakeStepper;
    Step step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
              const StepStart& start) override {
      Step first = ShakeStepper::step(bodies, solver, accuracy, start);
      ContactProblem impact = problem(bodies);
      impact.r[0] = bodies.velocity[2];
      std::vector<double> gamma(3, 0.0);
      solver.solve(impact, accuracy, gamma);
      add_impulses(impact, gamma, bodies.velocity);
      return first;
    }
  } stepper(shake_options());
  Bodies bodies = one_sphere(0.2, {0, 0, -4});
  SmallSolver solver;
  static_cast<Stepper&>(stepper).step(bodies, solver, {});
  CHECK(solver.calls == 2);
  CHECK(bodies.position[2] == Approx(1));
  CHECK(std::abs(bodies.velocity[2]) < 1e-14);
}

TEST_CASE("recording: coming to rest, steps that are kept, and a solver that diverges") {
  Bodies bodies = one_sphere(0.2, {0, 0, -4});
  ShakeStepper stepper(shake_options());
  SmallSolver solver;
  CHECK(come_to_rest(stepper, bodies, solver, {}, 1e-6, 5) == 2);
  const auto steps = record_steps(stepper, bodies, solver, {}, 2, "s");
  REQUIRE(steps.size() == 2);
  CHECK(steps[1].name == "s-0001");
  CHECK(steps[1].reference->gamma[0] == Approx(2));
  CHECK(steps[1].guesses.at("previous").gamma[0] == Approx(2));
  check_parts(error_of([&] {
                Bodies falling = one_sphere(90, {0, 0, 0});
                come_to_rest(stepper, falling, solver, {}, 1e-6, 3);
              }),
              {"not at rest after 3 steps", "3 m/s"});
  class Diverges : public StepSolver {
    void solve(const ContactProblem&, const StepAccuracy&, std::vector<double>& gamma) override {
      gamma[0] = std::nan("");
    }
  } diverges;
  check_parts(error_of([&] { record_steps(stepper, bodies, diverges, {}, 1, "s"); }),
              {"s, step 0", "diverged"});
}

// ---- among spheres that do not move, in a world that repeats
// -------------------------------------

TEST_CASE("a sphere falls onto one that is held as it does onto the ground") {
  // 0.2 m above the held one at -4 m/s, as in the test with the ground.
  Bodies bodies = sphere_bodies({{0, 0, 3.2}, {0, 0, -4}, {1}, {2}}, false);
  Surroundings around;
  around.held = {{0, 0, 1}, {0, 0, 0}, {1}, {7}};
  ShakeAmong stepper(shake_options(), around);
  SmallSolver solver;
  const Step step = stepper.step(bodies, solver, {});
  REQUIRE(step.problem.contacts() == 1);  // the held one's with the ground is no contact
  CHECK_NOTHROW(step.problem.validate("step"));
  CHECK(step.problem.bodies() == 1);
  CHECK(step.problem.contact_bodies == std::vector<std::int32_t>{-1, 0});
  CHECK(step.problem.r[0] == Approx(-4 - 1 + 2));
  CHECK(step.gamma[0] == Approx(2 * 3));
  CHECK(bodies.position[2] == Approx(3));
  stepper.step(bodies, solver, {});
  CHECK(solver.start[0] == 0);  // not warm
  CHECK(std::abs(bodies.velocity[2]) < 1e-14);
}

TEST_CASE("spheres meet across the border of a world that repeats") {
  //   | B                     A |      0.2 m apart across the border, 3 m/s each towards it
  //  -5 -3.8                  4 5
  ShakeOptions options = shake_options();
  options.model.gravity = {0, 0, 0};
  options.warm = true;
  Surroundings around;
  around.period = 10;
  around.reach = 4;
  const bool turned = GENERATE(false, true);  // B before A: the sides of the contact change
  Bodies bodies =
      turned ? sphere_bodies({{-3.8, 0, 9, 4, 0, 9}, {-3, 0, 0, 3, 0, 0}, {1, 1}, {2, 2}}, false)
             : sphere_bodies({{4, 0, 9, -3.8, 0, 9}, {3, 0, 0, -3, 0, 0}, {1, 1}, {2, 2}}, false);
  const std::size_t a = turned ? 1 : 0, b = 1 - a;
  ShakeAmong stepper(options, around);
  SmallSolver solver;
  const Step step = stepper.step(bodies, solver, {});
  REQUIRE(step.problem.contacts() == 1);
  CHECK(step.problem.bodies() == 2);
  CHECK(step.problem.gap[0] == Approx(0.2));
  CHECK(step.problem.r[0] == Approx(-6 + 2));
  CHECK(step.gamma[0] == Approx(4));  // 4 m/s over 1/2 + 1/2 kg^-1
  CHECK(bodies.velocity[3 * a] == Approx(1));
  CHECK(bodies.velocity[3 * b] == Approx(-1));
  CHECK(bodies.position[3 * a] == Approx(4.1));
  CHECK(bodies.position[3 * b] == Approx(-3.9));
  const Step next = stepper.step(bodies, solver, {});
  CHECK(next.problem.identity == step.problem.identity);
  CHECK(solver.start[0] > 0);  // the impulse of the step before is found again
  CHECK(std::abs(momentum(bodies, 0)) < 1e-13);
}

TEST_CASE("who leaves a world that repeats comes back on the other side") {
  Bodies bodies = sphere_bodies({{4.95, -4.95, 9}, {1, -1, 0}, {1}, {2}}, false);
  Surroundings around;
  around.period = 10;
  around.reach = 4;
  ShakeAmong stepper(shake_options(), around);
  SmallSolver solver;
  stepper.step(bodies, solver, {});
  CHECK(bodies.position[0] == Approx(-4.95));
  CHECK(bodies.position[1] == Approx(4.95));
}

TEST_CASE("a held sphere is met across the border once, whoever is listed first") {
  Surroundings around;
  around.held = {{4, 0, 5}, {0, 0, 0}, {1}, {7}};
  around.period = 10;
  around.reach = 4;
  ShakeAmong stepper(shake_options(), around);
  const ContactProblem step =
      stepper.problem(sphere_bodies({{-3.8, 0, 5}, {0, 0, 0}, {1}, {2}}, false));
  REQUIRE(step.contacts() == 1);
  CHECK(step.contact_bodies == std::vector<std::int32_t>{-1, 0});
  CHECK(step.frame[0] == Approx(1));  // from the held one, at -6, to the other
  CHECK(step.gap[0] == Approx(0.2));
}

TEST_CASE("a world in which a pair could meet twice is refused") {
  Surroundings around;
  around.period = 7;
  around.reach = 4;
  check_parts(error_of([&] { ShakeAmong(shake_options(), around); }),
              {"a world that repeats", "period", ">= 8 m", "7 m"});
}
