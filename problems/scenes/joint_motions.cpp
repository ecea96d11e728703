#include "problems/scenes/joint_motions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/dynamics/joint_rows.hpp"
#include "problems/geometry/shape_table.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;

const Shape plane{"plane", {}};

/// Joint between a body and another one, or the world (-1).
Joint between(JointKind kind, int a, std::size_t b) {
  Joint joint;
  joint.kind = kind;
  joint.a.body = a;
  joint.b.body = static_cast<int>(b);
  return joint;
}

//   o=====o=====o     two rods of 1 m and 1 kg, released at rest; the free end meets the ground
//
//  ---------------
struct DoublePendulum {
  StepModel model;
  double gravity = 9.81, length = 1, mass = 1, ground = 1.7;
  DoublePendulum() { model.dt = 0.025; }

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("length", length, Range::positive(), "Of a rod, m")
        .number("mass", mass, Range::positive(), "Of a rod, kg")
        .number("ground", ground, Range::positive(), "Below the pivot, m")
        .number("restitution", model.restitution, {0, 1}, "Newton's coefficient of restitution");
  }
  SceneSetup setup() const {
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    setup.model.impact_speed = 2 * gravity * model.dt;
    Bodies& bodies = setup.bodies;
    const double half = length / 2, j = mass * half * half / 3;
    for (int k = 0; k < 2; ++k) {
      const std::size_t rod = bodies.add({"rod", {half}}, BodyKind::planar, mass, {j, j, j});
      bodies.position[3 * rod] = (2 * k + 1) * half;
      const Vec3 pivot{k * length, 0, 0};
      add_joint(bodies, between(JointKind::ball, k - 1, rod), pivot, pivot);
    }
    bodies.obstacles.push_back({plane, {{0, 0, -ground}, {}}, {}, {}});
    setup.until = 20;
    setup.values = [](const Bodies& end) -> SceneValues {
      return {{"joint_error", joint_error(end)},
              {"x", end.position[3]},
              {"z", end.position[5]},
              {"spin", end.angular_velocity[4]}};
    };
    return setup;
  }
};

//      o
//     / ''--..__   [ ] |     a crank, a rod and a slider on the x axis, which meets a stop
//    o    -    -   - - |
struct SliderCrank {
  StepModel model;
  double gravity = 9.81, crank = 0.3, rod = 1, spin = 5, stop = 1.2;
  SliderCrank() {
    model.dt = 5e-3;
    model.mu = 0;
  }

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("crank", crank, Range::positive(), "Length of the crank, m")
        .number("rod", rod, Range::positive(), "Length of the rod, m")
        .number("spin", spin, {}, "Of the crank at the start, rad/s")
        .number("stop", stop, Range::positive(), "Where the slider's pin meets the stop, m")
        .number("restitution", model.restitution, {0, 1}, "Newton's coefficient of restitution");
  }
  SceneSetup setup() const {
    const double start = rod > crank ? std::sqrt(rod * rod - crank * crank) : 0;
    if (!(rod > crank) || !(stop > start)) {
      throw InputError("scene slider-crank", rod > crank ? "option stop" : "option rod",
                       rod > crank
                           ? fmt::format("more than {:.6g} m, where the slider starts", start)
                           : fmt::format("more than the crank's {} m", crank),
                       fmt::format("{} m", rod > crank ? stop : rod));
    }
    constexpr double thin = 0.02, density = 2700, block = 0.1;  // m, kg/m^3, m
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    setup.model.impact_speed = 2 * gravity * model.dt;
    Bodies& bodies = setup.bodies;
    const auto add = [&](const Shape& shape, const Vec3& position, double angle) {
      const MassProperties own = mass_properties(shape, density);
      const std::size_t i = bodies.add(shape, BodyKind::rigid, own.mass,
                                       {own.inertia[0], own.inertia[1], own.inertia[2]});
      set(bodies.position, i, position);
      bodies.turn(i, rotation({0, angle, 0}));
      return i;
    };
    // The crank stands upright: its pin moves along x, and so do rod and slider, without turning.
    const Vec3 pin{0, 0, crank}, slide{start, 0, 0};
    const std::size_t arm = add({"box", {crank / 2, thin, thin}}, 0.5 * pin, -std::acos(0.0));
    const std::size_t link =
        add({"box", {rod / 2, thin, thin}}, 0.5 * (pin + slide), std::asin(crank / rod));
    const std::size_t slider = add({"box", {block, block, block}}, slide, 0);
    set(bodies.angular_velocity, arm, {0, spin, 0});
    set(bodies.velocity, arm, {0.5 * spin * crank, 0, 0});
    set(bodies.velocity, link, {spin * crank, 0, 0});
    set(bodies.velocity, slider, {spin * crank, 0, 0});
    add_joint(bodies, between(JointKind::hinge, -1, arm), {}, {}, {0, 1, 0});
    add_joint(bodies, between(JointKind::hinge, static_cast<int>(arm), link), pin, pin, {0, 1, 0});
    add_joint(bodies, between(JointKind::ball, static_cast<int>(link), slider), slide, slide);
    add_joint(bodies, between(JointKind::slider, -1, slider), slide, slide, {1, 0, 0});
    // Its normal points back along x.
    const Pose wall{{stop + block, 0, 0}, rotation({0, -std::acos(0.0), 0})};
    bodies.obstacles.push_back({plane, wall, {}, {}});
    setup.until = 3;
    setup.values = [](const Bodies& end) -> SceneValues {
      const Vec3 crank_axis = rotate(end.turned(0), {1, 0, 0});
      return {{"joint_error", joint_error(end)},
              {"slider", end.position[6]},
              {"slider_speed", end.velocity[6]},
              {"crank_angle", std::atan2(crank_axis.z, crank_axis.x) * 90 / std::acos(0.0)}};
    };
    return setup;
  }

 private:
  static void set(std::vector<double>& to, std::size_t i, const Vec3& v) {
    to[3 * i] = v.x, to[3 * i + 1] = v.y, to[3 * i + 2] = v.z;
  }
};

