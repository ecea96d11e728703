// Schemes on general bodies: what they conserve, and motions that are known exactly.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "problems/base/pi.hpp"
#include "problems/dynamics/energy.hpp"
#include "problems/dynamics/stepper_table.hpp"
#include "problems/dynamics/steppers/spook.hpp"
#include "problems/scenes/scene_table.hpp"
#include "tests/small_solver.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

const Shape plane{"plane", {}};
constexpr double g = 9.81;  // m/s^2

Shape sphere(double radius) {
  return {"sphere", {radius}};
}

/// A ball on a plane through the origin, at a height of its lowest point.
Bodies ball_on_plane(BodyKind kind, double radius, double mass, double height, double inertia) {
  Bodies bodies;
  bodies.add(sphere(radius), kind, mass, {inertia, inertia, inertia});
  bodies.position[2] = radius + height;
  bodies.obstacles.push_back({plane, {}, {}, {}});
  return bodies;
}

/// Makes steps. @return the last one
Step run(const std::string& stepper, const StepModel& model, Bodies& bodies, int steps) {
  SmallSolver solver;
  const std::unique_ptr<Stepper> scheme = make_stepper(stepper, model);
  Step last;
  for (int k = 0; k < steps; ++k) last = scheme->step(bodies, solver, {});
  return last;
}

Vec3 angular_momentum(const Bodies& bodies) {
  Vec3 sum;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    const Vec3 v{bodies.velocity[3 * i], bodies.velocity[3 * i + 1], bodies.velocity[3 * i + 2]};
    const Vec3 w{bodies.angular_velocity[3 * i], bodies.angular_velocity[3 * i + 1],
                 bodies.angular_velocity[3 * i + 2]};
    sum = sum + bodies.mass[i] * cross(bodies.placed_at(i), v) +
          momentum_from(bodies, i, bodies.turned(i), w);
  }
  return sum;
}

}  // namespace

// ---- rotation ----------------------------------------------------------------------------------

//  A top with moments 1, 2, 3 that tumbles about its middle axis, where it is unstable.
TEST_CASE("free top: energy to 1e-3 over 10 s, angular momentum to rounding, second order") {
  for (const char* scheme : {"shake", "moreau", "rattle"}) {
    INFO(scheme);
    double error[2];
    for (int halving = 0; halving < 2; ++halving) {
      StepModel model;
      model.dt = 5e-3 / (1 << halving);
      model.gravity = {};
      Bodies bodies;
      bodies.add(sphere(0.1), BodyKind::rigid, 1, {1, 2, 3});
      bodies.angular_velocity = {0.05, 5, 0.1};
      const double before = energy_of(bodies, {}).kinetic;
      const Vec3 momentum = angular_momentum(bodies);
      double worst = 0;
      SmallSolver solver;
      const auto stepper = make_stepper(scheme, model);
      for (int k = 0; k < 2000 << halving; ++k) {
        stepper->step(bodies, solver, {});
        worst = std::max(worst, std::abs(energy_of(bodies, {}).kinetic / before - 1));
      }
      error[halving] = worst;
      CHECK(norm(angular_momentum(bodies) - momentum) < 1e-11 * norm(momentum));
      CHECK(std::abs(norm(bodies.turned(0)) - 1) < 1e-14);
    }
    CHECK(error[0] < 1e-3);
    CHECK(error[0] > 3.5 * error[1]);
  }
}

//  Two balls that meet off their line of centres, with friction, far from anything.
TEST_CASE("what two bodies exchange keeps momentum and angular momentum") {
  for (const char* scheme :
       {"shake", "relaxation[theta=0.5]", "moreau", "rattle", "spook", "dem"}) {
    INFO(scheme);
    Bodies bodies;
    for (const double mass : {1.0, 3.0}) {
      bodies.add(sphere(1), BodyKind::rigid, mass, {0.4 * mass, 0.4 * mass, 0.4 * mass});
    }
    bodies.position = {0, 0, 0, 1.9, 0.4, 0.3};
    bodies.velocity = {3, 0, 0, -1, 0.5, 0};
    bodies.angular_velocity = {1, 2, 3, 0, -1, 0.5};
    const Vec3 before = angular_momentum(bodies);
    StepModel model;
    model.dt = 1e-3;
    model.gravity = {};
    model.hertz.young = 1e5;
    model.restitution = 0.3;
    const Step last = run(scheme, model, bodies, 20);
    CHECK(std::abs(bodies.velocity[0] - 3) > 0.1);
    CHECK(bodies.velocity[0] + 3 * bodies.velocity[3] == Approx(0).margin(1e-12));
    CHECK(bodies.velocity[1] + 3 * bodies.velocity[4] == Approx(1.5));
    CHECK(norm(angular_momentum(bodies) - before) < 1e-12);
  }
}

// ---- exact motions -----------------------------------------------------------------------------

