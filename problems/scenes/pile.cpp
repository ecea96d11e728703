#include "problems/scenes/pile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/dynamics/steppers/elastic.hpp"
#include "problems/dynamics/steppers/shake.hpp"
#include "problems/scenes/random.hpp"

namespace ccp {
namespace {

constexpr double sweep = 1.5;  // of what a pair can approach within the step
constexpr double flow_margin = 2e-3, settle_margin = 3e-3;  // m

/// A settled pile as it is frozen: without velocities, on the grid of positions, in spatial order.
void freeze(const PileOptions& options, Spheres& spheres) {
  std::fill(spheres.velocity.begin(), spheres.velocity.end(), 0.0);
  if (options.position_grid > 0) {
    for (std::size_t i = 0; i < spheres.count(); ++i) {
      for (int k = 0; k < 2; ++k) {
        double& x = spheres.position[3 * i + k];
        x = std::round(x / options.position_grid) * options.position_grid;
      }
    }
  }
  sort_spatially(spheres);
}

constexpr double pitch = 1.1, jitter = 0.04;  // of the largest diameter

}  // namespace

double column_pitch(const PileOptions& options) {
  return pitch * 2 * options.radius_max;
}

Spheres loose_column(const PileOptions& options) {
  const double diameter = 2 * options.radius_max;
  const int side = options.column > 0
                       ? options.column
                       : std::max(1, static_cast<int>(std::lround(
                                         std::cbrt(static_cast<double>(options.spheres) / 4))));
  Random random(options.seed);
  Spheres s;
  for (int layer = 0; s.count() < options.spheres; ++layer) {
    for (int j = 0; j < side && s.count() < options.spheres; ++j) {
      for (int i = 0; i < side && s.count() < options.spheres; ++i) {
        const double radius = random.uniform(options.radius_min, options.radius_max);
        const double offset[3] = {(i - 0.5 * (side - 1)) * pitch, (j - 0.5 * (side - 1)) * pitch,
                                  layer * pitch};
        for (const double grid : offset) {
          s.position.push_back(diameter * (grid + random.uniform(-jitter, jitter)));
        }
        s.position.back() += options.drop + options.radius_max + jitter * diameter;
        s.radius.push_back(radius);
        s.mass.push_back(options.density * 4 / 3 * pi * radius * radius * radius);
      }
    }
  }
  s.velocity.assign(3 * s.count(), 0.0);
  return s;
}

ShakeOptions pile_steps(const PileOptions& options, bool settling) {
  const double dt = settling ? options.model.dt : options.flow_dt;
  const double margin = settling ? settle_margin : flow_margin;
  ShakeOptions step;
  step.model = options.model;
  step.model.dt = dt;
  step.search = [=](const Spheres& now) { return find_candidates(now, margin, sweep * dt); };
  step.max_push = 0.2;
  step.warm = true;
  return step;
}

PileOptions checked_pile(const std::string& scene, PileOptions o) {
  if (o.radius_max < o.radius_min) {
    throw InputError("scene " + scene, "option radius_max", fmt::format(">= {}", o.radius_min),
                     fmt::format("{}", o.radius_max));
  }
  check_size(scene, "spheres", static_cast<double>(o.spheres));
  if (o.contacts == 0) o.contacts = papers_contacts(o.spheres);
  o.model.gravity = {0, 0, -o.gravity};
  return o;
}

void settle_pile(const PileOptions& options, const PileSettling& how, ShakeStepper& stepper,
                 Bodies& bodies, StepSolver& solver,
                 const std::function<void(const SceneProgress&)>& progress) {
  SceneProgress now;
  now.phase = "flowing" + how.what;
  bool settling = false;
  while (how.until < 0 || now.time < how.until) {
    if (!settling && now.time >= how.flow_time) {
      settling = true;
      now.phase = "settling" + how.what;
      stepper.set_options(pile_steps(options, true));
    }
    const Step step = stepper.step(bodies, solver, settling ? options.settle : options.flow);
    now.max_speed = step.speed;
    now.time += step.problem.dt;
    ++now.step;
    now.contacts = step.problem.contacts();
    if (progress) progress(now);
    if (!std::isfinite(now.max_speed)) {
      throw InputError(
          fmt::format("generate {}: the step solver diverged in step {}", how.scene, now.step));
    }
    if (how.until < 0 && settling && now.max_speed < options.rest_speed) break;
    if (how.patience >= 0 && now.time >= how.flow_time + how.patience) break;
    if (now.step >= options.max_steps) {
      throw InputError(
          fmt::format("generate {}: not at rest after {} steps: fastest sphere {:.3g} m/s, "
                      "asked for {:g}",
                      how.scene, now.step, now.max_speed, options.rest_speed));
    }
  }
}

ContactProblem frozen_pile(const PileOptions& options, Spheres spheres) {
  freeze(options, spheres);
  const double mean_radius = 0.5 * (options.radius_min + options.radius_max);
  const std::vector<Candidate> candidates =
      options.contacts > 0 ? nearest_candidates(spheres, options.contacts)
                           : find_candidates(spheres, papers_cutoff * mean_radius);
  make_heavier(spheres, options.heavy);
  ContactProblem problem = sphere_problem(spheres, candidates, options.model);
  problem.source.kind = "generated";
  problem.source.licence = "BSD-3-Clause";
  return problem;
}

OptionList pile_counts(PileOptions& options) {
  using Range = OptionList::Range;
  return OptionList("of piles", "part")
      .integer("spheres", options.spheres, Range::at_least(1), "Number of spheres")
      .integer("contacts", options.contacts, Range::at_least(0),
               "Number of contacts, nearest pairs first (0: the papers' for 2048, 5040 and 10192 "
               "spheres, else all pairs within 0.666 mean radii)")
      .integer("seed", options.seed, Range::at_least(0), "Seed of radii and jitter");
}

OptionList pile_material(PileOptions& options) {
  using Range = OptionList::Range;
  return OptionList("of piles", "part")
      .number("radius_min", options.radius_min, Range::positive(), "Smallest radius, m")
      .number("radius_max", options.radius_max, Range::positive(), "Largest radius, m")
      .number("density", options.density, Range::positive(), "Of the spheres, kg/m^3")
      .number("mu", options.model.mu, Range::at_least(0), "Friction coefficient")
      .number("dt", options.model.dt, Range::positive(), "Time step, s")
      .number("flow_dt", options.flow_dt, Range::positive(),
              "Time step while the column collapses, s")
      .number("gravity", options.gravity, Range::positive(), "Along -z, m/s^2")
      .number("young", options.model.young, Range::at_least(0),
              "Young's modulus for contact stiffnesses, Pa (0: none)")
      .number("rest_speed", options.rest_speed, Range::positive(),
              "Largest speed of a settled pile, m/s")
      .number("position_grid", options.position_grid, Range::at_least(0),
              "Grid on which x and y are recorded, m (0: none)")
      .include(heavy_options(options.heavy));
}

OptionList PileOptions::list() {
  using Range = OptionList::Range;
  return OptionList("pile", "scene")
      .include(pile_counts(*this))
      .integer("column", column, Range::at_least(0),
               "Spheres along a side of the column at the start (0: cbrt(spheres/4))")
      .number("drop", drop, Range::at_least(0),
              "Height of the column above the ground at the start, m")
      .include(pile_material(*this))
      .include(hertz_options(model.hertz, "hertz_young", Range::at_least(0),
                             "Young's modulus of elastic contacts in a sequence, Pa (0: rigid)"));
}

namespace {

/// Lets the column collapse until the pile is at rest, or until the time `until` (if that is not
/// negative), s.
Bodies settle(const PileOptions& options, double until, StepSolver& solver,
              const std::function<void(const SceneProgress&)>& progress) {
  Bodies bodies = sphere_bodies(loose_column(options), false);
  ShakeStepper stepper(pile_steps(options, false));
  PileSettling how;
  how.flow_time = options.flow_time;
  how.until = until;
  settle_pile(options, how, stepper, bodies, solver, progress);
  return bodies;
}

PileOptions checked(PileOptions options) {
  options.list().check();
  return checked_pile("pile", options);
}

}  // namespace

ContactProblem generate_pile(const PileOptions& given, StepSolver& solver,
                             const std::function<void(const SceneProgress&)>& progress) {
  const PileOptions options = checked(given);
  if (options.model.hertz.young > 0) {
    throw InputError("generate pile", "elastic contacts", "a sequence of steps",
                     "a single problem, of spheres that hardly overlap");
  }
  ContactProblem problem = frozen_pile(options, settle(options, -1, solver, progress).spheres());
  problem.name = "pile";
  problem.source.description = fmt::format("a settled pile of {} spheres", options.spheres);
  return problem;
}

std::vector<ContactProblem> generate_pile_sequence(
    const PileOptions& given, const SequenceOptions& sequence, StepSolver& solver,
    StepSolver& accurate, const std::function<void(const SceneProgress&)>& progress) {
  const PileOptions options = checked(given);
  Bodies bodies = settle(options, sequence.from, solver, progress);
  Spheres spheres = bodies.spheres();
  if (sequence.from < 0) {
    freeze(options, spheres);
  } else {
    sort_spatially(spheres);
  }
  make_heavier(spheres, options.heavy);
  bodies = sphere_bodies(spheres, false);
  std::unique_ptr<Stepper> stepper;
  if (options.model.hertz.young > 0) {
    stepper = std::make_unique<ElasticStepper>(options.model);
    if (sequence.from < 0) {
      come_to_rest(*stepper, bodies, accurate, sequence.accuracy, options.rest_speed,
                   options.max_steps);
    }
  } else {
    ShakeOptions rigid;
    rigid.model = options.model;
    rigid.search = [&options](const Spheres& now) {
      return options.contacts > 0 ? nearest_candidates(now, options.contacts)
                                  : find_candidates(now, settle_margin, sweep * options.model.dt);
    };
    stepper = std::make_unique<ShakeStepper>(rigid);
  }
  record_steps(*stepper, bodies, accurate, sequence.accuracy, 1, "lead-in");  // the first guess
  std::vector<ContactProblem> steps =
      record_steps(*stepper, bodies, accurate, sequence.accuracy, sequence.steps, sequence.name);
  for (ContactProblem& step : steps) {
    step.source.description = fmt::format(
        "a {} pile of {} spheres", sequence.from < 0 ? "settled" : "collapsing", options.spheres);
  }
  return steps;
}

namespace {

class Pile : public Scene {
 public:
  OptionList options() override { return options_.list(); }
  ContactProblem problem(const SceneTools& tools) override {
    return generate_pile(options_, *tools.solver, tools.progress);
  }
  std::vector<ContactProblem> sequence(const SequenceOptions& sequence,
                                       const SceneTools& tools) override {
    return generate_pile_sequence(options_, sequence, *tools.solver, *tools.accurate,
                                  tools.progress);
  }

 private:
  PileOptions options_;
};

}  // namespace

std::unique_ptr<Scene> pile_scene() {
  return std::make_unique<Pile>();
}

}  // namespace ccp
