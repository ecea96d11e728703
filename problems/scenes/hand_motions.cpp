#include "problems/scenes/hand_motions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/dynamics/energy.hpp"
#include "problems/geometry/shape_table.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;

const Shape plane{"plane", {}};

Shape sphere(double radius) {
  return {"sphere", {radius}};
}
double solid_sphere(double mass, double radius) {
  return 0.4 * mass * radius * radius;
}
Vec3 velocity_of(const Bodies& bodies) {
  return {bodies.velocity[0], bodies.velocity[1], bodies.velocity[2]};
}

//    (o)  height of its lowest point
//     |
//  -------
struct BouncingBall {
  StepModel model;
  double gravity = 10, height = 1, radius = 0.1, mass = 1, speed = 0, until = 3;
  BouncingBall() { model.dt = 0.0125; }

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("restitution", model.restitution, {0, 1}, "Newton's coefficient of restitution")
        .number("height", height, Range::at_least(0), "Of the ball's lowest point, m")
        .number("radius", radius, Range::positive(), "Of the ball, m")
        .number("mass", mass, Range::positive(), "Of the ball, kg")
        .number("speed", speed, {}, "Downwards at the start, m/s");
  }
  SceneSetup setup() const {
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    setup.model.impact_speed = 2 * gravity * model.dt;  // slower than that it lies
    const double j = solid_sphere(mass, radius);
    setup.bodies.add(sphere(radius), BodyKind::non_rotating, mass, {j, j, j});
    setup.bodies.position[2] = height + radius;
    setup.bodies.velocity[2] = -speed;
    setup.bodies.obstacles.push_back({plane, {}, {}, {}});
    setup.until = until;
    setup.values = [r = radius](const Bodies& end) -> SceneValues {
      return {{"height", end.position[2] - r}, {"speed", end.velocity[2]}};
    };
    return setup;
  }
};

//  (o)      a = 5/7 g (sin - rolling cos) while it does not slip: mu >= 2/7 tan(slope)
//    \__
struct Incline {
  StepModel model;
  double gravity = 9.81, slope = 30, radius = 0.1, mass = 1;

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("rolling", model.rolling, Range::at_least(0), "Coefficient of rolling resistance")
        .number("slope", slope, {-90, 90, true, true}, "By which the plane falls along x, degrees")
        .number("radius", radius, Range::positive(), "Of the sphere, m")
        .number("mass", mass, Range::positive(), "Of the sphere, kg");
  }
  SceneSetup setup() const {
    SceneSetup setup;
    setup.model = model;
    const double angle = slope * pi / 180;
    setup.model.gravity = {gravity * std::sin(angle), 0, -gravity * std::cos(angle)};
    const double j = solid_sphere(mass, radius);
    setup.bodies.add(sphere(radius), BodyKind::rigid, mass, {j, j, j});
    setup.bodies.position[2] = radius;
    setup.bodies.obstacles.push_back({plane, {}, {}, {}});
    // It stays where it is for rolling >= tan(slope).
    const double driving = std::abs(std::sin(angle)) - model.rolling * std::cos(angle);
    const double rolling = 5.0 / 7 * gravity * std::copysign(std::max(0.0, driving), angle);
    setup.values = [rolling, r = radius](const Bodies& end) -> SceneValues {
      return {{"speed", end.velocity[0]},
              {"spin_times_radius", end.angular_velocity[1] * r},
              {"acceleration", end.velocity[0] / end.time},
              {"rolling_acceleration", rolling}};
    };
    return setup;
  }
};

//   (o)      turns about the normal, which stops as dw/dt = -rolling radius m g / I
//  -----
struct SpinningBall {
  StepModel model;
  double gravity = 9.81, radius = 0.1, mass = 1, spin = 20;
  SpinningBall() { model.rolling = 0.05; }

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("rolling", model.rolling, Range::at_least(0), "Coefficient of rolling resistance")
        .number("radius", radius, Range::positive(), "Of the ball, m")
        .number("mass", mass, Range::positive(), "Of the ball, kg")
        .number("spin", spin, {}, "At the start, rad/s");
  }
  SceneSetup setup() const {
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    const double j = solid_sphere(mass, radius);
    setup.bodies.add(sphere(radius), BodyKind::rigid, mass, {j, j, j});
    setup.bodies.position[2] = radius;
    setup.bodies.angular_velocity[2] = spin;
    setup.bodies.obstacles.push_back({plane, {}, {}, {}});
    const double decay = model.rolling * radius * mass * gravity / j;
    setup.values = [decay, w = spin](const Bodies& end) -> SceneValues {
      const double left = std::max(0.0, std::abs(w) - decay * end.time);
      return {{"spin", end.angular_velocity[2]}, {"spin_by_hand", std::copysign(left, w)}};
    };
    return setup;
  }
};