//  1 kg at -V m/s, the ground at a distance q < h V: shake stops it in two steps, rattle in one.
TEST_CASE("impulses at every phase of the step: shake's by formula, rattle's exact") {
  constexpr double speed = 2, h = 0.1;
  StepModel model;
  model.dt = h;
  model.gravity = {};
  for (int phase = 1; phase < 20; ++phase) {
    const double part = phase / 20.0;  // q = part h V
    for (const bool rattle : {false, true}) {
      Bodies bodies = ball_on_plane(BodyKind::non_rotating, 0.1, 1, part * h * speed, 1);
      bodies.velocity = {0, 0, -speed};
      SmallSolver solver;
      const auto stepper = make_stepper(rattle ? "rattle" : "shake", model);
      const Step first = stepper->step(bodies, solver, {});
      const Step second = stepper->step(bodies, solver, {});
      // What the ground takes is the reported impulse, of all stages.
      CHECK(std::abs(-first.obstacle_impulse[2] - (rattle ? speed : speed * (1 - part))) < 1e-12);
      CHECK(std::abs(-second.obstacle_impulse[2] - (rattle ? 0 : speed * part)) < 1e-12);
      CHECK(std::abs(bodies.velocity[2]) < 1e-12);
      CHECK(std::abs(bodies.position[2] - 0.1) < 1e-12);
    }
  }
}

//  A push that lifts off right after the impact: rattle has v = k/m, shake max(0, -q/h + k/m).
TEST_CASE("a force that lifts off after the impact tells rattle from shake") {
  constexpr double speed = 2, h = 0.1, push = 5;  // k = h push
  StepModel model;
  model.dt = h;
  model.gravity = {};
  for (const bool rattle : {false, true}) {
    Bodies bodies = ball_on_plane(BodyKind::non_rotating, 0.1, 1, 0.03, 1);
    bodies.velocity = {0, 0, -speed};
    SmallSolver solver;
    const auto stepper = make_stepper(rattle ? "rattle" : "shake", model);
    stepper->step(bodies, solver, {});
    model.load = [](const Bodies&, std::vector<double>& load) { load[2] = push; };
    const auto pushed = make_stepper(rattle ? "rattle" : "shake", model);
    pushed->step(bodies, solver, {});
    CHECK(bodies.velocity[2] == Approx(rattle ? h * push : h * push - 0.03 / h));
    model.load = {};
  }
}

//  A solid sphere on a slope of 30 degrees, mu = 0.5 > 2/7 tan: it rolls with 5/7 g sin.
TEST_CASE("a sphere rolls down an incline at 5/7 g sin") {
  const double angle = pi / 6;
  StepModel model;
  model.gravity = {g * std::sin(angle), 0, -g * std::cos(angle)};
  for (const char* scheme : {"shake", "lcp", "lcp[stabilised=false]", "moreau", "rattle"}) {
    INFO(scheme);
    Bodies bodies = ball_on_plane(BodyKind::rigid, 0.2, 3, -1e-9, 0.4 * 3 * 0.04);
    run(scheme, model, bodies, 100);
    const double v = 5.0 / 7 * g * std::sin(angle) * 1.0;
    CHECK(bodies.velocity[0] == Approx(v).epsilon(1e-9));
    CHECK(bodies.angular_velocity[1] * 0.2 == Approx(v).epsilon(1e-9));
    CHECK(std::abs(bodies.position[2] - 0.2) < 2e-9);
    CHECK(bodies.time == Approx(1));
  }
}

//  A disc (1/2 m R^2) dropped with spin slides until it rolls: m R v + I w = I w0, v = w0 R / 3.
TEST_CASE("a disc dropped with spin ends rolling at w0 R / 3") {
  StepModel model;
  model.gravity = {0, 0, -g};
  model.mu = 0.3;
  for (const char* scheme : {"shake", "lcp", "rattle"}) {
    INFO(scheme);
    Bodies bodies = ball_on_plane(BodyKind::planar, 0.5, 2, 0.4, 0.5 * 2 * 0.25);
    bodies.angular_velocity = {0, 12, 0};
    run(scheme, model, bodies, 150);
    CHECK(bodies.velocity[0] == Approx(12 * 0.5 / 3).epsilon(1e-12));
    CHECK(bodies.angular_velocity[1] == Approx(4).epsilon(1e-12));
    CHECK(bodies.position[1] == 0);
    CHECK(bodies.angular_velocity[0] == 0);
  }
}

//  A block at rest on a belt of V m/s slips for V / (mu g), and then goes along.
TEST_CASE("a conveyor takes a block along at mu g") {
  constexpr double belt = 1, mu = 0.25;
  StepModel model;
  model.gravity = {0, 0, -g};
  model.mu = mu;
  for (const char* scheme : {"shake", "lcp", "moreau", "rattle"}) {
    INFO(scheme);
    Bodies bodies = ball_on_plane(BodyKind::non_rotating, 0.1, 2, 0, 1);
    bodies.position[2] -= 1e-12;
    bodies.obstacles[0].belt = {belt, 0, 0};
    const int slipping = static_cast<int>(belt / (mu * g) / model.dt);  // whole steps
    const Step last = run(scheme, model, bodies, slipping);
    CHECK(bodies.velocity[0] == Approx(mu * g * slipping * model.dt).epsilon(1e-12));
    // Friction and weight on the obstacle.
    CHECK(last.obstacle_impulse[0] == Approx(-mu * 2 * g * model.dt));
    CHECK(last.obstacle_impulse[2] == Approx(-2 * g * model.dt));
    run(scheme, model, bodies, 1);
    CHECK(bodies.velocity[0] == Approx(belt).epsilon(1e-12));
    run(scheme, model, bodies, 50);
    CHECK(bodies.velocity[0] == Approx(belt).epsilon(1e-12));
  }
}

