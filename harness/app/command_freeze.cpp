#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/listed_options.hpp"
#include "harness/app/output_check.hpp"
#include "harness/app/terminal.hpp"
#include "harness/run/provenance.hpp"
#include "harness/systems/frozen_systems.hpp"
#include "problems/base/error.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"

namespace ccp::app {

void add_freeze_systems(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "freeze-systems",
      "Store linear systems of a solve by ipm, vipm or ssn, to try preconditioners on");
  struct Arguments {
    std::string problem, solver = "ipm", at, output;
    int threads = 1;
    bool force = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  command->add_option("problem", a->problem, "Problem file or catalogue name")
      ->required()
      ->type_name("PROBLEM");
  command->add_option("-s,--solver", a->solver, "ipm, vipm or ssn, as ID[option=value,...]")
      ->type_name("SOLVER")
      ->capture_default_str();
  command
      ->add_option("--at", a->at,
                   "Outer iterations done before a system: 5,10,20 or 0:40:2 (first:last:step) or "
                   "all")
      ->required()
      ->type_name("ITERATIONS");
  command->add_option("-o,--output", a->output, "File of systems to write")
      ->required()
      ->type_name("FILE");
  add_threads(*command, a->threads);
  command->add_flag("--force", a->force, "Overwrite the output");
  command->callback([arguments, &context] {
    auto& a = *arguments;
    const auto at = parse_iterations(a.at, "--at");
    const SolverSpec spec = SolverSpec::parse(a.solver);
    const std::string input = resolve_problem(a.problem);
    check_output(a.output, a.force, {input});
    const ContactProblem host = read_problem(input);
    if (backend_name() == "Serial" && a.threads != 1) {
      throw InputError("--threads", "", "1: this build runs on Kokkos Serial",
                       std::to_string(a.threads));
    }
    const KokkosSession kokkos(a.threads);
    FreezeOutcome outcome = freeze_systems(host, spec, at);
    outcome.systems.problem = a.problem;
    outcome.systems.provenance =
        collect_provenance(backend_threads(), context.command_line).entries();
    write_systems(a.output, outcome.systems, a.force);
    const std::size_t stored = outcome.systems.systems.size();
    fmt::print("{}: {} of {}{}\n", a.output, counted(stored, "system"),
               counted(host.contacts(), "contact"),
               outcome.ended.empty() ? "" : "; the solve ended as " + outcome.ended);
    if (stored < at.size()) context.exit_code = target_not_reached;
  });
}

}  // namespace ccp::app