//   [ ]       slips for V / (mu g), and has gone V^2 / (2 mu g) by then
//  =======>  V
struct Conveyor {
  StepModel model;
  double gravity = 9.81, belt = 1, mass = 1;
  Conveyor() { model.mu = 0.25; }

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("belt", belt, {}, "Speed of the belt along x, m/s")
        .number("mass", mass, Range::positive(), "Of the block, kg");
  }
  SceneSetup setup() const {
    constexpr double size = 0.1;
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    setup.bodies.add(sphere(size), BodyKind::non_rotating, mass, {1, 1, 1});
    setup.bodies.position[2] = size;
    setup.bodies.obstacles.push_back({plane, {}, {}, {belt, 0, 0}});
    const double slips = model.mu * gravity > 0 ? std::abs(belt) / (model.mu * gravity) : 0;
    setup.until = std::max(1.0, 2 * slips);
    setup.values = [slips](const Bodies& end) -> SceneValues {
      return {{"speed", end.velocity[0]}, {"distance", end.position[0]}, {"slip_time", slips}};
    };
    return setup;
  }
};

//   [ ]       a block that its contact holds with C: it slides with g sin - mu (g cos + C / m), and
//  -----      comes off a ceiling (slope > 90) where C < -m g cos
struct CohesiveBlock {
  StepModel model;
  double gravity = 9.81, slope = 40, mass = 1;
  CohesiveBlock() { model.attraction.force = 5; }

  OptionList list(OptionList list) {
    common_options(list, model, gravity)
        .number("slope", slope, {0, 180}, "By which the plane falls along x, degrees")
        .number("mass", mass, Range::positive(), "Of the block, kg");
    return add_attraction_options(list, model.attraction);
  }
  SceneSetup setup() const {
    constexpr double size = 0.1;
    SceneSetup setup;
    setup.model = model;
    const double angle = slope * pi / 180;
    setup.model.gravity = {gravity * std::sin(angle), 0, -gravity * std::cos(angle)};
    setup.bodies.add(sphere(size), BodyKind::non_rotating, mass, {1, 1, 1});
    setup.bodies.position[2] = size;
    setup.bodies.obstacles.push_back({plane, {}, {}, {}});
    const double pressed = gravity * std::cos(angle) + model.attraction.force / mass;
    const double along = gravity * std::sin(angle) - model.mu * std::max(0.0, pressed);
    setup.values = [size, along](const Bodies& end) -> SceneValues {
      return {{"speed", end.velocity[0]},
              {"off", end.position[2] - size},
              {"acceleration", end.velocity[0] / end.time},
              {"acceleration_by_hand", std::max(0.0, along)}};
    };
    return setup;
  }
};

//  o -> v      stops after v / (mu g)
// ---------
struct SlidingParticle {
  StepModel model;
  double gravity = 9.81, speed = 8, height = 0;
  SlidingParticle() {
    model.dt = 0.1;
    model.mu = 0.3;
  }

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("speed", speed, {}, "Along x at the start, m/s")
        .number("height", height, Range::at_least(0), "Above the ground at the start, m");
  }
  SceneSetup setup() const {
    constexpr double radius = 1;  // of no consequence: it does not rotate
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    setup.bodies.add(sphere(radius), BodyKind::non_rotating, 1, {1, 1, 1});
    setup.bodies.position[2] = radius + height;
    setup.bodies.velocity[0] = speed;
    setup.bodies.obstacles.push_back({plane, {}, {}, {}});
    setup.stepper = "lcp";
    setup.until = 4;
    setup.values = [radius](const Bodies& end) -> SceneValues {
      return {{"distance", end.position[0]},
              {"height", end.position[2] - radius},
              {"speed", norm(velocity_of(end))}};
    };
    return setup;
  }
};

//  A body with three moments of inertia, turning about the middle one.
struct FreeTop {
  StepModel model;
  double a = 1, b = 2, c = 3, spin = 5, wobble = 0.05;
  FreeTop() { model.dt = 5e-3; }