//  A block that a contact holds with C slides with g sin - mu (g cos + C / m). (Not with shake: the
//  convex law lifts what slides.)
TEST_CASE("cohesion holds a block on a slope") {
  constexpr double mass = 2, mu = 0.5, angle = 40 * pi / 180;
  StepModel model;
  model.mu = mu;
  model.gravity = {g * std::sin(angle), 0, -g * std::cos(angle)};
  for (const char* scheme : {"lcp", "moreau", "rattle"}) {
    for (const double force : {0.0, 4.0, 30.0}) {
      INFO(scheme << ' ' << force);
      model.attraction.force = force;
      Bodies bodies = ball_on_plane(BodyKind::non_rotating, 0.1, mass, -1e-12, 1);
      const Step last = run(scheme, model, bodies, 50);
      const double pressed = mass * g * std::cos(angle) + force;
      const double along = std::max(0.0, g * std::sin(angle) - mu * pressed / mass);
      CHECK(bodies.velocity[0] == Approx(0.5 * along).margin(1e-9));
      CHECK(bodies.position[2] == Approx(0.1).margin(1e-5));
      // The plane takes weight and friction: it is pulled as hard as cohesion presses it.
      CHECK(last.obstacle_impulse[2] ==
            Approx(-mass * g * std::cos(angle) * model.dt).epsilon(1e-6));
    }
  }
}

//  It hangs from a ceiling for C >= m g.
TEST_CASE("cohesion holds a block to a ceiling up to its force") {
  constexpr double mass = 2;
  StepModel model;
  model.gravity = {0, 0, g};
  for (const char* scheme : {"shake", "lcp", "moreau", "rattle"}) {
    for (const double force : {0.99 * mass * g, 1.01 * mass * g}) {
      INFO(scheme << ' ' << force);
      model.attraction.force = force;
      Bodies bodies = ball_on_plane(BodyKind::non_rotating, 0.1, mass, -1e-12, 1);
      const Step last = run(scheme, model, bodies, 50);
      const bool holds = force > mass * g;
      CHECK((std::abs(bodies.velocity[2]) < 1e-9) == holds);
      if (holds) CHECK(last.obstacle_impulse[2] == Approx(mass * g * model.dt));
      if (!holds) CHECK(bodies.velocity[2] > 0.1);
    }
  }
}

//  Two spheres of a pair far from everything: momentum and angular momentum stay.
TEST_CASE("cohesion between bodies keeps momentum, and holds what spins") {
  StepModel model;
  model.gravity = {};
  model.dt = 1e-3;
  Bodies bodies;
  for (const double x : {-0.1, 0.1}) {
    bodies.add(sphere(0.1), BodyKind::rigid, 1, {0.004, 0.004, 0.004});
    bodies.position[bodies.position.size() - 3] = x;
  }
  bodies.velocity = {0, -1, 0, 0, 1, 0};  // about each other, v^2 / r = 10 m/s^2
  const Vec3 before = angular_momentum(bodies);
  for (const double force : {9.0, 11.0}) {
    INFO(force);
    model.attraction = {force, 1e-3};
    Bodies turning = bodies;
    run("shake", model, turning, 500);
    CHECK(norm(angular_momentum(turning) - before) < 1e-12);
    const double apart = norm(turning.placed_at(1) - turning.placed_at(0));
    CHECK((std::abs(apart - 0.2) < 1e-3) == (force > 10));
    CHECK(std::abs(turning.velocity[0] + turning.velocity[3]) < 1e-12);
  }
}

//  A stack of two balls, the lower one 1 cm inside the ground and both inside each other.
TEST_CASE("projection undoes penetrations without touching velocities") {
  StepModel model;
  model.gravity = {0, 0, -g};
  Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, -0.01, 0.008);
  bodies.add(sphere(0.1), BodyKind::rigid, 6, {0.024, 0.024, 0.024});
  bodies.position[3] = 0.03, bodies.position[5] = 0.27;
  Bodies unprojected = bodies;
  run("lcp[stabilised=false]", model, unprojected, 1);
  CHECK(unprojected.position[2] < 0.1 - 9e-3);
  run("lcp[stabilised=false,project=true]", model, bodies, 1);
  CHECK(bodies.velocity == unprojected.velocity);
  CHECK(bodies.position[2] > 0.1 - 1e-8);
  CHECK(norm(bodies.placed_at(1) - bodies.placed_at(0)) > 0.2 - 1e-8);
  CHECK(bodies.position[5] < 0.31);
}

TEST_CASE("friction of a contact is that of its smoothest part") {
  StepModel model;
  model.mu = 0.5;
  Bodies bodies = ball_on_plane(BodyKind::non_rotating, 0.1, 2, 0, 1);
  const auto mu = [&] { return make_stepper("shake", model)->problem(bodies).mu.at(0); };
  CHECK(mu() == 0.5);
  bodies.obstacles[0].mu = 0.1;
  CHECK(mu() == 0.1);
  bodies.mu[0] = 0;
  CHECK(mu() == 0);
}

