#include "harness/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "harness/run/start.hpp"
#include "problems/base/error.hpp"
#include "problems/base/sha256.hpp"
#include "problems/dynamics/energy.hpp"
#include "problems/dynamics/joint_rows.hpp"
#include "problems/model/row_residuals.hpp"

namespace ccp {
namespace {

/// "height=1,dt=0.01" of all options as they are.
std::string text_of(const OptionList& options) {
  std::vector<std::string> all;
  for (const OptionList::Entry& entry : options.entries()) {
    all.push_back(entry.name + "=" + entry.value);
  }
  return fmt::format("{}", fmt::join(all, ","));
}

/// `history[beta=B,rows=normals,velocity=false]` is Wang 2016's, all else is parse_start()'s.
StepStart start_of(const std::string& text) {
  const std::string history = "history";
  if (text != history && text.rfind(history + "[", 0) != 0) {
    const Start start = parse_start(text, "--start");
    return {start.name == "cold" ? "" : start.name, start.factor};
  }
  StepStart start{"previous", 0.85};
  std::string rows = "all";
  OptionList options("history", "start");
  options
      .number("beta", start.factor, {0, 1, true, false}, "Part of the impulses of the step before")
      .choice("rows", rows, {"all", "normals"}, "Which of them")
      .flag("velocity", start.moves_bodies,
            "They change the velocities that the solver begins with");
  for (const auto& [name, value] : SolverSpec::parse(text).options) options.set(name, value);
  start.normals_only = rows == "normals";
  return start;
}

/// @throws InputError where the scheme is one with another law than the solver's
void check_law(const StepperEntry& stepper, const MeasuredStepSolver& solver,
               const std::string& solver_text) {
  if (stepper.law.empty() || !stepper.solves || stepper.law == to_string(solver.law())) return;
  throw InputError(
      fmt::format("--stepper {} solves steps with {} friction, --solver {} has the {} law",
                  stepper.id, stepper.law, solver_text, to_string(solver.law())));
}

void append(std::vector<double>& to, const double* from, std::size_t count) {
  to.insert(to.end(), from, from + count);
}

const char* const state_group = "/checkpoint";

/// The state of the bodies: what a step changes.
std::vector<std::pair<std::string, std::vector<double>*>> state_of(Bodies& bodies) {
  std::vector<std::pair<std::string, std::vector<double>*>> state = {
      {"position", &bodies.position},
      {"orientation", &bodies.orientation},
      {"velocity", &bodies.velocity},
      {"angular_velocity", &bodies.angular_velocity}};
  if (bodies.deforms()) {
    state.emplace_back("deformation", &bodies.deformation);
    state.emplace_back("deformation_rate", &bodies.deformation_rate);
  }
  return state;
}

}  // namespace

Simulation::Simulation(const SimulationRequest& request)
    : request_(request), frames_(request.aside) {
  set_scene();
  bodies_ = setup_.bodies;
  if (!request_.from.empty()) take_bodies(request_.from);
  bodies_.check("scene " + trajectory_.scene);
  check_joints(bodies_, "scene " + trajectory_.scene);
  if (request_.stepper.empty()) request_.stepper = setup_.stepper;
  const StepperEntry& stepper = find_stepper(SolverSpec::parse(request_.stepper).id);
  if (request_.solver.empty()) {
    request_.solver = stepper.law == "convex" ? "vipm" : setup_.solver;
  }
  stepper_ = make_stepper(request_.stepper, setup_.model);
  solver_ = std::make_unique<MeasuredStepSolver>(request_.solver);
  check_law(stepper, *solver_, request_.solver);
  if (std::isfinite(request_.error) && stepper.solves && solver_->law() != Law::convex) {
    throw InputError("--error", "", "a solver of the convex law, whose error it is",
                     request_.solver);
  }
  if (!request_.row_residuals.empty() && solver_->law() != Law::coulomb) {
    throw InputError("--row-residuals", "", "a solver of Coulomb's law, whose rows they are",
                     request_.solver);
  }
  if (bodies_.deforms()) check_deforms();
  start_ = stepper.solves ? start_of(request_.start) : StepStart{};
  if (!(request_.until > 0)) request_.until = setup_.until;
  steps_asked_ = std::max(1L, std::lround(std::ceil(request_.until / setup_.model.dt - 1e-9)));
  constexpr double kept = 3e5;  // bodies in all frames
  const double all = static_cast<double>(steps_asked_) * static_cast<double>(bodies_.count());
  every_ = request_.every > 0 ? request_.every : std::max(1L, std::lround(std::ceil(all / kept)));

  trajectory_.stepper = request_.stepper;
  trajectory_.solver = stepper.solves ? request_.solver : "";
  trajectory_.bodies = bodies_.count();
  trajectory_.deforms = bodies_.deforms();
  trajectory_.obstacles = bodies_.obstacles.size();
  for (const Shape& shape : bodies_.shape) {
    trajectory_.body_shape.emplace_back(shape.kind);
    append(trajectory_.body_size, shape.size.data(), 3);
  }
  for (const Obstacle& obstacle : bodies_.obstacles) {
    trajectory_.obstacle_shape.emplace_back(obstacle.shape.kind);
    append(trajectory_.obstacle_size, obstacle.shape.size.data(), 3);
  }
  const Energy energy = energy_of(bodies_, setup_.model.gravity);
  energy_first_ = energy.kinetic + energy.potential;
  keep_frame();
}

void Simulation::check_deforms() const {
  if (!stepper_->deforms()) {
    throw InputError("--stepper", "", "moreau, which moves pseudo-rigid bodies", request_.stepper);
  }
  if (!bodies_.joints.empty()) {
    throw InputError("scene " + trajectory_.scene, "joints",
                     "none beside pseudo-rigid bodies: their steps are in assembled form",
                     fmt::format("{}", bodies_.joints.size()));
  }
  if (!request_.row_residuals.empty()) {
    throw InputError("--row-residuals", "", "steps with masses and frames",
                     "those of pseudo-rigid bodies, in assembled form");
  }
}

void Simulation::set_scene() {
  if (is_scene_file(request_.scene)) {
    SceneFile file = read_scene_file(request_.scene);
    trajectory_.scene = file.name;
    trajectory_.options = "sha256=" + file.digest;
    setup_ = std::move(file.setup);
    if (request_.dt > 0) {
      setup_.model.dt = request_.dt;
      trajectory_.options += ",dt=" + number_text(request_.dt);
    }
    return;
  }
  const SolverSpec spec = SolverSpec::parse(request_.scene);
  const SceneEntry& entry = find_scene(spec.id);
  if (!entry.can(SceneAbility::motion)) {
    throw InputError(fmt::format("the scene {} has no motion to simulate", spec.id));
  }
  scene_ = entry.make();
  OptionList options = scene_->options();
  for (const auto& [name, value] : spec.options) options.set(name, value);
  if (request_.dt > 0) options.set("dt", number_text(request_.dt));
  trajectory_.scene = spec.id;
  setup_ = scene_->setup();
  trajectory_.options = text_of(scene_->options());
}

void Simulation::take_bodies(const std::string& path) {
  FrameArrays frames(request_.aside);
  const Trajectory past = read_trajectory(path, &frames);
  const std::size_t m = bodies_.count();
  if (past.bodies != m || past.frames() == 0) {
    throw InputError(path, "/bodies", fmt::format("frames of the {} bodies of the scene", m),
                     fmt::format("{} frames of {}", past.frames(), past.bodies));
  }
  for (std::size_t i = 0; i < m; ++i) {
    const Shape& shape = bodies_.shape[i];
    const double* size = &past.body_size[3 * i];
    if (past.body_shape[i] != shape.kind || !std::equal(size, size + 3, shape.size.begin())) {
      throw InputError(
          path, fmt::format("/bodies/size of body {}", i),
          fmt::format("a {} of {} m", shape.kind, fmt::join(shape.size, ", ")),
          fmt::format("a {} of {} m", past.body_shape[i], fmt::join(size, size + 3, ", ")));
    }
  }
  if (past.deforms != bodies_.deforms()) {
    throw InputError(path, "/bodies/deformation",
                     bodies_.deforms() ? "that of pseudo-rigid bodies" : "none: bodies are rigid",
                     past.deforms ? "one" : "none");
  }
  const std::size_t last = past.frames() - 1;
  std::vector<double> velocity(6 * m);
  frames.position.read(3 * m * last, 3 * m, bodies_.position.data());
  frames.orientation.read(4 * m * last, 4 * m, bodies_.orientation.data());
  frames.velocity.read(6 * m * last, 6 * m, velocity.data());
  if (bodies_.deforms()) {
    frames.deformation.read(9 * m * last, 9 * m, bodies_.deformation.data());
    frames.deformation_rate.read(9 * m * last, 9 * m, bodies_.deformation_rate.data());
  }
  for (std::size_t i = 0; i < m; ++i) {
    std::copy_n(&velocity[6 * i], 3, &bodies_.velocity[3 * i]);
    std::copy_n(&velocity[6 * i + 3], 3, &bodies_.angular_velocity[3 * i]);
  }
  Sha256 digest;
  for (const auto& [name, array] : state_of(bodies_)) {
    digest.update(array->data(), array->size() * sizeof(double));
  }
  trajectory_.options += ",from=sha256:" + digest.hex();
}

void Simulation::keep_frame() {
  frames_.position.append(bodies_.position.data(), bodies_.position.size());
  frames_.orientation.append(bodies_.orientation.data(), bodies_.orientation.size());
  const std::vector<double> velocity = velocities_of(bodies_);
  frames_.velocity.append(velocity.data(), velocity.size());
  frames_.deformation.append(bodies_.deformation.data(), bodies_.deformation.size());
  frames_.deformation_rate.append(bodies_.deformation_rate.data(), bodies_.deformation_rate.size());
  trajectory_.frame_step.push_back(steps_made());
}

void Simulation::keep_row_residuals(const ContactProblem& problem, long outer,
                                    const std::vector<double>& gamma) {
  const RowResiduals rows = row_residuals(problem, gamma);
  Trajectory& t = trajectory_;
  t.row_step.push_back(steps_made());
  t.row_solve.push_back(solver_->tally().solves);
  t.row_outer.push_back(outer);
  t.row_normal.push_back(rows.normal);
  t.row_tangential.push_back(rows.tangential);
  t.row_rolling.push_back(rows.rolling);
  t.row_equality.push_back(rows.equality);
}

void Simulation::keep_last_frame() {
  if (trajectory_.frame_step.back() != steps_made()) keep_frame();
}

const Step& Simulation::step() {
  StepAccuracy accuracy = asked();
  if (request_.fixed_iterations) {
    accuracy.error = accuracy.residual = std::numeric_limits<double>::infinity();
  }
  solver_->reset();
  if (request_.row_residuals.count(steps_made()) > 0) {
    solver_->set_watch(
        [this](const ContactProblem& problem, long outer, const std::vector<double>& gamma) {
          keep_row_residuals(problem, outer, gamma);
        });
  } else {
    solver_->set_watch({});
  }
  last_ = stepper_->step(bodies_, *solver_, accuracy, start_);
  const SolveTally& tally = solver_->tally();
  const double dt = setup_.model.dt;
  Trajectory& t = trajectory_;
  t.time.push_back(bodies_.time);
  t.contacts.push_back(static_cast<std::int64_t>(last_.problem.contacts()));
  t.outer.push_back(tally.outer);
  t.krylov.push_back(tally.krylov);
  t.status.push_back(tally.solves > 0 ? tally.status : "no_solve");
  t.solver_time.push_back(tally.seconds);
  t.residual.push_back(tally.residual);
  if (!asked().met(tally.error, tally.residual)) {
    ++unsolved_;
    keep_unsolved({steps_made() - 1, bodies_.time, tally.residual,
                   std::isfinite(request_.error) ? tally.error : std::nan(""), t.status.back(),
                   tally.message});
  }
  double deepest = 0;
  for (const double gap : last_.problem.gap) deepest = std::max(deepest, -gap);
  t.penetration.push_back(deepest);
  const Energy energy = energy_of(bodies_, setup_.model.gravity);
  if (!bodies_.joints.empty()) t.joint_error.push_back(joint_error(bodies_));
  t.kinetic.push_back(energy.kinetic);
  t.potential.push_back(energy.potential);
  std::vector<double> force(3 * t.obstacles, 0.0);
  for (std::size_t i = 0; i < std::min(force.size(), last_.obstacle_impulse.size()); ++i) {
    force[i] = last_.obstacle_impulse[i] / dt;
  }
  append(t.obstacle_force, force.data(), force.size());
  std::size_t which = 0;
  const double speed = fastest(bodies_, &which);
  if (!(speed <= setup_.fastest)) {
    state_ = SimulationEnd::diverged;
    complaint_ = fmt::format("diverged in step {} at {:.6g} s: body {} has {:.3g} m/s",
                             steps_made() - 1, bodies_.time, which, speed);
  } else if (steps_made() >= steps_asked_) {
    state_ = SimulationEnd::finished;
  }
  if (steps_made() % every_ == 0) keep_frame();
  return last_;
}

std::string UnsolvedStep::text(const SimulationRequest& asked) const {
  std::string found;
  if (std::isfinite(asked.residual)) {
    found = fmt::format("residual {:.2g}, {:.2g} asked for", residual, asked.residual);
  }
  if (std::isfinite(asked.error)) {
    found += fmt::format("{}error {:.2g}, {:.2g} asked for", found.empty() ? "" : "; ", error,
                         asked.error);
  }
  return fmt::format("step {} at {:.6g} s: {}; {} ended as {}{}{}", step, time, found,
                     SolverSpec::parse(asked.solver).id, status, message.empty() ? "" : ": ",
                     message);
}

void Simulation::keep_unsolved(const UnsolvedStep& step) {
  if (!first_unsolved_) first_unsolved_ = step;
  if (!worst_unsolved_ || !(step.residual <= worst_unsolved_->residual)) worst_unsolved_ = step;
}

SceneValues Simulation::values() const {
  return setup_.values ? setup_.values(bodies_) : SceneValues();
}

StepAccuracy Simulation::asked() const {
  StepAccuracy accuracy;
  accuracy.error = request_.error;
  accuracy.residual = request_.residual;
  accuracy.max_iterations = request_.iterations;
  return accuracy;
}

std::vector<std::pair<std::string, std::string>> Simulation::key() const {
  return {{"scene", trajectory_.scene},
          {"options", trajectory_.options},
          {"stepper", trajectory_.stepper},
          {"solver", request_.solver},
          {"start", request_.start},
          {"residual", number_text(request_.residual)},
          {"error", number_text(request_.error)},
          {"iterations", std::to_string(request_.iterations)},
          {"fixed_iterations", request_.fixed_iterations ? "true" : "false"},
          {"every", std::to_string(every_)}};
}

void Simulation::write_checkpoint(const std::string& path) const {
  write(path, true, [this](Hdf5File& file) {
    const std::string group = state_group;
    file.make_group(group);
    for (const auto& [name, value] : key()) file.set_attribute(group, name, value);
    file.set_attribute(group, "time", bodies_.time);
    file.set_attribute(group, "unsolved", static_cast<double>(unsolved_));
    Bodies state = bodies_;
    for (const auto& [name, array] : state_of(state)) {
      file.write(group + "/" + name, *array, {array->size()});
    }
    const StepperMemory memory = stepper_->save();
    for (const auto& [name, array] : memory.numbers) {
      file.write(group + "/memory/numbers/" + name, array, {array.size()});
    }
    for (const auto& [name, array] : memory.identities) {
      file.write(group + "/memory/identities/" + name, array, {array.size()});
    }
  });
}

void Simulation::resume(const std::string& path) {
  FrameArrays frames(request_.aside);
  Trajectory kept = read_trajectory(path, &frames);
  const Hdf5File file = Hdf5File::open(path);
  const std::string group = state_group;
  const auto time = file.number_attribute(group, "time");
  if (!file.has(group) || !time || time->size() != 1) {
    throw InputError(path, group, "a checkpoint of a simulation", "a trajectory without one");
  }
  for (const auto& [name, value] : key()) {
    // Checkpoints of before the option was there are those of its default.
    std::string absent = "nothing";
    if (name == "fixed_iterations") absent = "false";
    if (name == "error") absent = "inf";
    const std::string found = file.string_attribute(group, name).value_or(absent);
    if (found != value) {
      throw InputError(path, group + " attribute " + name, "'" + value + "', as asked for",
                       "'" + found + "'");
    }
  }
  for (const auto& [name, array] : state_of(bodies_)) {
    std::vector<double> data = file.read<double>(group + "/" + name).data;
    if (data.size() != array->size()) {
      throw InputError(path, group + "/" + name, fmt::format("{} values", array->size()),
                       fmt::format("{}", data.size()));
    }
    *array = std::move(data);
  }
  bodies_.time = time->front();
  StepperMemory memory;
  for (const std::string& name : file.names(group + "/memory/numbers")) {
    memory.numbers[name] = file.read<double>(group + "/memory/numbers/" + name).data;
  }
  for (const std::string& name : file.names(group + "/memory/identities")) {
    memory.identities[name] = file.read<std::int64_t>(group + "/memory/identities/" + name).data;
  }
  stepper_->restore(memory);
  kept.provenance = trajectory_.provenance;
  if (const auto unsolved = file.number_attribute(group, "unsolved")) {
    unsolved_ = std::lround(unsolved->at(0));
  } else {  // of before there were other bounds than that of the residual
    unsolved_ = std::count_if(kept.residual.begin(), kept.residual.end(),
                              [this](double residual) { return !(residual <= request_.residual); });
  }
  trajectory_ = std::move(kept);
  frames_ = std::move(frames);
  for (std::size_t k = 0; std::isinf(request_.error) && k < trajectory_.residual.size(); ++k) {
    const double residual = trajectory_.residual[k];
    if (residual <= request_.residual) continue;
    keep_unsolved({static_cast<long>(k), trajectory_.time[k], residual, std::nan(""),
                   trajectory_.status[k], ""});
  }
  if (steps_made() >= steps_asked_) state_ = SimulationEnd::finished;
}

}  // namespace ccp
