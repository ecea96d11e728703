#include "problems/scenes/pile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "problems/base/error.hpp"
#include "problems/model/impulses.hpp"

namespace ccp {
namespace {

/// Uniform numbers with the same value on every platform, which std::uniform_real_distribution does
/// not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }

 private:
  std::mt19937_64 engine_;
};

constexpr double sweep = 1.5;  // of what a pair can approach within the step
constexpr double flow_margin = 2e-3, settle_margin = 3e-3;  // m

Spheres column(const PileOptions& options) {
  constexpr double pitch = 1.1, jitter = 0.04;  // of the largest diameter
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
        s.mass.push_back(options.density * 4 / 3 * std::acos(-1.0) * radius * radius * radius);
      }
    }
  }
  s.velocity.assign(3 * s.count(), 0.0);
  return s;
}

/// Time stepping with the contact law's impulses kept from step to step as a starting guess.
class Simulation {
 public:
  Simulation(const PileOptions& options, Spheres spheres, StepSolver& solver)
      : options_(options), solver_(solver), spheres_(std::move(spheres)) {}

  /// One step. @return largest speed after it, m/s
  double step(double dt, double margin, const StepAccuracy& accuracy);

  Spheres& spheres() { return spheres_; }
  std::size_t contacts() const { return contacts_; }

 private:
  std::vector<double> guess(const ContactProblem& problem) const;

  const PileOptions& options_;
  StepSolver& solver_;
  Spheres spheres_;
  ImpulseMemory memory_;
  std::size_t contacts_ = 0;  ///< of the last step
};

std::vector<double> Simulation::guess(const ContactProblem& problem) const {
  std::vector<double> gamma = memory_.recall(problem);
  // Scaled by an exact line search along gamma the objective starts at or below zero: a descent
  // method that is stopped early then cannot add energy, but for what undoes penetrations.
  std::vector<double> velocity(3 * problem.bodies(), 0.0);
  const double curvature = add_impulses(problem, gamma, velocity);
  double slope = 0;
  for (std::size_t i = 0; i < gamma.size(); ++i) slope += problem.r[i] * gamma[i];
  const double length = curvature > 0 ? std::clamp(-slope / curvature, 0.0, 1.0) : 0;
  for (double& g : gamma) g *= length;
  return gamma;
}

double Simulation::step(double dt, double margin, const StepAccuracy& accuracy) {
  constexpr double max_push = 0.2;  // m/s, largest speed that undoes a penetration
  std::vector<Candidate> candidates = find_candidates(spheres_, margin, sweep * dt);
  for (Candidate& candidate : candidates) candidate.gap = std::max(candidate.gap, -max_push * dt);
  SphereModel model = options_.model;
  model.dt = dt;
  model.hertz.young = 0;
  const ContactProblem problem = sphere_problem(spheres_, candidates, model);
  std::vector<double> gamma = guess(problem);
  solver_.solve(problem, accuracy, gamma);
  memory_.keep(problem, gamma);
  contacts_ = candidates.size();
  return move_spheres(spheres_, problem, gamma);
}

void check(const PileOptions& o) {
  const auto require = [](bool good, const char* place, const std::string& expected, double found) {
    if (!good) throw InputError("generate pile", place, expected, fmt::format("{}", found));
  };
  require(o.radius_min > 0, "radius_min", "> 0", o.radius_min);
  require(o.radius_max >= o.radius_min, "radius_max", fmt::format(">= {}", o.radius_min),
          o.radius_max);
  require(o.density > 0, "density", "> 0", o.density);
  require(o.model.dt > 0, "dt", "> 0", o.model.dt);
  require(o.flow_dt > 0, "flow_dt", "> 0", o.flow_dt);
  require(o.model.gravity[2] < 0, "gravity along z", "< 0", o.model.gravity[2]);
  require(o.model.mu >= 0, "mu", ">= 0", o.model.mu);
  require(o.rest_speed > 0, "rest_speed", "> 0", o.rest_speed);
  require(o.spheres > 0, "spheres", ">= 1", static_cast<double>(o.spheres));
  Spheres none;
  make_heavier(none, o.heavy);  // refuses bad values before the pile is settled
}

