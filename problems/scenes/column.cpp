#include "problems/scenes/column.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "problems/base/pi.hpp"
#include "problems/dynamics/steppers/elastic.hpp"

namespace ccp {
namespace {

void check(ColumnOptions options) {
  options.list().check();
  check_size("column", "spheres", static_cast<double>(options.spheres));
}

double sphere_mass(const ColumnOptions& o) {
  return o.density * pi / 6 * o.diameter * o.diameter * o.diameter;
}

/// m, at rest, of the contact below sphere i. @param load  on top, in masses of a sphere
double overlap_at_rest(const ColumnOptions& o, std::size_t i, double load) {
  const double weight = -o.model.gravity[2] * sphere_mass(o), radius = o.diameter / 2;
  const double k = hertz_stiffness(o.model.hertz, i == 0 ? 0 : radius, radius);
  return std::pow((static_cast<double>(o.spheres - i) + load) * weight / k, 2.0 / 3);
}

Bodies column(const ColumnOptions& o) {
  check(o);
  Spheres spheres;
  double sunk = 0;
  for (std::size_t i = 0; i < o.spheres; ++i) {
    if (o.at_rest) sunk += overlap_at_rest(o, i, 0);
    spheres.position.insert(spheres.position.end(),
                            {0, 0, (static_cast<double>(i) + 0.5) * o.diameter - sunk});
    spheres.radius.push_back(o.diameter / 2);
    spheres.mass.push_back(sphere_mass(o));
  }
  spheres.mass.back() *= 1 + o.load;
  spheres.velocity.assign(3 * o.spheres, 0.0);
  return sphere_bodies(spheres, false);
}

}  // namespace

OptionList ColumnOptions::list() {
  using Range = OptionList::Range;
  return OptionList("column", "scene")
      .integer("spheres", spheres, Range::at_least(1), "Number of spheres")
      .number("diameter", diameter, Range::positive(), "Of the spheres, m")
      .number("density", density, Range::positive(), "Of the spheres, kg/m^3")
      .number("mu", model.mu, Range::at_least(0), "Friction coefficient")
      .number("dt", model.dt, Range::positive(), "Time step, s")
      .include(hertz_options(model.hertz, "young", Range::positive(), "Young's modulus, Pa"))
      .flag("at_rest", at_rest, "Starts with the overlaps that a column at rest has")
      .number("load", load, Range::at_least(0),
              "By which the uppermost sphere is heavier, in masses of a sphere")
      .number("rest_speed", rest_speed, Range::positive(), "Largest speed of a column at rest, m/s")
      .number("longest", longest_time, Range::positive(), "Longest simulated time, s");
}

ColumnOptions::ColumnOptions() {
  model.mu = 0.91;
  model.dt = 5e-3;
  model.gravity = {0, 0, -9.81};
  model.young = 0;  // no stiffnesses of the rigid kind
  model.hertz.young = 6e6;
}

double column_height(const ColumnOptions& o) {
  check(o);
  double height = static_cast<double>(o.spheres) * o.diameter;
  for (std::size_t i = 0; i < o.spheres; ++i) height -= overlap_at_rest(o, i, o.load);
  return height;
}

std::vector<ContactProblem> generate_column(const ColumnOptions& options,
                                            const SequenceOptions& sequence, StepSolver& accurate) {
  Bodies bodies = column(options);
  ElasticStepper stepper(options.model);
  const double dt = options.model.dt;
  if (sequence.from < 0) {
    come_to_rest(stepper, bodies, accurate, sequence.accuracy, options.rest_speed,
                 static_cast<int>(std::ceil(options.longest_time / dt)));
    record_steps(stepper, bodies, accurate, sequence.accuracy, 1, "lead-in");
  } else {
    record_steps(stepper, bodies, accurate, sequence.accuracy,
                 static_cast<std::size_t>(std::llround(sequence.from / dt)), "lead-in");
  }
  std::vector<ContactProblem> steps =
      record_steps(stepper, bodies, accurate, sequence.accuracy, sequence.steps, sequence.name);
  for (ContactProblem& step : steps) {
    step.source.description = fmt::format("a column of {} elastic spheres", options.spheres);
  }
  return steps;
}

SettlingRun simulate_column(const ColumnOptions& options, const StepStart& start,
                            const StepAccuracy& accuracy, StepSolver& solver) {
  constexpr double calm = 0.1;  // s
  Bodies bodies = column(options);
  ElasticStepper stepper(options.model);
  const double dt = options.model.dt;
  const int most = static_cast<int>(std::ceil(options.longest_time / dt));
  const int needed = static_cast<int>(std::ceil(calm / dt));
  SettlingRun run;
  int steps = 0, slow = 0;
  while (steps < most && slow < needed && std::isfinite(run.speed)) {
    run.speed = stepper.step(bodies, solver, accuracy, start).speed;
    ++steps;
    slow = run.speed < options.rest_speed ? slow + 1 : 0;
  }
  run.time = steps * dt;
  run.at_rest = slow >= needed;
  run.height = std::isfinite(run.speed) ? bodies.position.back() + options.diameter / 2
                                        : std::numeric_limits<double>::quiet_NaN();
  run.error = 1 - run.height / column_height(options);
  return run;
}

namespace {

class Column : public Scene {
 public:
  OptionList options() override { return options_.list(); }
  std::vector<ContactProblem> sequence(const SequenceOptions& sequence,
                                       const SceneTools& tools) override {
    return generate_column(options_, sequence, *tools.accurate);
  }
  SettlingRun simulate(const StepStart& start, const StepAccuracy& accuracy,
                       const SceneTools& tools) override {
    return simulate_column(options_, start, accuracy, *tools.solver);
  }
  double height_at_rest() override { return column_height(options_); }
  SceneSetup setup() override {
    SceneSetup setup;
    setup.bodies = column(options_);
    setup.bodies.obstacles.push_back({ground.shape, {}, {}, {}});
    setup.model.dt = options_.model.dt;
    setup.model.gravity = {0, 0, options_.model.gravity[2]};
    setup.model.mu = options_.model.mu;
    setup.model.hertz = options_.model.hertz;
    setup.model.restitution = 0.18;  // Wang 2016 Table 1, and its threshold
    setup.model.impact_speed = 0.05;
    setup.stepper = "spook";
    setup.until = 2;
    setup.values = [this, theory = column_height(options_)](const Bodies& end) -> SceneValues {
      const double height = end.position.back() + options_.diameter / 2;
      return {{"height", height}, {"theory", theory}, {"error", 1 - height / theory}};
    };
    return setup;
  }

 private:
  ColumnOptions options_;
};

}  // namespace

std::unique_ptr<Scene> column_scene() {
  return std::make_unique<Column>();
}

}  // namespace ccp
