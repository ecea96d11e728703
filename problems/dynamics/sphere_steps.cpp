#include "problems/dynamics/sphere_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/model/impulses.hpp"

namespace ccp {
namespace {

/// World axes from contact axes: F^T g.
void to_world(const double* frame, const double* g, double* p) {
  for (int k = 0; k < 3; ++k) p[k] = frame[k] * g[0] + frame[3 + k] * g[1] + frame[6 + k] * g[2];
}

}  // namespace

double add_impulses(const ContactProblem& problem, const std::vector<double>& gamma,
                    std::vector<double>& velocity) {
  const std::vector<double> momentum = body_momenta(problem, gamma);
  double energy = 0;
  for (std::size_t i = 0; i < problem.bodies(); ++i) {
    for (int k = 0; k < 3; ++k) {
      const double change = problem.inverse_mass[i] * momentum[6 * i + k];
      velocity[3 * i + k] += change;
      energy += change * momentum[6 * i + k];
    }
  }
  return energy;
}

double move_spheres(Spheres& spheres, const ContactProblem& problem,
                    const std::vector<double>& gamma) {
  std::vector<double>& v = spheres.velocity;
  for (std::size_t i = 0; i < spheres.count(); ++i) {
    for (int k = 0; k < 3; ++k) v[3 * i + k] += problem.dt * problem.gravity[k];
  }
  add_impulses(problem, gamma, v);
  double fastest = 0;
  for (std::size_t i = 0; i < spheres.count(); ++i) {
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      spheres.position[3 * i + k] += problem.dt * v[3 * i + k];
      square += v[3 * i + k] * v[3 * i + k];
    }
    if (square > fastest || std::isnan(square)) fastest = square;
    if (std::isnan(fastest)) return fastest;
  }
  return std::sqrt(fastest);
}

void ImpulseMemory::keep(const ContactProblem& problem, const std::vector<double>& gamma) {
  bodies_ = problem.contact_bodies;
  dt_ = problem.dt;
  impulse_.resize(gamma.size());
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    to_world(&problem.frame[9 * c], &gamma[3 * c], &impulse_[3 * c]);
  }
}

std::vector<double> ImpulseMemory::recall(const ContactProblem& problem) const {
  const auto pair = [](const std::vector<std::int32_t>& bodies, std::size_t c) {
    return Candidate{bodies[2 * c], bodies[2 * c + 1], 0};
  };
  std::vector<double> gamma(3 * problem.contacts(), 0.0);
  const std::size_t kept = bodies_.size() / 2;
  std::size_t old = 0;  // both lists are ordered by (a, b)
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const Candidate here = pair(problem.contact_bodies, c);
    while (old < kept && by_bodies(pair(bodies_, old), here)) ++old;
    if (old == kept) break;
    if (by_bodies(here, pair(bodies_, old))) continue;  // a pair that was not there
    const double* frame = &problem.frame[9 * c];
    for (int row = 0; row < 3; ++row) {
      for (int k = 0; k < 3; ++k) {
        gamma[3 * c + row] += frame[3 * row + k] * impulse_[3 * old + k] * problem.dt / dt_;
      }
    }
  }
  return gamma;
}

void clamp_into_cones(const std::vector<double>& mu, std::vector<double>& gamma) {
  for (std::size_t c = 0; c < mu.size(); ++c) {
    double* const g = &gamma[3 * c];
    g[0] = std::max(g[0], 0.0);
    const double size = std::hypot(g[1], g[2]), most = mu[c] * g[0];
    if (size > most) {
      g[1] *= most / size;
      g[2] *= most / size;
    }
  }
}