  OptionList list(OptionList list) {
    return list.number("dt", model.dt, Range::positive(), "Time step, s")
        .number("a", a, Range::positive(), "Smallest moment of inertia, kg m^2")
        .number("b", b, Range::positive(), "Middle moment of inertia, kg m^2")
        .number("c", c, Range::positive(), "Largest moment of inertia, kg m^2")
        .number("spin", spin, {}, "About the middle axis at the start, rad/s")
        .number("wobble", wobble, {}, "About the other two, rad/s");
  }
  SceneSetup setup() const {
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {};
    setup.bodies.add(sphere(0.1), BodyKind::rigid, 1, {a, b, c});
    setup.bodies.angular_velocity = {wobble, spin, wobble};
    setup.until = 10;
    const double before = energy_of(setup.bodies, {}).kinetic;
    const Vec3 start = momentum_from(setup.bodies, 0, {}, {wobble, spin, wobble});
    setup.values = [before, start](const Bodies& end) -> SceneValues {
      const Vec3 w{end.angular_velocity[0], end.angular_velocity[1], end.angular_velocity[2]};
      const Vec3 now = momentum_from(end, 0, end.turned(0), w);
      return {{"energy_error", energy_of(end, {}).kinetic / before - 1},
              {"momentum_error", norm(now - start) / norm(start)}};
    };
    return setup;
  }
};

//       /      a rod that slides into the ground: beyond mu = 0.538 there is no force that stops
//       its
//      / 72°   end, but an impulse
//  <- /
//  -------
struct PainleveRod {
  StepModel model;
  double gravity = 9.81, angle = 72, speed = 1, mass = 1;
  PainleveRod() {
    model.dt = 1e-3;
    model.mu = 0.75;
  }

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("angle", angle, {0, 90, true, true}, "Between ground and rod, degrees")
        .number("speed", speed, {}, "Of the rod along -x at the start, m/s")
        .number("mass", mass, Range::positive(), "Of the rod, kg");
  }
  SceneSetup setup() const {
    constexpr double half = 1;  // m
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    const double j = mass / 16, phi = angle * pi / 180;  // Anitescu slides
    setup.bodies.add({"rod", {half}}, BodyKind::planar, mass, {j, j, j});
    const Quaternion q = rotation({0, -phi, 0});  // the first axis points up and along x
    setup.bodies.orientation = {q.w, q.x, q.y, q.z};
    setup.bodies.position[2] = half * std::sin(phi);
    setup.bodies.velocity[0] = -speed;
    setup.bodies.obstacles.push_back({plane, {}, {}, {}});
    setup.stepper = "lcp";
    setup.solver = "lcp[edges=2]";
    setup.until = model.dt;
    setup.values = [v = velocity_of(setup.bodies), g = gravity,
                    m = mass](const Bodies& end) -> SceneValues {
      const Vec3 now = velocity_of(end);
      return {{"normal_impulse", m * (now.z - v.z + g * end.time)},
              {"tangential_impulse", m * (now.x - v.x)},
              {"spin", -end.angular_velocity[1]},
              {"velocity_x", now.x},
              {"velocity_z", now.z}};
    };
    return setup;
  }
};

//   ( = )    an ellipse that is dropped turning: it rolls and hops over its long axis
//  -------
struct FallingEllipse {
  StepModel model;
  double gravity = 9.81, a = 4, b = 2, mass = 1, height = 8, spin = 3;
  FallingEllipse() {
    model.dt = 0.05;
    model.mu = 0.3;
  }

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("a", a, Range::positive(), "Semi-axis that is horizontal at the start, m")
        .number("b", b, Range::positive(), "The other one, m")
        .number("mass", mass, Range::positive(), "kg")
        .number("height", height, Range::positive(), "Of the centre at the start, m")
        .number("spin", spin, {}, "At the start, rad/s");
  }
  SceneSetup setup() const {
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    const double j = mass * (a * a + b * b) / 4;
    setup.bodies.add({"ellipse", {a, b}}, BodyKind::planar, mass, {j, j, j});
    setup.bodies.position[2] = height;
    setup.bodies.angular_velocity[1] = spin;
    setup.bodies.obstacles.push_back({plane, {}, {}, {}});
    setup.stepper = "lcp";
    setup.solver = "lcp[edges=2]";
    setup.until = 20;
    setup.values = [](const Bodies& end) -> SceneValues {
      return {
          {"x", end.position[0]}, {"height", end.position[2]}, {"spin", end.angular_velocity[1]}};
    };
    return setup;
  }
};