//      o-----------o
//      |            \      crank, coupler and rocker between four hinges about y, above a floor.
//      o             \     Of their 20 rows 17 hold the plane and the loop; 3 say the same again.
//                     o
//  ----------------------
struct FourBar {
  StepModel model;
  double gravity = 9.81, crank = 0.3, coupler = 0.9, rocker = 0.7, base = 1, spin = 2, floor = 0.25;
  FourBar() {
    model.dt = 5e-3;
    model.mu = 0.3;
  }

  OptionList list(OptionList list) {
    return common_options(list, model, gravity)
        .number("crank", crank, Range::positive(), "Length of the crank, m")
        .number("coupler", coupler, Range::positive(), "Length of the coupler, m")
        .number("rocker", rocker, Range::positive(), "Length of the rocker, m")
        .number("base", base, Range::positive(), "Between the two fixed hinges, m")
        .number("spin", spin, {}, "Of the crank at the start, rad/s")
        .number("floor", floor, Range::positive(), "Below the fixed hinges, m");
  }
  SceneSetup setup() const {
    // The crank stands upright. Where coupler and rocker meet:
    const double far = std::hypot(base, crank);
    const double along = (far * far + coupler * coupler - rocker * rocker) / (2 * far);
    const double square = coupler * coupler - along * along;
    if (!(square > 0)) {
      throw InputError("scene four-bar", "option coupler",
                       fmt::format("coupler and rocker that meet over {:.6g} m", far),
                       fmt::format("{} m and {} m", coupler, rocker));
    }
    const double up = std::sqrt(square), dx = base / far, dz = -crank / far;
    const Vec3 first{}, pin{0, 0, crank}, last{base, 0, 0};
    const Vec3 knee = pin + Vec3{along * dx - up * dz, 0, along * dz + up * dx};

    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    setup.model.impact_speed = 2 * gravity * model.dt;
    Bodies& bodies = setup.bodies;
    // Velocities of the loop: spin crank + w2 (knee - pin) = w3 (knee - last), turned by 90
    // degrees.
    const Vec3 a = knee - pin, b = knee - last;
    const double w3 = spin * crank * a.x / (b.z * a.x - b.x * a.z), w2 = w3 * b.x / a.x;
    const std::size_t arm = add_link(bodies, first, pin, {}, spin),
                      link = add_link(bodies, pin, knee, {spin * crank, 0, 0}, w2),
                      rod = add_link(bodies, last, knee, {}, w3);
    const auto hinge = [&](int from, std::size_t to, const Vec3& at) {
      add_joint(bodies, between(JointKind::hinge, from, to), at, at, {0, 1, 0});
    };
    hinge(-1, arm, first);
    hinge(static_cast<int>(arm), link, pin);
    hinge(static_cast<int>(link), rod, knee);
    hinge(-1, rod, last);
    bodies.obstacles.push_back({plane, {{0, 0, -floor}, {}}, {}, {}});
    setup.until = 2;
    setup.values = [](const Bodies& end) -> SceneValues {
      const Vec3 axis = rotate(end.turned(0), {1, 0, 0});
      return {{"joint_error", joint_error(end)},
              {"crank_angle", std::atan2(axis.z, axis.x) * 90 / std::acos(0.0)},
              {"crank_spin", end.angular_velocity[1]}};
    };
    return setup;
  }

