// `ccpbench simulate SCENE[option=value,...]`: any scene with a motion.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>

#include "harness/app/app.hpp"
#include "harness/app/json.hpp"
#include "harness/app/listed_options.hpp"
#include "harness/app/terminal.hpp"
#include "harness/simulation/simulation_summary.hpp"
#include "problems/base/error.hpp"
#include "problems/base/output_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp::app {
namespace {

struct SceneArguments {
  SimulationRequest request;
  std::string output, checkpoint, freeze, row_residuals, study_key;
  int checkpoint_every = 100;
  int threads = 1;
  bool resume = false, force = false, json = false, quiet = false;
};

nlohmann::ordered_json unsolved_json(const UnsolvedStep& step, const SimulationRequest& asked) {
  return {{"step", step.step},
          {"time", step.time},
          {"residual", number_or_null(step.residual)},
          {"residual_asked", number_or_null(asked.residual)},
          {"error", number_or_null(step.error)},
          {"error_asked", number_or_null(asked.error)},
          {"status", step.status},
          {"message", step.message}};
}

nlohmann::ordered_json as_json(const Simulation& simulation, const SimulationSummary& summary) {
  const Trajectory& t = simulation.trajectory();
  nlohmann::ordered_json object = {{"scene", t.scene},
                                   {"options", t.options},
                                   {"stepper", t.stepper},
                                   {"solver", t.solver},
                                   {"status", summary.status}};
  for (const auto& [name, value] : summary.numbers) {
    object[name] = is_count(name) ? nlohmann::ordered_json(std::lround(value))
                                  : nlohmann::ordered_json(number_or_null(value));
  }
  if (simulation.first_unsolved()) {
    const SimulationRequest& asked = simulation.request();
    object["first_unsolved"] = unsolved_json(*simulation.first_unsolved(), asked);
    object["worst_unsolved"] = unsolved_json(*simulation.worst_unsolved(), asked);
  }
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  for (const auto& [name, value] : summary.values) values[name] = number_or_null(value);
  object["values"] = values;
  return object;
}

/// The first step that is not solved as asked for, and the worst.
void print_unsolved(const Simulation& simulation) {
  const auto &first = simulation.first_unsolved(), &worst = simulation.worst_unsolved();
  if (!first || !worst) return;
  const bool one = first->step == worst->step;
  const SimulationRequest& asked = simulation.request();
  fmt::print("\n{:<10} {}{}", "unsolved", one ? "" : "first ", first->text(asked));
  if (!one) fmt::print("\n{:<10} worst {}", "", worst->text(asked));
}

void print_text(const Simulation& simulation, const SimulationSummary& summary) {
  const Trajectory& t = simulation.trajectory();
  const auto number = [&](const char* name) {
    for (const auto& [known, value] : summary.numbers) {
      if (known == name) return value;
    }
    return std::nan("");
  };
  fmt::print("{:<10} {} with {}{}\n", "scene", t.scene, t.stepper,
             t.solver.empty() ? "" : " and " + t.solver);
  fmt::print("{:<10} {} steps to {:.6g} s, {}\n", "made", grouped(static_cast<long>(t.steps())),
             number("time"), summary.status);
  fmt::print("{:<10} {} solving, {} in all\n", "time", duration(number("solver_time")),
             duration(number("wall_time")));
  fmt::print("{:<10} {:.1f} contacts and {:.1f} outer iterations a step\n", "mean",
             number("contacts_mean"), number("outer_mean"));
  fmt::print("{:<10} {} at worst", "residual", scientific(number("residual_max")));
  if (const long unsolved = simulation.unsolved(); unsolved > 0) {
    fmt::print(", {} of {} steps are not solved as asked for", grouped(unsolved),
               grouped(static_cast<long>(t.steps())));
    print_unsolved(simulation);
  }
  fmt::print("\n{:<10} {:.3g} m at most\n", "overlap", number("penetration_max"));
  if (!simulation.bodies().joints.empty()) {
    fmt::print("{:<10} open by {:.3g} at most\n", "joints", number("joint_error_max"));
  }
  if (t.steps() > 0) {
    fmt::print("{:<10} {:.6g} J at the start, {:.6g} J at the end\n", "energy",
               number("energy_first"), number("energy_last"));
  }
  for (const auto& [name, value] : summary.values) {
    fmt::print("  {:<24} {:.10g}\n", name, value);
  }
}

/// "3,10..20" as a set. @throws InputError
std::set<long> steps_in(const std::string& option, const std::string& text) {
  std::set<long> steps;
  std::size_t at = 0;
  while (at <= text.size() && !text.empty()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const std::size_t dots = part.find("..");
    double first = 0, last = 0;
    const bool good = dots == std::string::npos
                          ? parse_number(part, first) && parse_number(part, last)
                          : parse_number(part.substr(0, dots), first) &&
                                parse_number(part.substr(dots + 2), last);
    if (!good || first < 0 || last < first || last > 1e9 || first != std::floor(first) ||
        last != std::floor(last)) {
      throw InputError(option, "", "steps from 0, like 3,10..20", "'" + part + "'");
    }
    for (long k = static_cast<long>(first); k <= static_cast<long>(last); ++k) steps.insert(k);
    at = comma + 1;
  }
  return steps;
}

/// The problem of a step for a sequence: with the guesses of the step, and what the simulation
/// took.
ContactProblem frozen(const Simulation& simulation, const Step& step, long number,
                      const std::string& command) {
  ContactProblem problem = step.problem;
  problem.name = fmt::format("{}-{:05}", simulation.trajectory().scene, number);
  problem.source.kind = "generated";
  problem.source.description =
      fmt::format("step {} of {} with {}", number, simulation.trajectory().scene,
                  simulation.trajectory().stepper);
  problem.source.licence = "BSD-3-Clause";
  problem.source.generator = command;
  problem.guesses["simulation"] = {step.gamma, "what the simulation went on with"};
  return problem;
}

class Eta {
 public:
  explicit Eta(long already) : already_(already) {}
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  std::string left(long made, long asked) const {
    if (made <= already_) return "";
    const double each = elapsed() / static_cast<double>(made - already_);
    return rough_duration(each * static_cast<double>(asked - made));
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  long already_;
};

void simulate(const SceneArguments& a, Context& context) {
  if (!a.output.empty()) check_output_path(a.output, a.force, {a.checkpoint});
  const std::set<long> wanted = steps_in("--freeze", a.freeze);
  if (!wanted.empty() && a.output.empty()) {
    throw InputError("--freeze: where to? -o FILE.h5 makes FILE-steps.h5");
  }
  std::string frozen_path = a.output;
  if (frozen_path.size() > 3 && frozen_path.compare(frozen_path.size() - 3, 3, ".h5") == 0) {
    frozen_path.resize(frozen_path.size() - 3);
  }
  frozen_path += "-steps.h5";
  if (!wanted.empty()) check_output_path(frozen_path, a.force, {a.output, a.checkpoint});
  if (a.resume && a.checkpoint.empty()) {
    throw InputError("--resume", "", "a file to go on from (--checkpoint FILE)", "none");
  }
  const KokkosSession kokkos(a.threads);
  SimulationRequest request = a.request;
  // Frames wait where the file will be: there is room for them, or there is none for it either.
  const std::string& file = a.output.empty() ? a.checkpoint : a.output;
  request.aside = std::filesystem::path(file).parent_path().string();
  if (request.aside.empty() && !file.empty()) request.aside = ".";
  request.row_residuals = steps_in("--row-residuals", a.row_residuals);
  Simulation simulation(request);
  simulation.set_provenance(collect_provenance(backend_threads(), context.command_line));
  if (a.resume && path_exists(a.checkpoint)) simulation.resume(a.checkpoint);
  std::vector<ContactProblem> kept;
  ProgressLine progress(!a.quiet && !a.json);
  const Eta eta(simulation.steps_made());
  std::string trouble;
  try {
    while (simulation.state() == SimulationEnd::running) {
      const long number = simulation.steps_made();
      const Step& step = simulation.step();
      if (wanted.count(number) > 0) {
        kept.push_back(frozen(simulation, step, number, context.command_line));
      }
      if (!a.checkpoint.empty() && simulation.steps_made() % a.checkpoint_every == 0) {
        simulation.write_checkpoint(a.checkpoint);
      }
      progress.show(fmt::format("{} {:.4g} s, {} contacts", simulation.trajectory().scene,
                                simulation.bodies().time,
                                grouped(static_cast<long>(step.problem.contacts()))),
                    fmt::format("  {}/{} steps, {} left", grouped(simulation.steps_made()),
                                grouped(simulation.steps_asked()),
                                eta.left(simulation.steps_made(), simulation.steps_asked())));
    }
  } catch (const InputError& error) {
    // What was computed is kept; the step that could not be made is told below.
    trouble = fmt::format("step {}: {}", simulation.steps_made(), error.what());
  }
  progress.clear();
  simulation.keep_last_frame();
  const SimulationSummary summary = summary_of(simulation, eta.elapsed());
  if (!a.output.empty()) {
    simulation.write(a.output, a.force, [&](Hdf5File& file) {
      write_summary(file, summary);
      if (a.study_key.empty()) return;
      file.make_group("/study");
      file.set_attribute("/study", "key", a.study_key);
    });
  }
  if (!kept.empty()) {
    write_sequence(frozen_path, simulation.trajectory().scene, kept, a.force);
  }
  if (!trouble.empty()) throw InputError(trouble);
  if (!a.checkpoint.empty()) simulation.write_checkpoint(a.checkpoint);
  if (a.json) {
    print_json(as_json(simulation, summary));
  } else if (!a.quiet) {
    print_text(simulation, summary);
  }
  if (simulation.state() == SimulationEnd::diverged) {
    fmt::print(stderr, "ccpbench: {}: {}\n", simulation.trajectory().scene, simulation.complaint());
    context.exit_code = target_not_reached;
  }
}

std::string names_of_scenes() {
  std::vector<std::string> names;
  for (const SceneEntry& entry : scene_entries()) {
    if (entry.can(SceneAbility::motion)) names.push_back(entry.id);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}
std::string names_of_steppers() {
  std::vector<std::string> names;
  for (const StepperEntry& entry : stepper_entries()) names.push_back(entry.id);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void add_simulate_scene(CLI::App& command, Context& context) {
  auto a = std::make_shared<SceneArguments>();
  SimulationRequest& request = a->request;
  command.add_option("scene", request.scene,
                     "SCENE[option=value,...]: " + names_of_scenes() +
                         "; or a scene file FILE.yaml (docs/scene-files.md)");
  command.add_option("--stepper", request.stepper,
                     "Time-stepping scheme (default: the scene's): " + names_of_steppers());
  command.add_option("-s,--solver", request.solver, "Solver of the steps (default: the scene's)");
  command
      .add_option("--start", request.start,
                  "Where the solver starts: cold, previous, "
                  "history[beta=0.85,rows=normals,velocity=false], hertz, model, NAME*FACTOR")
      ->capture_default_str();
  command.add_option("--from", request.from,
                     "Trajectory in whose last frame the bodies begin, at time zero");
  using Range = OptionList::Range;
  add_number(command, "--dt", request.dt, Range::positive(), "Time step, s (default: the scene's)")
      ->default_str("");
  add_number(command, "--until", request.until, Range::positive(),
             "Simulated time, s (default: the scene's)")
      ->default_str("");
  add_number(command, "--residual", request.residual, Range::positive(),
             "A step is solved when the referee measures that, by the solver's law");
  add_number(command, "--error", request.error, Range::positive(),
             "The papers' max(cost, feas) of a step, in place of the residual (both: both)")
      ->default_str("");
  add_integer(command, "--iterations", request.iterations, {1, 1000000000},
              "Outer iterations a solve, at most");
  command.add_flag("--fixed-iterations", request.fixed_iterations,
                   "Every solve takes --iterations outer iterations, whatever it reaches");
  add_integer(command, "--every", request.every, Range::at_least(1),
              "Steps between the frames that are kept (default: by the number of bodies)")
      ->default_str("");
  command.add_option("-o,--output", a->output, "Trajectory file to write");
  command.add_option("--freeze", a->freeze,
                     "Steps whose problems are written as a sequence, OUTPUT-steps.h5: 3,10..20");
  command.add_option(
      "--row-residuals", a->row_residuals,
      "Steps whose residuals by kind of row are kept after every outer iteration, in "
      "/row_residuals of the output: 3,10..20");
  command.add_option("--study-key", a->study_key, "for studies")->group("");
  command.add_option("--checkpoint", a->checkpoint,
                     "File that is written on the way, and at the end, to go on from");
  add_integer(command, "--checkpoint-every", a->checkpoint_every, Range::at_least(1),
              "Steps between checkpoints");
  command.add_flag("--resume", a->resume, "Go on from the checkpoint, if it is there");
  add_threads(command, a->threads);
  command.add_flag("--force", a->force, "Overwrite the output");
  command.add_flag("--json", a->json, "Print JSON");
  command.add_flag("--quiet", a->quiet, "Print nothing");
  command.callback([a, &command, &context] {
    if (!command.get_subcommands().empty()) return;
    const bool error_alone = command.get_option("--error")->count() > 0 &&
                             command.get_option("--residual")->count() == 0;
    if (error_alone) a->request.residual = std::numeric_limits<double>::infinity();
    if (a->request.scene.empty()) throw CLI::RequiredError("scene");
    simulate(*a, context);
  });
}

}  // namespace ccp::app
