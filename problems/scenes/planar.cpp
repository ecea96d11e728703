#include "problems/scenes/planar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/dynamics/steppers/planar.hpp"

namespace ccp {
namespace {

OptionList& planar_options(OptionList& list, PlanarOptions& o) {
  using Range = OptionList::Range;
  return list.number("mu", o.mu, Range::at_least(0), "Friction coefficient")
      .number("dt", o.dt, Range::positive(), "Time step, s")
      .number("gravity", o.gravity, Range::at_least(0), "m/s^2")
      .number("slope", o.slope, {-90, 90, true, true}, "By which the ground falls along x, degrees")
      .integer("steps", o.steps, Range::at_least(0), "Time steps before the problem is frozen");
}

std::array<double, 3> gravity_of(const PlanarOptions& options) {
  const double angle = options.slope * pi / 180;
  return {options.gravity * std::sin(angle), 0, -options.gravity * std::cos(angle)};
}

/// Takes the steps. @return the problem of the one after
ContactProblem run(const PlanarOptions& options, double inverse_inertia, Bodies bodies,
                   StepSolver& solver, const SceneRecorder& record) {
  PlanarModel model;
  model.mu = options.mu;
  model.dt = options.dt;
  model.gravity = gravity_of(options);
  model.inverse_inertia = inverse_inertia;
  PlanarStepper stepper(model);
  StepAccuracy accuracy;
  accuracy.max_iterations = std::numeric_limits<int>::max();
  accuracy.converged = true;
  double time = 0;
  if (record) record({time, bodies});
  for (int step = 0; step < options.steps; ++step) {
    try {
      stepper.step(bodies, solver, accuracy);
    } catch (const InputError& error) {
      throw InputError(fmt::format("step {} of {}: {}", step, options.steps, error.what()));
    }
    time += options.dt;
    if (record) record({time, bodies});
  }
  ContactProblem last = stepper.problem(bodies);
  last.source.kind = "generated";
  last.source.licence = "BSD-3-Clause";
  return last;
}

}  // namespace

OptionList PyramidOptions::list() {
  OptionList list("pyramid", "scene");
  list.integer("rows", rows, OptionList::Range::at_least(1),
               "Spheres on the ground; rows (rows + 1) / 2 in all")
      .number("radius", radius, OptionList::Range::positive(), "Of the spheres, m")
      .number("mass", mass, OptionList::Range::positive(), "Of a sphere, kg")
      .choice("inertia", inertia, {"sphere", "disc"}, "2/5 or 1/2 of mass times radius squared");
  return planar_options(list, planar);
}

OptionList ParticleOptions::list() {
  OptionList list("particle", "scene");
  list.number("speed", speed, {}, "Along x at the start, m/s")
      .number("height", height, OptionList::Range::at_least(0), "Above the ground at the start, m");
  return planar_options(list, planar);
}

namespace {

bool discs(const PyramidOptions& options) {
  return options.inertia == "disc";
}

Spheres pyramid_spheres(const PyramidOptions& options) {
  PyramidOptions(options).list().check();
  check_size("pyramid", "rows", 0.5 * options.rows * (options.rows + 1.0));
  Spheres spheres;
  for (int row = 0; row < options.rows; ++row) {
    const int count = options.rows - row;
    for (int i = 0; i < count; ++i) {
      const double x = 2 * i - (count - 1), z = 1 + row * std::sqrt(3.0);  // radii
      spheres.position.insert(spheres.position.end(), {options.radius * x, 0, options.radius * z});
      spheres.radius.push_back(options.radius);
      spheres.mass.push_back(options.mass);
    }
  }
  spheres.velocity.assign(3 * spheres.count(), 0.0);
  return spheres;
}

}  // namespace

ContactProblem generate_pyramid(const PyramidOptions& options, StepSolver& solver,
                                const SceneRecorder& record) {
  const Spheres spheres = pyramid_spheres(options);
  const bool disc = discs(options);
  ContactProblem problem =
      run(options.planar, disc ? 2 : 2.5, sphere_bodies(spheres, true), solver, record);
  problem.source.description =
      fmt::format("a triangle of {} {} in a plane", spheres.count(), disc ? "discs" : "spheres");
  return problem;
}

ContactProblem generate_particle(const ParticleOptions& options, StepSolver& solver,
                                 const SceneRecorder& record) {
  constexpr double radius = 1;  // of no consequence: contact is one point, and it does not rotate
  ParticleOptions(options).list().check();
  Spheres spheres;
  spheres.position = {0, 0, radius + options.height};
  spheres.velocity = {options.speed, 0, 0};
  spheres.radius = {radius};
  spheres.mass = {1};
  ContactProblem problem = run(options.planar, 0, sphere_bodies(spheres, false), solver, record);
  problem.source.description = "a particle thrown along the ground";
  return problem;
}

namespace {

/// A scene out of its options and the function that makes its problem.
template <class Options,
          ContactProblem (*generate)(const Options&, StepSolver&, const SceneRecorder&)>
class Planar : public Scene {
 public:
  OptionList options() override { return options_.list(); }
  ContactProblem problem(const SceneTools& tools) override {
    return generate(options_, *tools.solver, tools.record);
  }

 protected:
  Options options_;
};

/// With its motion: `steps` of them, 40 where there are none.
class Pyramid : public Planar<PyramidOptions, generate_pyramid> {
 public:
  SceneSetup setup() override {
    constexpr int usual_steps = 40;
    const Spheres spheres = pyramid_spheres(options_);
    const double part = discs(options_) ? 0.5 : 0.4;
    SceneSetup setup;
    for (std::size_t i = 0; i < spheres.count(); ++i) {
      const double j = part * spheres.mass[i] * spheres.radius[i] * spheres.radius[i];
      setup.bodies.add({"sphere", {spheres.radius[i]}}, BodyKind::planar, spheres.mass[i],
                       {j, j, j});
    }
    setup.bodies.position = spheres.position;
    setup.bodies.obstacles.push_back({{"plane", {}}, {}, {}, {}});
    const PlanarOptions& planar = options_.planar;
    setup.model.mu = planar.mu;
    setup.model.dt = planar.dt;
    const auto gravity = gravity_of(planar);
    setup.model.gravity = {gravity[0], gravity[1], gravity[2]};
    setup.stepper = "lcp";
    setup.solver = "lcp[edges=2]";
    setup.until = planar.dt * (planar.steps > 0 ? planar.steps : usual_steps);
    const double height = spheres.position.back() + spheres.radius.back();
    setup.values = [height, top = options_.radius](const Bodies& end) -> SceneValues {
      double now = 0;
      for (std::size_t i = 0; i < end.count(); ++i) {
        now = std::max(now, end.position[3 * i + 2] + top);
      }
      return {{"height", now}, {"height_at_start", height}};
    };
    return setup;
  }
};

}  // namespace

std::unique_ptr<Scene> pyramid_scene() {
  return std::make_unique<Pyramid>();
}

std::unique_ptr<Scene> particle_scene() {
  return std::make_unique<Planar<ParticleOptions, generate_particle>>();
}

}  // namespace ccp
