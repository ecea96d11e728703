#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/terminal.hpp"
#include "harness/referee.hpp"
#include "problems/generators/scenes.hpp"
#include "problems/hdf5_file.hpp"
#include "problems/problem_file.hpp"

namespace ccp::app {
namespace {

/// Stores what the referee measures of the reference beside it.
void certify(ContactProblem& problem) {
  if (!problem.reference) return;
  const Problem device(problem);
  Referee referee(device);
  Vector gamma(device.map(), 1);
  const VectorView view = overwrite_view(gamma);
  const auto host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < problem.reference->gamma.size(); ++i) host(i) = problem.reference->gamma[i];
  Kokkos::deep_copy(view, host);
  const Measures measures = referee.measure(gamma);
  for (const Measure m : {Measure::residual, Measure::dual, Measure::primal, Measure::complementarity,
                          Measure::cost, Measure::feas}) {
    problem.reference->measures[name_of(m)] = measures[m];
  }
}

void add_scene(CLI::App& command) {
  struct Arguments {
    std::string name, output;
    bool force = false;
  };
  auto* scene = command.add_subcommand("scene", "A tiny scene with a solution known by hand");
  auto arguments = std::make_shared<Arguments>();
  scene->add_option("name", arguments->name, "See `ccpbench list scenes`")->required();
  scene->add_option("-o,--output", arguments->output, "Problem file to write")->required();
  scene->add_flag("--force", arguments->force, "Overwrite the output");
  scene->callback([arguments] {
    check_output_path(arguments->output, arguments->force);
    ContactProblem problem = make_scene(arguments->name);
    const KokkosSession kokkos(1);
    certify(problem);
    write_problem(arguments->output, problem, arguments->force);
    fmt::print("{}: {} contacts\n", arguments->output, problem.contacts());
  });
}

}  // namespace

void add_generate(CLI::App& app, Context&) {
  auto* command = app.add_subcommand("generate", "Make a problem of our own");
  command->require_subcommand(1);
  add_scene(*command);
}

}  // namespace ccp::app
