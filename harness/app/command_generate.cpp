#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "harness/app/app.hpp"
#include "harness/app/listed_options.hpp"
#include "harness/app/output_check.hpp"
#include "harness/app/terminal.hpp"
#include "harness/measure/certify.hpp"
#include "harness/simulation/step_solver.hpp"
#include "problems/base/error.hpp"
#include "problems/base/output_file.hpp"
#include "problems/base/text.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "problems/scenes/scene_table.hpp"

namespace ccp::app {
namespace {

/// What `generate ID` is told. Scenes that cannot do what an option is for do not have it.
struct GenerateArguments {
  SceneEntry entry;
  std::unique_ptr<Scene> scene;
  std::unique_ptr<ListedOptions> options, sequence_options;
  SequenceOptions sequence;
  bool steps_given = false;  ///< where both a problem and a sequence can be made: a sequence
  std::string output, trajectory, step_solver;
  std::string accurate_solver = "vipm[linear_solver=cholesky,tolerance=0]";
  int threads = 1;
  bool force = false;
};

/// Certifies the steps and writes them. @throws InputError if one is not as accurate as asked for
void store_sequence(const GenerateArguments& a, std::vector<ContactProblem> steps,
                    const Context& context) {
  double worst = 0;
  std::size_t fewest = steps.front().contacts(), most = 0;
  for (ContactProblem& step : steps) {
    step.source.generator = context.command_line;
    step.reference->method = a.accurate_solver;
    const double residual = certify(step)[Measure::residual];
    if (!(residual <= a.sequence.accuracy.residual)) {
      throw InputError(step.name, "solution by " + a.accurate_solver,
                       fmt::format("a residual of at most {:g}", a.sequence.accuracy.residual),
                       fmt::format("{:.1e}", residual));
    }
    worst = std::max(worst, residual);
    fewest = std::min(fewest, step.contacts());
    most = std::max(most, step.contacts());
  }
  write_sequence(a.output, a.sequence.name, steps, a.force);
  fmt::print("{}: {} steps of {} to {} contacts between {} spheres, residuals up to {:.1e}\n",
             a.output, steps.size(), grouped(static_cast<long>(fewest)),
             grouped(static_cast<long>(most)), grouped(static_cast<long>(steps.front().bodies())),
             worst);
}

/// Writes a problem and says what it is, under the name asked for unless the scene has named it.
void store_problem(const GenerateArguments& a, ContactProblem problem, const Context& context) {
  if (problem.source.generator.empty()) {
    problem.name = a.sequence.name;
    problem.source.generator = context.command_line;
  }
  const bool by_hand = a.entry.can(SceneAbility::by_hand);
  if (by_hand) certify(problem);
  write_problem(a.output, problem, a.force);
  fmt::print("{}: {}{}\n", a.output, counted(problem.contacts(), "contact"),
             by_hand ? "" : " between " + counted(problem.bodies(), "body"));
}

/// The positions and velocities of a scene in the plane y = 0 as a CSV file, which is there only
/// when it is complete.
class Trajectory {
 public:
  explicit Trajectory(const std::string& path) : file_(path) {
    file_.print("time,body,x,z,vx,vz,wy\n");
  }
  void add(const SceneState& now) {
    const Bodies& bodies = now.bodies;
    for (std::size_t i = 0; i < bodies.count(); ++i) {
      const double *x = &bodies.position[3 * i], *v = &bodies.velocity[3 * i];
      file_.print("{:.10g},{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g}\n", now.time, i, x[0], x[2],
                  v[0], v[2], bodies.angular_velocity[3 * i + 1]);
    }
  }
  /// @throws InputError if it cannot be written
  void finish() { file_.commit(); }