//  Restitution: the rebound of one impact is e V whatever its phase is, with all schemes.
TEST_CASE("impacts with restitution leave at e times the speed they came with") {
  StepModel model;
  model.gravity = {};
  model.restitution = 0.8;
  model.dt = 0.01;
  for (const char* scheme : {"shake", "lcp", "moreau", "rattle"}) {
    for (const double height : {0.021, 0.034, 0.0457}) {
      INFO(scheme << " from " << height);
      Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, height, 0.008);
      bodies.velocity = {0, 0, -2};
      run(scheme, model, bodies, 10);
      CHECK(bodies.velocity[2] == Approx(1.6).epsilon(1e-12));
    }
  }
  // What is slower than impact_speed does not bounce.
  model.impact_speed = 3;
  Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, 0.021, 0.008);
  bodies.velocity = {0, 0, -2};
  run("lcp", model, bodies, 10);
  CHECK(std::abs(bodies.velocity[2]) < 1e-12);
}

// ---- impacts of elastic bodies, servo walls ----------------------------------------------------

TEST_CASE("impact stage: two equal spheres leave at e u, slow ones do not bounce") {
  StepModel model;
  model.gravity = {};
  model.dt = 5e-3;
  model.restitution = 0.18;
  model.impact_speed = 0.05;
  model.hertz.young = 6e6;
  const SpookStepper stepper(model);
  for (const double speed : {1.0, 0.04}) {
    Bodies bodies;
    for (const double x : {0.0, 0.013}) {
      const std::size_t i = bodies.add(sphere(0.0065), BodyKind::rigid, 4e-3, {7e-8, 7e-8, 7e-8});
      bodies.position[3 * i] = x;
    }
    bodies.velocity = {speed / 2, 0, 0, -speed / 2, 0, 0};
    const ContactProblem impacts = stepper.impacts(bodies);
    if (speed < model.impact_speed) {
      CHECK(impacts.contacts() == 0);
      // The law without the threshold: u+ = 0.
      StepModel inelastic = model;
      inelastic.impact_speed = 0;
      inelastic.restitution = 0;
      const ContactProblem stop = SpookStepper(inelastic).impacts(bodies);
      std::vector<double> gamma(3, 0.0);
      SmallSolver().solve(stop, {}, gamma);
      const std::vector<double> change = changes_of(bodies, stop, gamma);
      CHECK(bodies.velocity[0] + change[0] == Approx(0).margin(1e-9 * speed));
      continue;
    }
    REQUIRE(impacts.contacts() == 1);
    std::vector<double> gamma(3, 0.0);
    SmallSolver().solve(impacts, {}, gamma);
    const std::vector<double> change = changes_of(bodies, impacts, gamma);
    const double after = (bodies.velocity[3] + change[6]) - (bodies.velocity[0] + change[0]);
    CHECK(after == Approx(0.18 * speed).epsilon(1e-8));
    CHECK(impacts.gap[0] == Approx(0).margin(1e-15));
  }
}

//   | wall -> f    (o)  <- fixed    The force goes through the sphere, whatever axis the wall has.
TEST_CASE("servo wall: forces balance, and it moves along its axis only") {
  for (const Vec3 axis : {Vec3{1, 0, 0}, Vec3{0, 0.6, -0.8}}) {
    constexpr double force = 100, radius = 0.05;
    Bodies bodies;
    bodies.add(sphere(radius), BodyKind::rigid, 0.5, {1e-3, 1e-3, 1e-3});
    bodies.add_wall(plane, 100, axis);
    // A plane whose third axis, out of the solid, is the wall's: half a turn about the mean of
    // both.
    const Vec3 half = Vec3{0, 0, 1} + axis;
    const double size = norm(half);
    const Quaternion q{0, half.x / size, half.y / size, half.z / size};
    const std::size_t wall = 1;
    bodies.orientation = {1, 0, 0, 0, q.w, q.x, q.y, q.z};
    const Vec3 at = (-radius) * axis;
    bodies.position = {0, 0, 0, at.x, at.y, at.z};
    Obstacle fixed{plane, {radius * axis, {}}, {}, {}};
    const Vec3 back = Vec3{0, 0, 1} - axis;
    const double length = norm(back);
    fixed.pose.orientation = {0, back.x / length, back.y / length, back.z / length};
    bodies.obstacles.push_back(fixed);
    StepModel model;
    model.gravity = {};
    model.margin = 1e-3;
    model.load = [&](const Bodies&, std::vector<double>& load) {
      load[6 * wall] = force * axis.x;
      load[6 * wall + 1] = force * axis.y;
      load[6 * wall + 2] = force * axis.z;
    };
    bodies.check("test");
    SmallSolver solver(40000);
    const auto stepper = make_stepper("shake", model);
    const ContactProblem problem = stepper->problem(bodies);
    problem.validate("servo wall");
    REQUIRE(problem.contacts() == 2);
    const Step step = stepper->step(bodies, solver, {});
    const Vec3 taken{step.obstacle_impulse[0], step.obstacle_impulse[1], step.obstacle_impulse[2]};
    CHECK(norm(taken - (force * model.dt) * axis) < 1e-10 * force * model.dt);
    CHECK(step.speed < 1e-10);
    // Without the sphere it accelerates by f / m along its axis.
    bodies.position[0] += 5 * axis.x, bodies.position[1] += 5 * axis.y;
    bodies.position[2] += 5 * axis.z;
    bodies.obstacles.clear();
    stepper->step(bodies, solver, {});
    for (int k = 0; k < 3; ++k) {
      const double along = k == 0 ? axis.x : k == 1 ? axis.y : axis.z;
      CHECK(bodies.velocity[3 + k] == Approx(force / 100 * model.dt * along).margin(1e-12));
    }
  }
}

