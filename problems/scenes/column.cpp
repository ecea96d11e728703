#include "problems/scenes/column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/base/error.hpp"

namespace ccp {
namespace {

void check(const ColumnOptions& o) {
  const auto require = [](bool good, const char* place, const std::string& expected, double found) {
    if (!good) throw InputError("column", place, expected, fmt::format("{}", found));
  };
  require(o.spheres > 0, "spheres", ">= 1", static_cast<double>(o.spheres));
  require(o.diameter > 0, "diameter", "> 0", o.diameter);
  require(o.density > 0, "density", "> 0", o.density);
  require(o.model.dt > 0, "dt", "> 0", o.model.dt);
  require(o.model.gravity[2] < 0, "gravity along z", "< 0", o.model.gravity[2]);
  require(o.model.mu >= 0, "mu", ">= 0", o.model.mu);
  require(o.model.hertz.young > 0, "Young's modulus", "> 0", o.model.hertz.young);
  require(o.model.hertz.poisson > -1 && o.model.hertz.poisson < 1, "Poisson's ratio",
          "between -1 and 1", o.model.hertz.poisson);
  require(o.model.hertz.tangential > 0, "tangential damping", "> 0", o.model.hertz.tangential);
  require(o.model.hertz.smallest_overlap > 0, "smallest overlap", "> 0",
          o.model.hertz.smallest_overlap);
  require(o.rest_speed > 0, "rest speed", "> 0", o.rest_speed);
  require(o.longest_time > 0, "longest time", "> 0", o.longest_time);
}

double sphere_mass(const ColumnOptions& o) {
  return o.density * std::acos(-1.0) / 6 * o.diameter * o.diameter * o.diameter;
}

SphereStepper column(const ColumnOptions& o) {
  check(o);
  Spheres spheres;
  for (std::size_t i = 0; i < o.spheres; ++i) {
    spheres.position.insert(spheres.position.end(),
                            {0, 0, (static_cast<double>(i) + 0.5) * o.diameter});
    spheres.radius.push_back(o.diameter / 2);
    spheres.mass.push_back(sphere_mass(o));
  }
  spheres.velocity.assign(3 * o.spheres, 0.0);
  return SphereStepper(std::move(spheres), o.model);
}

}  // namespace

ColumnOptions::ColumnOptions() {
  model.mu = 0.91;
  model.dt = 5e-3;
  model.gravity = {0, 0, -9.81};
  model.young = 0;  // no stiffnesses of the rigid kind
  model.hertz.young = 6e6;
}

double column_height(const ColumnOptions& o) {
  check(o);
  const double weight = -o.model.gravity[2] * sphere_mass(o), radius = o.diameter / 2;
  double height = static_cast<double>(o.spheres) * o.diameter;
  for (std::size_t i = 0; i < o.spheres; ++i) {  // the contact below sphere i
    const double k = hertz_stiffness(o.model.hertz, i == 0 ? 0 : radius, radius);
    height -= std::pow(static_cast<double>(o.spheres - i) * weight / k, 2.0 / 3);
  }
  return height;
}

std::vector<ContactProblem> generate_column(const ColumnOptions& options,
                                            const SequenceOptions& sequence, StepSolver& accurate) {
  SphereStepper stepper = column(options);
  const double dt = options.model.dt;
  if (sequence.from < 0) {
    come_to_rest(stepper, accurate, sequence.accuracy, options.rest_speed,
                 static_cast<int>(std::ceil(options.longest_time / dt)));
    record_steps(stepper, accurate, sequence.accuracy, 1, "lead-in");
  } else {
    record_steps(stepper, accurate, sequence.accuracy,
                 static_cast<std::size_t>(std::llround(sequence.from / dt)), "lead-in");
  }
  std::vector<ContactProblem> steps =
      record_steps(stepper, accurate, sequence.accuracy, sequence.steps, sequence.name);
  for (ContactProblem& step : steps) {
    step.source.description = fmt::format("a column of {} elastic spheres", options.spheres);
  }
  return steps;
}

ColumnRun simulate_column(const ColumnOptions& options, const StepStart& start,
                          const StepAccuracy& accuracy, StepSolver& solver) {
  constexpr double calm = 0.1;  // s
  SphereStepper stepper = column(options);
  const double dt = options.model.dt;
  const int most = static_cast<int>(std::ceil(options.longest_time / dt));
  const int needed = static_cast<int>(std::ceil(calm / dt));
  ColumnRun run;
  int steps = 0, slow = 0;
  std::vector<double> gamma;
  while (steps < most && slow < needed && std::isfinite(run.speed)) {
    const ContactProblem step = stepper.next();
    gamma.assign(3 * step.contacts(), 0.0);
    if (!start.guess.empty()) {
      gamma = step.guesses.at(start.guess).gamma;
      for (double& g : gamma) g *= start.factor;
    }
    if (step.contacts() > 0) solver.solve(step, accuracy, gamma);
    run.speed = stepper.advance(step, gamma);
    ++steps;
    slow = run.speed < options.rest_speed ? slow + 1 : 0;
  }
  run.time = steps * dt;
  run.at_rest = slow >= needed;
  run.height = std::isfinite(run.speed) ? stepper.spheres().position.back() + options.diameter / 2
                                        : std::numeric_limits<double>::quiet_NaN();
  run.error = 1 - run.height / column_height(options);
  return run;
}

}  // namespace ccp