/// Lets the column collapse until the pile is at rest, or until the time `until` (if that is not
/// negative), s.
Spheres settle(const PileOptions& options, double until, StepSolver& solver,
               const std::function<void(const PileProgress&)>& progress) {
  Simulation simulation(options, column(options), solver);
  PileProgress now;
  while (until < 0 || now.time < until) {
    now.settling = now.time >= options.flow_time;
    const double dt = now.settling ? options.model.dt : options.flow_dt;
    now.max_speed = simulation.step(dt, now.settling ? settle_margin : flow_margin,
                                    now.settling ? options.settle : options.flow);
    now.time += dt;
    ++now.step;
    now.contacts = simulation.contacts();
    if (progress) progress(now);
    if (!std::isfinite(now.max_speed)) {
      throw InputError(fmt::format("generate pile: the step solver diverged in step {}", now.step));
    }
    if (until < 0 && now.settling && now.max_speed < options.rest_speed) break;
    if (now.step >= options.max_steps) {
      throw InputError(
          fmt::format("generate pile: not at rest after {} steps: fastest sphere {:.3g} m/s, "
                      "asked for {:g}",
                      now.step, now.max_speed, options.rest_speed));
    }
  }
  return simulation.spheres();
}

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

}  // namespace

ContactProblem generate_pile(const PileOptions& options, StepSolver& solver,
                             const std::function<void(const PileProgress&)>& progress) {
  check(options);
  if (options.model.hertz.young > 0) {
    throw InputError("generate pile", "elastic contacts", "a sequence of steps",
                     "a single problem, of spheres that hardly overlap");
  }
  Spheres spheres = settle(options, -1, solver, progress);
  freeze(options, spheres);
  const double mean_radius = 0.5 * (options.radius_min + options.radius_max);
  const std::vector<Candidate> candidates =
      options.contacts > 0 ? nearest_candidates(spheres, options.contacts)
                           : find_candidates(spheres, papers_cutoff * mean_radius);
  make_heavier(spheres, options.heavy);
  ContactProblem problem = sphere_problem(spheres, candidates, options.model);
  problem.name = "pile";
  problem.source.kind = "generated";
  problem.source.description = fmt::format("a settled pile of {} spheres", options.spheres);
  problem.source.licence = "BSD-3-Clause";
  return problem;
}

std::vector<ContactProblem> generate_pile_sequence(
    const PileOptions& options, const SequenceOptions& sequence, StepSolver& solver,
    StepSolver& accurate, const std::function<void(const PileProgress&)>& progress) {
  check(options);
  Spheres spheres = settle(options, sequence.from, solver, progress);
  if (sequence.from < 0) {
    freeze(options, spheres);
  } else {
    sort_spatially(spheres);
  }
  make_heavier(spheres, options.heavy);
  const bool elastic = options.model.hertz.young > 0;
  SphereStepper::Search search;
  if (!elastic) {
    search = [&](const Spheres& now) {
      return options.contacts > 0 ? nearest_candidates(now, options.contacts)
                                  : find_candidates(now, settle_margin, sweep * options.model.dt);
    };
  }
  SphereStepper stepper(std::move(spheres), options.model, search);
  if (elastic && sequence.from < 0) {
    come_to_rest(stepper, accurate, sequence.accuracy, options.rest_speed, options.max_steps);
  }
  record_steps(stepper, accurate, sequence.accuracy, 1, "lead-in");  // for the first guess
  std::vector<ContactProblem> steps =
      record_steps(stepper, accurate, sequence.accuracy, sequence.steps, sequence.name);
  for (ContactProblem& step : steps) {
    step.source.description = fmt::format(
        "a {} pile of {} spheres", sequence.from < 0 ? "settled" : "collapsing", options.spheres);
  }
  return steps;
}

}  // namespace ccp