// ---- obstacles ---------------------------------------------------------------------------------

TEST_CASE("an obstacle that moves pushes, and one that jumps is refused") {
  StepModel model;
  model.gravity = {0, 0, -g};
  Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, 0, 0.008);
  bodies.obstacles[0].motion = [](double t) {
    return Pose{{0, 0, 0.5 * t * t}, rotation({0, 0, 0.3 * t})};  // 1 m/s^2 up, and it turns
  };
  const Step last = run("shake", model, bodies, 100);
  CHECK(bodies.position[2] == Approx(0.1 + 0.5));
  CHECK(last.obstacle_impulse[2] == Approx(-2 * (g + 1) * model.dt));
  bodies.obstacles[0].motion = [](double t) { return Pose{{t < 1.005 ? 0 : 0.3, 0, 0.5}, {}}; };
  check_parts(error_of([&] { run("shake", model, bodies, 1); }),
              {"obstacle 0", "motion at 1.00", "without a jump", "0.3 m"});
  bodies.obstacles[0].motion = [](double) { return Pose{{std::nan(""), 0, 0}, {}}; };
  check_parts(error_of([&] { run("shake", model, bodies, 1); }), {"obstacle 0", "finite"});
}

TEST_CASE("a planar body stays in its plane, whatever is left of impulses across it") {
  StepModel model;
  model.gravity = {0, 0, -g};
  for (const char* id : {"shake", "relaxation", "rattle", "moreau"}) {
    CAPTURE(id);
    Bodies bodies = ball_on_plane(BodyKind::planar, 0.1, 2, 0, 0.008);
    const auto stepper = make_stepper(id, model);
    const ContactProblem problem = stepper->problem(bodies);
    REQUIRE(problem.contacts() == 1);
    stepper->finish(bodies, problem, {0.2, 0, 1e-9});  // n, in the plane, across it
    CHECK(bodies.velocity[1] == 0);
    CHECK(bodies.position[1] == 0);
  }
}

TEST_CASE("neither rounding nor turning round is a jump of an obstacle") {
  StepModel model;
  model.gravity = {};
  Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, 0, 1);
  const auto moves = [&](const std::function<Pose(double)>& motion) {
    bodies.obstacles[0].motion = motion;
    CHECK_NOTHROW(run("shake", model, bodies, 1));
  };
  // On its side, and at a place with digits: conjugates and differences leave 1e-17.
  moves([](double) { return Pose{{0.1, 0, 0.3}, rotation({0, 1.57, 0})}; });
  // Up and, at the middle of the step but for 1e-9 of it, down again: nearly back at its end.
  const double turn = bodies.time + 0.5 * (1 + 1e-9) * model.dt;
  moves([turn](double t) { return Pose{{0, 0, -3 - std::abs(t - turn)}, {}}; });
}

TEST_CASE("obstacles and features have identities of their own") {
  CHECK(contact_identity({-1, 3, 9, 0, 0, {}, {}}) == pair_identity(3, 9));
  CHECK(contact_identity({0, -1, 9, 0, 0, {}, {}}) == pair_identity(-1, 9));
  std::vector<std::int64_t> seen;
  for (const std::int32_t obstacle : {-1, 0, 1, 5}) {
    for (const std::int32_t feature : {0, 1, 2047}) {
      const std::int32_t a = obstacle < 0 ? 4 : -1;
      const std::int64_t identity = contact_identity({obstacle, a, 9, feature, 0, {}, {}});
      CHECK(obstacle_of(identity) == obstacle);
      CHECK(std::find(seen.begin(), seen.end(), identity) == seen.end());
      seen.push_back(identity);
    }
  }
  check_parts(error_of([] { contact_identity({-1, 1 << 20, 9, 0, 0, {}, {}}); }), {"bodies"});
}

// ---- penalty -----------------------------------------------------------------------------------

TEST_CASE("dem: a ball bounces with its restitution and comes to rest at Hertz's overlap") {
  StepModel model;
  model.gravity = {0, 0, -g};
  model.hertz.young = 1e6;
  model.restitution = 0.6;
  model.dt = 2e-5;
  for (const char* scheme : {"dem", "dem[hertz=false]"}) {
    INFO(scheme);
    Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, 0.001, 0.008);
    bodies.velocity = {0, 0, -2};
    SmallSolver solver;
    const auto stepper = make_stepper(scheme, model);
    double fastest = 0;
    for (int k = 0; k < 3000; ++k) {
      stepper->step(bodies, solver, {});
      fastest = std::max(fastest, bodies.velocity[2]);
    }
    CHECK(solver.calls == 0);
    CHECK(fastest == Approx(1.2).epsilon(0.1));
  }
  // At rest f = k delta^(3/2) carries the weight.
  const double k = hertz_stiffness(model.hertz, 0, 0.1);
  const double overlap = std::pow(2 * g / k, 2.0 / 3);
  Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, -overlap, 0.008);
  const Step step = run("dem", model, bodies, 1);
  CHECK(step.gamma[0] == Approx(2 * g * model.dt));
  CHECK(std::abs(bodies.velocity[2]) < 1e-12);
}