 private:
  /// A rod of square section from one pin to another in the plane y = 0; the first moves with
  /// `velocity`, and the rod turns about y.
  static std::size_t add_link(Bodies& bodies, const Vec3& from, const Vec3& to,
                              const Vec3& velocity, double spin) {
    constexpr double thin = 0.02, density = 2700;  // m, kg/m^3
    const Vec3 axis = to - from, centre = 0.5 * (from + to);
    const Shape shape{"box", {norm(axis) / 2, thin, thin}};
    const MassProperties own = mass_properties(shape, density);
    const std::size_t i = bodies.add(shape, BodyKind::rigid, own.mass,
                                     {own.inertia[0], own.inertia[1], own.inertia[2]});
    const Vec3 moved = velocity + cross({0, spin, 0}, centre - from);
    bodies.turn(i, rotation({0, std::atan2(-axis.z, axis.x), 0}));
    bodies.position[3 * i] = centre.x, bodies.position[3 * i + 2] = centre.z;
    bodies.velocity[3 * i] = moved.x, bodies.velocity[3 * i + 2] = moved.z;
    bodies.angular_velocity[3 * i + 1] = spin;
    return i;
  }
};

//  ---o---
//     /       a mass on a stiff spring with a damper, far beyond what an explicit step can take
//     \       (h < 2 sqrt(m/k) = 2 ms)
//    [ ]
struct SpringMass {
  StepModel model;
  double gravity = 9.81, mass = 1, stiffness = 1e6, damping = 1e3, length = 1, stretch = 0.01;
  bool implicit = true;
  SpringMass() { model.dt = 0.05; }

  OptionList list(OptionList list) {
    return list.number("dt", model.dt, Range::positive(), "Time step, s")
        .number("gravity", gravity, Range::at_least(0), "m/s^2")
        .number("mass", mass, Range::positive(), "kg")
        .number("stiffness", stiffness, Range::at_least(0), "N/m")
        .number("damping", damping, Range::at_least(0), "N s/m")
        .number("length", length, Range::positive(), "Of the spring without force, m")
        .number("stretch", stretch, {}, "At the start, m")
        .flag("implicit", implicit, "Linearly implicit force, or explicit");
  }
  SceneSetup setup() const {
    SceneSetup setup;
    setup.model = model;
    setup.model.gravity = {0, 0, -gravity};
    Bodies& bodies = setup.bodies;
    const std::size_t i = bodies.add({"sphere", {0.05}}, BodyKind::non_rotating, mass, {1, 1, 1});
    bodies.position[2] = -length - stretch;
    if (implicit) {
      Joint spring = between(JointKind::spring, -1, i);
      spring.length = length;
      spring.stiffness = stiffness;
      spring.damping = damping;
      add_joint(bodies, spring, {}, bodies.placed_at(i));
    } else {
      setup.model.load = [*this](const Bodies& now, std::vector<double>& load) {
        load[2] += stiffness * (-now.position[2] - length) - damping * now.velocity[2];
      };
    }
    setup.until = 2;
    setup.values = [*this](const Bodies& end) -> SceneValues {
      return {{"stretch", -end.position[2] - length},
              {"static_stretch", mass * gravity / stiffness},
              {"speed", end.velocity[2]}};
    };
    return setup;
  }
};

}  // namespace

const std::vector<HandMotion>& joint_motions() {
  static const std::vector<HandMotion> rows = {
      motion<DoublePendulum>("double-pendulum",
                             "Two rods that fall onto the ground (Anitescu slides)"),
      motion<SliderCrank>("slider-crank", "A crank, a rod and a slider that meets a stop"),
      motion<FourBar>("four-bar",
                      "Three rods in a loop of four hinges, whose rows depend on each other"),
      motion<SpringMass>("spring-mass",
                         "A mass on a stiff spring, linearly implicit (Anitescu slides)"),
  };
  return rows;
}

}  // namespace ccp
