#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/app/app.hpp"
#include "harness/app/json.hpp"
#include "harness/app/listed_options.hpp"
#include "harness/app/terminal.hpp"
#include "harness/run/start.hpp"
#include "harness/simulation/column_table.hpp"
#include "harness/simulation/step_solver.hpp"
#include "problems/base/error.hpp"
#include "problems/base/output_file.hpp"
#include "problems/scenes/scene_table.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp::app {
namespace {

struct SimulateArguments {
  std::string size;  ///< name of the option that is the scene's size
  std::unique_ptr<Scene> scene;
  std::unique_ptr<ListedOptions> options;
  std::vector<int> iterations{10, 20, 50, 100, 200, 500};
  std::vector<std::string> starts{"cold", "history", "hertz"};
  std::string solver = "pgs", output;
  double until = 0;
  bool force = false, json = false, quiet = false;
};

/// @throws InputError for a start that a column does not have
StepStart step_start(const std::string& text) {
  const std::vector<std::string> known = {"cold", "previous", "hertz"};
  const Start start = parse_start(text, "--starts");
  if (std::find(known.begin(), known.end(), start.name) == known.end()) {
    throw InputError("--starts: unknown guess '" + start.name + "'" +
                     did_you_mean(start.name, known));
  }
  return {start.name == "cold" ? "" : start.name, start.factor};
}

nlohmann::ordered_json as_json(const ColumnRow& row) {
  return {{"spheres", row.spheres},
          {"start", row.start},
          {"iterations", row.iterations},
          {"height", number_or_null(row.run.height)},
          {"theory", row.theory},
          {"error", number_or_null(row.run.error)},
          {"at_rest", row.run.at_rest},
          {"time", row.run.time},
          {"speed", number_or_null(row.run.speed)}};
}

void simulate(SimulateArguments& a, Context& context) {
  if (!a.output.empty()) check_output_path(a.output, a.force);
  std::vector<StepStart> starts;
  for (const std::string& text : a.starts) starts.push_back(step_start(text));
  std::sort(a.iterations.begin(), a.iterations.end());
  // What cannot be is refused before anything is printed.
  a.options->apply(a.scene->options());
  const std::vector<std::string> sizes = a.options->values();
  for (const std::string& size : sizes) a.scene->options().set(a.size, size);
  a.scene->height_at_rest();
  const KokkosSession kokkos(1);
  RegisteredStepSolver solver(a.solver);
  SceneTools tools;
  tools.solver = &solver;
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  std::vector<ColumnRow> rows;
  ProgressLine progress(!a.quiet && !a.json);
  for (const std::string& size : sizes) {
    a.scene->options().set(a.size, size);
    const double theory = a.scene->height_at_rest();
    for (std::size_t s = 0; s < starts.size(); ++s) {
      for (const int iterations : a.iterations) {
        progress.show(
            fmt::format("{} {}, {}, {} iterations", size, a.size, a.starts[s], iterations));
        ColumnRow row{std::stol(size), iterations, a.starts[s], theory, {}};
        row.run = a.scene->simulate(starts[s], {unbounded, iterations, unbounded, 1}, tools);
        rows.push_back(row);
        progress.clear();
        if (!a.quiet && !a.json) {
          if (rows.size() == 1) {
            fmt::print("{:>7} {:<18} {:>10} {:>12} {:>10} {:>8}\n", a.size, "start", "iterations",
                       "height [m]", "error", "time [s]");
          }
          fmt::print("{:>7} {:<18} {:>10} {:>12.6f} {:>10.2e} {:>8.3g}{}\n", size, row.start,
                     iterations, row.run.height, row.run.error, row.run.time,
                     row.run.at_rest ? "" : " not at rest");
        }
        if (row.run.at_rest && std::abs(row.run.error) <= a.until) break;
      }
    }
  }
  if (!a.output.empty()) {
    write_column_table(a.output, a.solver, rows,
                       collect_provenance(backend_threads(), context.command_line), a.force);
  }
  if (a.json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const ColumnRow& row : rows) out.push_back(as_json(row));
    print_json(out);
  }
}

}  // namespace

void add_simulate(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "simulate", "Move a scene's bodies: contacts, a problem and its solve in every step");
  command->require_subcommand(0, 1);
  add_simulate_scene(*command, context);
  for (const SceneEntry& entry : scene_entries()) {
    if (!entry.can(SceneAbility::simulation)) continue;
    auto* scene = command->add_subcommand(
        entry.id,
        entry.summary + ": its height at rest by iterations a step and start of the solver");
    auto a = std::make_shared<SimulateArguments>();
    a->size = entry.size;
    a->scene = entry.make();
    a->options = std::make_unique<ListedOptions>(*scene, a->scene->options(), entry.size);
    add_integers(*scene, "--iterations", a->iterations, OptionList::Range::at_least(1),
                 "Iterations in every step");
    scene
        ->add_option(
            "--starts", a->starts,
            "Where the solver starts: cold, history[beta=0.85], previous, hertz, NAME*FACTOR; "
            "comma-separated")
        ->delimiter(',')
        ->capture_default_str();
    scene->add_option("-s,--solver", a->solver, "Solver of the steps")
        ->type_name("SOLVER")
        ->capture_default_str();
    add_number(*scene, "--until", a->until, OptionList::Range::at_least(0),
               "No more iterations once it is at rest with a height wrong by this part at most");
    scene->add_option("-o,--output", a->output, "Table to write")->type_name("FILE");
    scene->add_flag("--force", a->force, "Overwrite the output");
    scene->add_flag("--json", a->json, "Print JSON");
    scene->add_flag("--quiet", a->quiet, "Print nothing");
    scene->callback([a, &context] { simulate(*a, context); });
  }
}

}  // namespace ccp::app