TEST_CASE("dem: friction holds a block on a slope, and a step that is too large is refused") {
  StepModel model;
  model.gravity = {2, 0, -9};
  model.hertz.young = 1e6;
  model.restitution = 0.3;
  model.dt = 1e-4;
  model.mu = 0.3;
  Bodies bodies = ball_on_plane(BodyKind::non_rotating, 0.1, 2, -1e-4, 1);
  run("dem", model, bodies, 20000);
  CHECK(std::abs(bodies.velocity[0]) < 1e-3);
  CHECK(bodies.position[0] < 1e-2);
  model.dt = 0.05;
  check_parts(error_of([&] { run("dem", model, bodies, 1); }),
              {"dem", "time step", "body 0", "at most", "0.05 s"});
}

// ---- going on ----------------------------------------------------------------------------------

TEST_CASE("a stepper with a restored memory goes on with the same bits") {
  StepModel model;
  model.dt = 1e-3;
  model.hertz.young = 1e5;
  model.restitution = 0.3;
  for (const StepperEntry& entry : stepper_entries()) {
    INFO(entry.id);
    Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, -1e-3, 0.008);
    bodies.add(sphere(0.1), BodyKind::rigid, 2, {0.008, 0.008, 0.008});
    bodies.position[3] = 0.05, bodies.position[5] = 0.28;
    SmallSolver solver(7);  // so that the start shows
    const auto first = make_stepper(entry.id, model);
    for (int k = 0; k < 10; ++k) first->step(bodies, solver, {});
    const StepperMemory memory = first->save();
    Bodies again = bodies;
    const auto second = make_stepper(entry.id, model);
    second->restore(memory);
    const StepStart start{entry.solves ? "previous" : "", 1};
    for (int k = 0; k < 10; ++k) {
      first->step(bodies, solver, {}, start);
      second->step(again, solver, {}, start);
    }
    CHECK(bodies.position == again.position);
    CHECK(bodies.angular_velocity == again.angular_velocity);
  }
}

TEST_CASE("steppers that there are not, models and bodies that cannot be") {
  StepModel model;
  check_parts(error_of([&] { make_stepper("shak", model); }), {"unknown stepper", "'shake'"});
  check_parts(error_of([&] { make_stepper("lcp[theta=0]", model); }), {"stepper lcp", "theta"});
  check_parts(error_of([&] { make_stepper("lcp[thet=1]", model); }), {"'thet'", "'theta'"});
  check_parts(error_of([&] { make_stepper("spook", model); }), {"spook", "Young's modulus"});
  check_parts(error_of([&] { make_stepper("dem", model); }), {"dem", "Young's modulus"});
  model.dt = 0;
  check_parts(error_of([&] { make_stepper("shake", model); }), {"option dt", "> 0"});
  Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, 0, 0.008);
  bodies.orientation = {1, 0, 0, 0.1};
  check_parts(error_of([&] { bodies.check("scene x"); }),
              {"scene x", "body 0", "unit quaternion", "1.00"});
  bodies.orientation = {1, 0, 0, 0};
  bodies.inertia[1] = 0;
  check_parts(error_of([&] { bodies.check("scene x"); }), {"moments of inertia > 0"});
  bodies.kind[0] = BodyKind::non_rotating;
  CHECK_NOTHROW(bodies.check("scene x"));
  bodies.mass[0] = 0;
  check_parts(error_of([&] { bodies.check("scene x"); }), {"body 0", "a mass > 0"});
}

// ---- the lagged fixed point (Anitescu slides, table of the sliding particle) -------------------

namespace {

/// One contact of one body that does not rotate, N = 1/m: both laws in closed form.
class OneContact : public StepSolver {
 public:
  explicit OneContact(bool coulomb) : coulomb_(coulomb) {}
  void solve(const ContactProblem& p, const StepAccuracy&, std::vector<double>& gamma) override {
    const double mass = 1 / p.inverse_mass[0], mu = p.mu[0];
    const Vec3 z{-mass * p.r[0], -mass * p.r[1], -mass * p.r[2]};  // gamma without cones
    const double tangent = std::hypot(z.y, z.z);
    double n = std::max(0.0, z.x);
    if (!coulomb_ && tangent > mu * z.x) n = std::max(0.0, (z.x + mu * tangent) / (1 + mu * mu));
    const double held = tangent > mu * n ? mu * n / tangent : 1;
    gamma = {n, held * z.y, held * z.z};
  }