std::vector<double> hertz_impulses(const ContactProblem& problem, const SphereModel& model) {
  std::vector<double> gamma(3 * problem.contacts(), 0.0);
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const std::int32_t a = problem.contact_bodies[2 * c], b = problem.contact_bodies[2 * c + 1];
    const double overlap = std::max(-problem.gap[c], 0.0);
    const double firm = std::max(overlap, model.hertz.smallest_overlap);
    const double k = hertz_stiffness(model.hertz, a < 0 ? 0 : problem.radius[a], problem.radius[b]);
    gamma[3 * c] = problem.dt * k * overlap * std::sqrt(firm);
    for (int row = 1; row < 3; ++row) {
      double slip = 0;
      for (int i = 0; i < 3; ++i) {
        const double relative =
            problem.velocity[6 * b + i] - (a < 0 ? 0 : problem.velocity[6 * a + i]);
        slip += problem.frame[9 * c + 3 * row + i] * relative;
      }
      gamma[3 * c + row] = -problem.dt / model.hertz.tangential * slip;
    }
  }
  clamp_into_cones(problem.mu, gamma);
  return gamma;
}

std::int64_t pair_identity(std::int32_t a, std::int32_t b) {
  return (static_cast<std::int64_t>(a) + 1) * (std::int64_t{1} << 32) + b;
}

SphereStepper::SphereStepper(Spheres spheres, SphereModel model, Search search)
    : spheres_(std::move(spheres)), model_(model), search_(std::move(search)) {}

ContactProblem SphereStepper::next() const {
  ContactProblem step = sphere_problem(
      spheres_,
      search_ ? search_(spheres_) : find_candidates(spheres_, model_.hertz.smallest_overlap),
      model_);
  for (std::size_t c = 0; c < step.contacts(); ++c) {
    step.identity.push_back(
        pair_identity(step.contact_bodies[2 * c], step.contact_bodies[2 * c + 1]));
  }
  Guess& previous = step.guesses["previous"];
  previous = {memory_.recall(step), "the step before, by identity of the contacts"};
  clamp_into_cones(step.mu, previous.gamma);
  if (model_.hertz.young > 0) {
    step.guesses["hertz"] = {hertz_impulses(step, model_), "Hertz's law and Rayleigh dissipation"};
  }
  return step;
}

double SphereStepper::advance(const ContactProblem& step, const std::vector<double>& gamma) {
  memory_.keep(step, gamma);
  return move_spheres(spheres_, step, gamma);
}

namespace {

/// Solves the stepper's next step, `step`, from zero and ends it. @return the largest speed, m/s
double solve_step(SphereStepper& stepper, const ContactProblem& step, StepSolver& solver,
                  const StepAccuracy& accuracy, std::vector<double>& gamma,
                  const std::string& where) {
  gamma.assign(3 * step.contacts(), 0.0);
  solver.solve(step, accuracy, gamma);
  const double speed = stepper.advance(step, gamma);
  if (!std::isfinite(speed)) throw InputError(where + ": the step solver diverged");
  return speed;
}

}  // namespace

int come_to_rest(SphereStepper& stepper, StepSolver& solver, const StepAccuracy& accuracy,
                 double speed, int most) {
  std::vector<double> gamma;
  double fastest = 0;
  for (int steps = 1; steps <= most; ++steps) {
    fastest = solve_step(stepper, stepper.next(), solver, accuracy, gamma,
                         fmt::format("coming to rest, step {}", steps));
    if (fastest < speed) return steps;
  }
  throw InputError(
      fmt::format("not at rest after {} steps: fastest sphere {:.3g} m/s, asked for {:g}", most,
                  fastest, speed));
}

std::vector<ContactProblem> record_steps(SphereStepper& stepper, StepSolver& solver,
                                         const StepAccuracy& accuracy, std::size_t steps,
                                         const std::string& name) {
  std::vector<ContactProblem> recorded;
  for (std::size_t k = 0; k < steps; ++k) {
    ContactProblem step = stepper.next();
    std::vector<double> gamma;
    solve_step(stepper, step, solver, accuracy, gamma, fmt::format("{}, step {}", name, k));
    step.name = fmt::format("{}-{:04}", name, k);
    step.reference = Reference{std::move(gamma), {}, {}, ""};
    step.source.kind = "generated";
    step.source.licence = "BSD-3-Clause";
    recorded.push_back(std::move(step));
  }
  return recorded;
}

}  // namespace ccp