//    (   )     a ball that cannot turn, in a drum that does: it climbs to atan(mu) and stays there
//    ( o )
//     ---
struct Drum {
  StepModel model;
  double gravity = 9.81, radius = 0.26, ball = 0.0065, spin = 0.25;
  bool rolls = false;
  Drum() { model.mu = 0.4; }

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("radius", radius, Range::positive(), "Of the drum, inside, m")
        .number("ball", ball, Range::positive(), "Radius of the ball, m")
        .number("spin", spin, {}, "Of the drum about y, rad/s")
        .flag("rolls", rolls, "The ball can turn");
  }
  SceneSetup setup() const {
    if (!(ball < radius)) {
      throw InputError("scene drum-ball", "option ball", fmt::format("less than {} m", radius),
                       fmt::format("{} m", ball));
    }
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    const double mass = 2500 * 4.0 / 3 * pi * ball * ball * ball, j = solid_sphere(mass, ball);
    setup.bodies.add(sphere(ball), rolls ? BodyKind::rigid : BodyKind::non_rotating, mass,
                     {j, j, j});
    setup.bodies.position[2] = ball - radius;
    // The cylinder's axis is its third one: turned onto y.
    const Quaternion lying = rotation({-pi / 2, 0, 0});
    Obstacle drum{{"cylinder_inside", {radius}}, {{}, lying}, {}, {}};
    drum.motion = [lying, w = spin](double t) { return Pose{{}, rotation({0, w * t, 0}) * lying}; };
    setup.bodies.obstacles.push_back(drum);
    setup.until = 10;
    setup.values = [f = model.mu](const Bodies& end) -> SceneValues {
      return {{"angle", std::atan2(std::abs(end.position[0]), -end.position[2]) * 180 / pi},
              {"friction_angle", std::atan(f) * 180 / pi},
              {"speed", norm(velocity_of(end))}};
    };
    return setup;
  }
};

//   <( )>    without gravity: stretched along x, it swings with w^2 = V young / E_0 (poisson 0) and
//            decays as the scheme's damping says
struct VibratingEllipsoid {
  StepModel model;
  double a = 0.1, b = 0.08, c = 0.06, density = 1000, young = 1e5, poisson = 0, damping = 0,
         stretch = 1e-4;
  VibratingEllipsoid() { model.dt = 1e-4; }

  OptionList list(OptionList list) {
    return list.number("dt", model.dt, Range::positive(), "Time step, s")
        .number("a", a, Range::positive(), "Semi-axis along x, m")
        .number("b", b, Range::positive(), "Semi-axis along y, m")
        .number("c", c, Range::positive(), "Semi-axis along z, m")
        .number("density", density, Range::positive(), "kg/m^3")
        .number("young", young, Range::positive(), "Young's modulus, Pa")
        .number("poisson", poisson, {-1, 0.5, true, true}, "Poisson's ratio")
        .number("damping", damping, Range::at_least(0), "eta, s")
        .number("stretch", stretch, {-0.5, 0.5}, "F_xx - 1 at the start");
  }
  SceneSetup setup() const {
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {};
    const Shape shape{"ellipsoid", {a, b, c}};
    const MassProperties mass = mass_properties(shape, density);
    setup.bodies.add(shape, BodyKind::rigid, mass.mass,
                     {mass.inertia[0], mass.inertia[1], mass.inertia[2]});
    setup.bodies.make_pseudo_rigid(0, young, poisson, damping);
    setup.bodies.deformation[0] += stretch;
    setup.stepper = "moreau";
    const Elasticity& body = setup.bodies.elastic[0];
    const double rate = std::sqrt(body.volume * young / body.euler.x);
    setup.until = 10 * 2 * pi / rate;
    setup.values = [rate](const Bodies& end) -> SceneValues {
      return {{"stretch", end.deformation[0] - 1},
              {"stretch_rate", end.deformation_rate[0]},
              {"frequency", rate / (2 * pi)}};
    };
    return setup;
  }
};

}  // namespace

const std::vector<HandMotion>& hand_motions() {
  static const std::vector<HandMotion> rows = {
      motion<BouncingBall>("bouncing-ball", "A ball that drops onto the ground (Kleinert 2017)"),
      motion<Incline>("incline", "A sphere that rolls down a plane"),
      motion<SpinningBall>("spinning-ball", "A ball that spins on the spot (Wang 2016)"),
      motion<Conveyor>("conveyor", "A block at rest that is put onto a moving belt"),
      motion<CohesiveBlock>("cohesive-block", "A block that sticks to a slope or a ceiling"),
      motion<SlidingParticle>("sliding-particle",
                              "A particle that slides to a stop (Anitescu slides)"),
      motion<PainleveRod>("painleve-rod", "A rod that slides into the ground (Anitescu slides)"),
      motion<FallingEllipse>("falling-ellipse", "An ellipse that is dropped (Anitescu slides)"),
      motion<Drum>("drum-ball", "A ball in a drum that turns"),
      motion<VibratingEllipsoid>("vibrating-ellipsoid",
                                 "A pseudo-rigid ellipsoid that swings freely (Koziara 2019)"),
      motion<FreeTop>("free-top", "A body that tumbles about its middle axis, free of forces"),
  };
  return rows;
}

}  // namespace ccp
