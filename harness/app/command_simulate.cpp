#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/app/app.hpp"
#include "harness/app/terminal.hpp"
#include "harness/run/start.hpp"
#include "harness/simulation/column_table.hpp"
#include "harness/simulation/step_solver.hpp"
#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp::app {
namespace {

struct Arguments {
  ColumnOptions column;
  std::vector<long> spheres{25}, iterations{10, 20, 50, 100, 200, 500};
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
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  return {
      {"spheres", row.spheres},           {"start", row.start},   {"iterations", row.iterations},
      {"height", number(row.run.height)}, {"theory", row.theory}, {"error", number(row.run.error)},
      {"at_rest", row.run.at_rest},       {"time", row.run.time}, {"speed", number(row.run.speed)}};
}

void simulate(Arguments& a, Context& context) {
  if (!a.output.empty()) check_output_path(a.output, a.force);
  std::vector<StepStart> starts;
  for (const std::string& text : a.starts) starts.push_back(step_start(text));
  std::sort(a.iterations.begin(), a.iterations.end());
  column_height(a.column);  // refuses a column that cannot be before anything is printed
  const KokkosSession kokkos(1);
  RegisteredStepSolver solver(a.solver);
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  std::vector<ColumnRow> rows;
  ProgressLine progress(!a.quiet && !a.json);
  for (const long spheres : a.spheres) {
    a.column.spheres = static_cast<std::size_t>(spheres);
    const double theory = column_height(a.column);
    for (std::size_t s = 0; s < starts.size(); ++s) {
      for (const long iterations : a.iterations) {
        progress.show(
            fmt::format("{} spheres, {}, {} iterations", spheres, a.starts[s], iterations));
        ColumnRow row{spheres, iterations, a.starts[s], theory, {}};
        row.run = simulate_column(a.column, starts[s],
                                  {unbounded, static_cast<int>(iterations), unbounded, 1}, solver);
        rows.push_back(row);
        progress.clear();
        if (!a.quiet && !a.json) {
          if (rows.size() == 1) {
            fmt::print("{:>7} {:<18} {:>10} {:>12} {:>10} {:>8}\n", "spheres", "start",
                       "iterations", "height [m]", "error", "time [s]");
          }
          fmt::print("{:>7} {:<18} {:>10} {:>12.6f} {:>10.2e} {:>8.3g}{}\n", spheres, row.start,
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
    fmt::print("{}\n", out.dump(2));
  }
}

}  // namespace

void add_simulate(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "simulate", "Simulate a scene with a solver that may be inaccurate in every step");
  command->require_subcommand(1);
  auto* column = command->add_subcommand(
      "column", "The column of Wang 2016: its height at rest by iterations a step and warm start");
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  add_column_options(*column, a->column);
  column->add_option("--spheres", a->spheres, "Numbers of spheres, comma-separated")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  column->add_option("--iterations", a->iterations, "Iterations in every step, comma-separated")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000000000))
      ->capture_default_str();
  column
      ->add_option(
          "--starts", a->starts,
          "Where the solver starts: cold, history[beta=0.85], previous, hertz, NAME*FACTOR; "
          "comma-separated")
      ->delimiter(',')
      ->capture_default_str();
  column->add_option("-s,--solver", a->solver, "Solver of the steps")->capture_default_str();
  column
      ->add_option("--until", a->until,
                   "No more iterations once it is at rest with a height wrong by this part at most")
      ->check(CLI::NonNegativeNumber);
  column->add_option("-o,--output", a->output, "Table to write");
  column->add_flag("--force", a->force, "Overwrite the output");
  column->add_flag("--json", a->json, "Print JSON");
  column->add_flag("--quiet", a->quiet, "Print nothing");
  column->callback([arguments, &context] { simulate(*arguments, context); });
}

}  // namespace ccp::app
