#include "problems/dynamics/steppers/rigid_stepper.hpp"

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/model/impulses.hpp"

namespace ccp {
namespace {

constexpr double sweep = 1.5;  // of what a pair can approach within the step

void check(StepModel& model) {
  using Range = OptionList::Range;
  OptionList list("of time steps", "model");
  double rolling = std::isinf(model.rolling) ? 0 : model.rolling;
  list.number("dt", model.dt, Range::positive(), "Time step, s")
      .number("mu", model.mu, Range::at_least(0), "Friction coefficient")
      .number("restitution", model.restitution, {0, 1}, "Newton's coefficient of restitution")
      .number("impact_speed", model.impact_speed, Range::at_least(0),
              "Slowest approach that bounces, m/s")
      .number("rolling", rolling, Range::at_least(0), "Coefficient of rolling resistance")
      .number("margin", model.margin, Range::at_least(0), "Gap of contacts, m");
  add_attraction_options(list, model.attraction);
  list.check();
}

}  // namespace

RigidStepper::RigidStepper(const StepModel& model) : model_(model) {
  check(model_);
}

std::vector<BodyContact> RigidStepper::contacts_near(const Bodies& bodies) const {
  // What gravity adds within the step is not in the velocities yet.
  const double fall = 2 * model_.dt * model_.dt * norm(model_.gravity);
  double seen = model_.margin;
  if (model_.attraction.acts()) seen = std::max(seen, model_.attraction.reach);
  return find_body_contacts(bodies, seen + fall, sweep * model_.dt);
}

FreeMotion RigidStepper::free(const Bodies& bodies) const {
  if (!model_.attraction.acts()) {
    return free_motion(bodies, model_.gravity, model_.load, model_.dt);
  }
  const auto load = [this](const Bodies& now, std::vector<double>& sum) {
    if (model_.load) model_.load(now, sum);
    add_attraction(now, model_.attraction, &sum, nullptr);
  };
  return free_motion(bodies, model_.gravity, load, model_.dt);
}

std::vector<double> RigidStepper::attracted(const Bodies& bodies) const {
  std::vector<double> impulse(3 * bodies.obstacles.size(), 0.0);
  add_attraction(bodies, model_.attraction, nullptr, &impulse);
  for (double& value : impulse) value *= model_.dt;
  return impulse;
}

void RigidStepper::add_guess(ContactProblem& problem) const {
  Guess& previous = problem.guesses["previous"];
  previous = {memory_.recall(problem), "the step before, by identity of the contacts"};
  clamp_into_cones(problem, previous.gamma);
}

Step RigidStepper::step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                        const StepStart& start) {
  std::vector<double> impulse = attracted(bodies);
  Step made = start.moves_bodies ? Stepper::step(bodies, solver, accuracy, start)
                                 : step_apart(bodies, solver, accuracy, start);
  made.obstacle_impulse = std::move(impulse);
  add_obstacle_impulses(bodies, made.problem, made.gamma, JointStage::step, made.obstacle_impulse);
  return made;
}

Step RigidStepper::step_apart(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                              const StepStart& start) {
  check_deforms(bodies);
  Step made;
  made.problem = problem(bodies);
  if (made.problem.form == ContactProblem::Form::assembled) {
    throw InputError("start of a step", "velocity", "true, with pseudo-rigid bodies", "false");
  }
  const std::vector<double> first = start_of(made.problem, start);
  std::vector<double> multipliers = first;
  ContactProblem apart = made.problem;
  const std::vector<double> moved =
      constraint_velocities(apart, body_velocity_changes(apart, first));
  std::size_t at = 0;
  for (auto* r : {&apart.r, &apart.rolling.r, &apart.equality.r}) {
    for (double& value : *r) value -= moved[at++];
  }
  if (apart.triples() > 0) solver.solve(apart, accuracy, multipliers);
  made.gamma = multipliers;
  for (std::size_t i = 0; i < first.size(); ++i) made.gamma[i] -= first[i];
  made.speed = finish(bodies, made.problem, made.gamma);
  remember(made.problem, multipliers);
  return made;
}

double RigidStepper::finish(Bodies& bodies, const ContactProblem& problem,
                            const std::vector<double>& gamma) {
  remember(problem, gamma);
  const std::vector<double> change = changes_of(bodies, problem, gamma);
  end_motion(bodies, free(bodies), change);
  return fastest(bodies);
}

std::vector<double> RigidStepper::solve_stage(const Bodies& bodies, const ContactProblem& problem,
                                              StepSolver& solver, const StepAccuracy& accuracy,
                                              Step& step) {
  std::vector<double> gamma(3 * problem.triples(), 0.0);
  if (problem.triples() == 0) return gamma;
  solver.solve(problem, accuracy, gamma);
  add_obstacle_impulses(bodies, problem, gamma, JointStage::velocities, step.obstacle_impulse);
  return gamma;
}

StepperMemory RigidStepper::save() const {
  StepperMemory memory;
  memory_.save(memory);
  return memory;
}

void add_restitution(const StepModel& model, const std::vector<double>& approach,
                     ContactProblem& problem) {
  for (std::size_t c = 0; c < approach.size(); ++c) {
    if (approach[c] < -model.impact_speed) problem.r[3 * c] += model.restitution * approach[c];
  }
}

}  // namespace ccp