 private:
  bool coulomb_;
};

/// x and z after every step.
std::vector<double> slide(const std::string& stepper, bool coulomb, double mu, int k) {
  StepModel model;
  model.gravity = {0, 0, -9.81};
  model.mu = mu;
  model.dt = 0.1 / (1 << k);
  Bodies bodies = ball_on_plane(BodyKind::non_rotating, 1, 1, 0, 1);
  bodies.velocity = {8, 0, 0};
  OneContact solver(coulomb);
  const auto scheme = make_stepper(stepper, model);
  std::vector<double> path;
  for (int step = 0; step < 40 << k; ++step) {
    scheme->step(bodies, solver, {});
    path.insert(path.end(), {bodies.position[0], bodies.position[2]});
  }
  return path;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("sliding particle: the lagged scheme is of order 1.5 to Coulomb's LCP") {
  const std::vector<double> table[2] = {
      {4.89e-2, 1.73e-2, 6.12e-3, 2.16e-3, 7.65e-4, 2.71e-4, 9.57e-5, 3.38e-5},
      {3.21e-1, 1.13e-1, 3.99e-2, 1.41e-2, 4.98e-3, 1.76e-3, 6.23e-4, 2.20e-4}};
  for (int row = 0; row < 2; ++row) {
    const double mu = row == 0 ? 0.3 : 0.75;
    for (int k = 0; k < 8; ++k) {
      INFO("mu " << mu << ", h = 0.1/2^" << k);
      const std::vector<double> exact = slide("lcp", true, mu, k);
      CHECK(distance(slide("relaxation[lagged=true]", false, mu, k), exact) ==
            Approx(table[row][static_cast<std::size_t>(k)]).epsilon(0.01));
      // Plain, it does not converge in this norm.
      if (k > 0) CHECK(distance(slide("relaxation", false, mu, k), exact) > 0.1);
    }
  }
}

// ---- rods, ellipses, drums ---------------------------------------------------------------------

namespace {

/// A scene with options, moved by its stepper or another one.
struct Moved {
  Moved(const char* id, const std::vector<std::pair<std::string, std::string>>& options)
      : scene(find_scene(id).make()) {
    OptionList list = scene->options();
    for (const auto& [name, value] : options) list.set(name, value);
    setup = scene->setup();
  }
  /// @param watch  called after every step
  void run(const std::string& stepper, double until, const std::function<void()>& watch = {}) {
    SmallSolver solver(2000);
    const auto scheme = make_stepper(stepper, setup.model);
    while (setup.bodies.time < until - 1e-9) {
      scheme->step(setup.bodies, solver, {});
      if (watch) watch();
    }
  }
  std::unique_ptr<Scene> scene;
  SceneSetup setup;
};

/// m, the deepest of all.
double penetration(const Bodies& bodies) {
  double deepest = 0;
  for (const BodyContact& c : find_body_contacts(bodies, 0, 0)) {
    deepest = std::max(deepest, -c.gap);
  }
  return deepest;
}

/// m, over 20 s of the falling ellipse.
double infeasibility(const std::string& stepper, double dt) {
  Moved ellipse("falling-ellipse", {{"dt", number_text(dt)}});
  double worst = 0;
  ellipse.run(stepper, 20, [&] { worst = std::max(worst, penetration(ellipse.setup.bodies)); });
  return worst;
}

}  // namespace

//  N = [[2.52786, -4.70228], [-4.70228, 15.47214]]/m: sliding has no solution, an impulse stops it.
TEST_CASE("Painleve's rod: the impulse of the paradox") {
  Moved rod("painleve-rod", {});
  const auto stepper = make_stepper("lcp", rod.setup.model);
  const ContactProblem problem = stepper->problem(rod.setup.bodies);
  const std::vector<double> n = dense_delassus(problem);
  REQUIRE(problem.contacts() >= 1);
  std::size_t end = 0;  // the lower one
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    if (problem.gap[c] < problem.gap[end]) end = c;
  }
  const std::size_t size = 3 * problem.contacts(), at = 3 * end;
  CHECK(n[at * size + at] == Approx(2.52786).epsilon(1e-5));
  CHECK(n[at * size + at + 1] == Approx(-4.70228).epsilon(1e-5));
  CHECK(n[(at + 1) * size + at + 1] == Approx(15.47214).epsilon(1e-5));
  CHECK(n[at * size + at] + 0.75 * n[at * size + at + 1] == Approx(-0.99885).epsilon(1e-5));
  rod.run("lcp", rod.setup.until);
  const SceneValues values = rod.setup.values(rod.setup.bodies);
  CHECK(values[0].second == Approx(0.285533).epsilon(1e-5));
  CHECK(values[1].second == Approx(0.151411).epsilon(1e-5));
  CHECK(values[2].second == Approx(0.892259).epsilon(1e-5));
  // Without weight: .276605, .148698, omega .895112, v (-.851302, .276605), to 1e-6.
  Moved light("painleve-rod", {{"gravity", "0"}});
  light.run("lcp", light.setup.until);
  const SceneValues pure = light.setup.values(light.setup.bodies);
  CHECK(std::abs(pure[0].second - 0.276605) < 1e-6);
  CHECK(std::abs(pure[1].second - 0.148698) < 1e-6);
  CHECK(std::abs(pure[2].second - 0.895112) < 1e-6);
  CHECK(std::abs(pure[3].second + 0.851302) < 1e-6);
  CHECK(std::abs(pure[4].second - 0.276605) < 1e-6);
}

TEST_CASE("falling ellipse: infeasibility is O(h) without gaps in r, and O(h^2) with them") {
  const double plain[3] = {infeasibility("lcp[stabilised=false]", 0.1),
                           infeasibility("lcp[stabilised=false]", 0.05),
                           infeasibility("lcp[stabilised=false]", 0.025)};
  const double held[3] = {infeasibility("lcp", 0.1), infeasibility("lcp", 0.05),
                          infeasibility("lcp", 0.025)};
  for (int k = 0; k < 3; ++k) {
    UNSCOPED_INFO("h = 0.1/2^" << k << ": " << plain[k] << " m without, " << held[k] << " m with");
  }
  const double order_plain = std::log2(plain[0] / plain[2]) / 2;
  const double order_held = std::log2(held[0] / held[2]) / 2;
  CHECK(order_plain > 0.6);
  CHECK(order_plain < 1.5);
  CHECK(order_held > 1.6);
  CHECK(held[2] < 0.1 * plain[2]);
  CHECK(infeasibility("lcp[stabilised=false,project=true]", 0.1) < 2e-8);
}

//  Sliding, the ball swings about the angle of friction by the way its speed takes it.
TEST_CASE("a ball that cannot turn climbs a drum to the angle of friction") {
  Moved drum("drum-ball", {{"spin", "0.05"}});
  double highest = 0;
  const double angle = std::atan(0.4), reach = 0.26 - 0.0065;
  const double swing = 0.05 * 0.26 / std::sqrt(9.81 * std::cos(angle) * reach);
  drum.run("shake", 15, [&] {
    const Bodies& bodies = drum.setup.bodies;
    highest = std::max(highest, std::atan2(std::abs(bodies.position[0]), -bodies.position[2]));
  });
  CHECK(highest < angle + 1.2 * swing);
  CHECK(highest > angle - 0.2 * swing);
}

// ---- starts of Wang 2016
// -------------------------------------------------------------------------

//  A ball of 2 kg that lies, pulled sideways by less than friction holds: per step (W, -P, 0) N s.
TEST_CASE("starts: history, its normals only, and without the change of velocities") {
  constexpr double h = 0.01, mass = 2, weight = mass * 10 * h, pull = 3 * h;
  StepModel model;
  model.dt = h;
  model.load = [](const Bodies&, std::vector<double>& load) { load[0] = 3; };
  const auto steps = [&](const StepStart& start, int count, SmallSolver& solver) {
    Bodies bodies = ball_on_plane(BodyKind::non_rotating, 0.1, mass, 0, 1);
    const auto stepper = make_stepper("shake", model);
    Step last;
    for (int k = 0; k < count; ++k) last = stepper->step(bodies, solver, {}, start);
    CHECK(std::abs(bodies.velocity[0]) < 1e-14);
    CHECK(std::abs(bodies.velocity[2]) < 1e-14);
    CHECK(last.gamma[0] == Approx(weight));  // what acted, whatever the start
    return solver.start;
  };
  SmallSolver solver;
  CHECK(steps({}, 2, solver) == std::vector<double>{0, 0, 0});
  const StepStart history{"previous", 0.85};
  std::vector<double> start = steps(history, 2, solver);
  CHECK(start[0] == Approx(0.85 * weight));
  CHECK(std::hypot(start[1], start[2]) == Approx(0.85 * pull));
  StepStart normals = history;
  normals.normals_only = true;
  start = steps(normals, 2, solver);
  CHECK(start[0] == Approx(0.85 * weight));
  CHECK(std::hypot(start[1], start[2]) == 0);
  // The solver does not see that its start holds the ball: multipliers grow by a weight a step.
  StepStart apart = history;
  apart.moves_bodies = false;
  start = steps(apart, 3, solver);
  CHECK(start[0] == Approx(0.85 * 1.85 * weight));
}

//  A ball that slides and turns over the ground, pressed into it by 0.1 mm.
TEST_CASE("start by the model: Hertz's law, friction and rolling as viscous forces, clamped") {
  StepModel model;
  model.dt = 1e-3;
  model.mu = 0.4;
  model.rolling = 0.2;
  model.hertz.young = 1e6;
  for (const double speed : {1e-12, 1.0}) {
    Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, -1e-4, 0.008);
    bodies.velocity = {speed, 0, 0};
    bodies.angular_velocity = {0, 0, 5 * speed};
    const ContactProblem problem = make_stepper("spook", model)->problem(bodies);
    REQUIRE(problem.rolling.size() == 1);
    const std::vector<double>& guess = problem.guesses.at("model").gamma;
    const double normal = 1e-3 * hertz_stiffness(model.hertz, 0, 0.1) * std::pow(1e-4, 1.5);
    CHECK(guess[0] == Approx(normal));
    const double friction = std::hypot(guess[1], guess[2]);
    const double moment = norm(Vec3{guess[3], guess[4], guess[5]});
    CHECK(friction == Approx(std::min(speed * 1e-3 / 1e-6, 0.4 * normal)));
    CHECK(moment == Approx(std::min(5 * speed * 1e-3 / 1e-6, 0.2 * 0.1 * normal)));
    CHECK(guess[3] < 0);  // against the spin about the normal
  }
}

//  Its rolling triple has two rows, so that no moment acts about the normal, whatever solves it.
TEST_CASE("without twisting resistance a ball keeps its spin about the normal") {
  StepModel model;
  model.gravity = {0, 0, -g};
  model.rolling = 0.2;
  model.hertz.young = 1e6;
  model.twisting = false;
  for (const char* scheme : {"shake", "rattle", "moreau", "spook"}) {
    INFO(scheme);
    Bodies bodies = ball_on_plane(BodyKind::rigid, 0.1, 2, 0, 0.008);
    bodies.angular_velocity = {0, 0, 5};
    const ContactProblem problem = make_stepper(scheme, model)->problem(bodies);
    REQUIRE(problem.rolling.rows == std::vector<std::int32_t>{2});
    problem.validate(scheme);
    run(scheme, model, bodies, 20);
    CHECK(bodies.angular_velocity[2] == 5);
  }
}
