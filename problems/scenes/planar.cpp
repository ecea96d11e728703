#include "problems/scenes/planar.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

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

/// Takes the steps. @return the problem of the one after
ContactProblem run(const PlanarOptions& options, Bodies bodies, StepSolver& solver,
                   const SceneRecorder& record) {
  const double angle = options.slope * std::acos(-1.0) / 180;
  PlanarModel model;
  model.mu = options.mu;
  model.dt = options.dt;
  model.gravity = {options.gravity * std::sin(angle), 0, -options.gravity * std::cos(angle)};
  PlanarStepper stepper(model);
  StepAccuracy accuracy;
  accuracy.max_iterations = std::numeric_limits<int>::max();
  accuracy.converged = true;
  double time = 0;
  if (record) record({time, bodies});
  for (int step = 0; step < options.steps; ++step) {
    stepper.step(bodies, solver, accuracy);
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
      .number("mass", mass, OptionList::Range::positive(), "Of a sphere, kg");
  return planar_options(list, planar);
}

OptionList ParticleOptions::list() {
  OptionList list("particle", "scene");
  list.number("speed", speed, {}, "Along x at the start, m/s")
      .number("height", height, OptionList::Range::at_least(0), "Above the ground at the start, m");
  return planar_options(list, planar);
}

ContactProblem generate_pyramid(const PyramidOptions& options, StepSolver& solver,
                                const SceneRecorder& record) {
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
  const std::size_t count = spheres.count();
  ContactProblem problem = run(options.planar, sphere_bodies(spheres, true), solver, record);
  problem.source.description = fmt::format("a triangle of {} spheres in a plane", count);
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
  ContactProblem problem = run(options.planar, sphere_bodies(spheres, false), solver, record);
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

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<Scene> pyramid_scene() {
  return std::make_unique<Planar<PyramidOptions, generate_pyramid>>();
}

std::unique_ptr<Scene> particle_scene() {
  return std::make_unique<Planar<ParticleOptions, generate_particle>>();
}

}  // namespace ccp