 private:
  OutputFile file_;
};

void generate(GenerateArguments& a, const Context& context) {
  if (a.sequence.name.empty()) {
    a.sequence.name = std::filesystem::path(a.output).stem().string();
  }
  a.sequence.name = valid_utf8(a.sequence.name);
  check_output_path(a.output, a.force);
  if (!a.trajectory.empty()) {
    check_output_path(a.trajectory, a.force);
    check_two_outputs(a.output, a.trajectory);
  }
  a.options->apply(a.scene->options());
  if (a.sequence_options) a.sequence_options->apply(a.sequence.list());
  const bool sequence = a.steps_given || !a.entry.can(SceneAbility::problem);

  const KokkosSession kokkos(a.threads);
  std::optional<RegisteredStepSolver> solver, accurate;
  SceneTools tools;
  if (!a.step_solver.empty()) tools.solver = &solver.emplace(a.step_solver);
  if (sequence) tools.accurate = &accurate.emplace(a.accurate_solver);
  ProgressLine line(true);
  tools.progress = [&](const SceneProgress& now) {
    line.show(fmt::format("{} {}: {:.2f} s simulated, {} contacts, fastest sphere {:.3g} m/s",
                          a.sequence.name, now.phase, now.time,
                          grouped(static_cast<long>(now.contacts)), now.max_speed));
  };
  std::optional<Trajectory> trajectory;
  if (!a.trajectory.empty()) {
    trajectory.emplace(a.trajectory);
    tools.record = [&](const SceneState& now) { trajectory->add(now); };
  }
  if (sequence) {
    std::vector<ContactProblem> steps = a.scene->sequence(a.sequence, tools);
    line.clear();
    store_sequence(a, std::move(steps), context);
    return;
  }
  ContactProblem problem = a.scene->problem(tools);
  line.clear();
  if (trajectory) trajectory->finish();
  store_problem(a, std::move(problem), context);
}

/// What every scene is asked.
void add_output(CLI::App& command, GenerateArguments& a, const char* what) {
  command.add_option("-o,--output", a.output, std::string(what) + " to write")
      ->required()
      ->type_name("FILE");
  command.add_flag("--force", a.force, "Overwrite the output");
}

std::shared_ptr<GenerateArguments> arguments_of(const SceneEntry& entry) {
  auto a = std::make_shared<GenerateArguments>();
  a->entry = entry;
  a->scene = entry.make();
  a->sequence.name.clear();
  a->step_solver = entry.step_solver;
  return a;
}

/// `generate ID` with the options of the scene and those of what it can do.
void add_entry(CLI::App& generate_command, const SceneEntry& entry, Context& context) {
  const auto a = arguments_of(entry);
  auto* command = generate_command.add_subcommand(entry.id, entry.summary);
  const bool one = entry.can(SceneAbility::problem), several = entry.can(SceneAbility::sequence);
  add_output(*command, *a,
             !one      ? "Sequence file"
             : several ? "Problem (or sequence) file"
                       : "Problem file");
  command->add_option("--name", a->sequence.name,
                      fmt::format("Name of the {} (default: the output's, without .h5)",
                                  one ? "instance" : "sequence"));
  a->options = std::make_unique<ListedOptions>(*command, a->scene->options());
  if (several) {
    a->sequence_options = std::make_unique<ListedOptions>(*command, a->sequence.list());
    command
        ->add_option("--accurate-solver", a->accurate_solver, "Solver of the steps of a sequence")
        ->type_name("SOLVER")
        ->capture_default_str();
  }
  if (one && several) {
    auto* steps = command->get_option("--steps");
    steps->description("Write a sequence of so many time steps instead of one problem (1 to 10000)")
        ->default_str("");
    for (const char* name : {"--from", "--residual", "--accurate-solver"}) {
      command->get_option(name)->needs(steps);
    }
  }
  if (!entry.step_solver.empty()) {
    command->add_option("--step-solver", a->step_solver, "Solver of the time steps")
        ->type_name("SOLVER")
        ->capture_default_str();
  }
  if (!entry.step_solver.empty() || several) {
    add_threads(*command, a->threads);
  }
  if (entry.can(SceneAbility::record)) {
    command
        ->add_option("--trajectory", a->trajectory,
                     "CSV file of positions and velocities after every step, to write")
        ->type_name("FILE");
  }
  command->callback([a, command, one, several, &context] {
    a->steps_given = one && several && command->get_option("--steps")->count() > 0;
    generate(*a, context);
  });
}

/// `generate scene ID`: the scene as it is without options.
void add_scene_command(CLI::App& generate_command, Context& context) {
  struct Named {
    std::string name;
    GenerateArguments common;
  };
  auto* command =
      generate_command.add_subcommand("scene", "A tiny scene with a solution known by hand");
  auto named = std::make_shared<Named>();
  command->add_option("name", named->name, "See `ccpbench list scenes`")
      ->required()
      ->type_name("SCENE");
  add_output(*command, named->common, "Problem file");
  command->callback([named, &context] {
    check_output_path(named->common.output, named->common.force);
    const auto a = arguments_of(find_scene(named->name));
    if (!a->entry.can(SceneAbility::problem) && !a->entry.can(SceneAbility::sequence)) {
      throw InputError(fmt::format("the scene {} makes no problem: ccpbench simulate {} moves it",
                                   named->name, named->name));
    }
    CLI::App no_options;
    a->options = std::make_unique<ListedOptions>(no_options, OptionList(named->name, "scene"));
    a->output = named->common.output;
    a->force = named->common.force;
    generate(*a, context);
  });
}

}  // namespace

void add_generate(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("generate", "Make a problem of our own");
  command->require_subcommand(1);
  for (const SceneEntry& entry : scene_entries()) {
    if (!entry.can(SceneAbility::problem) && !entry.can(SceneAbility::sequence)) continue;
    // The many without options are left to `generate scene`.
    if (!entry.make()->options().entries().empty()) add_entry(*command, entry, context);
  }
  add_scene_command(*command, context);
}

}  // namespace ccp::app
