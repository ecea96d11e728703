#include "problems/formats/fclib/export_fclib.hpp"

#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/output_check.hpp"
#include "harness/app/terminal.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "solvers/linear/cholesky.hpp"

namespace ccp::app {

MassFactoriser mass_factoriser() {
  return [](const std::vector<std::int64_t>& offset, const std::vector<int>& row,
            const std::vector<double>& value) -> MassSolve {
    if (offset.size() < 2 || row.empty()) return {};  // nothing to factor
    auto cholesky = std::make_shared<SparseCholesky>(offset, row);
    if (!cholesky->factorize(value.data())) return {};
    return [cholesky](std::vector<double>& x) { cholesky->solve(x.data(), x.data()); };
  };
}

void add_export(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("export", "Write a problem or results in another format");
  command->require_subcommand(1);
  auto* fclib = command->add_subcommand(
      "fclib", "For the Friction Contact Library: bodies as a global problem, N as a local one");
  struct Arguments {
    std::string problem, output;
    bool local = false, force = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  fclib->add_option("problem", a->problem, "Problem file or catalogue name")
      ->required()
      ->type_name("PROBLEM");
  fclib->add_option("-o,--output", a->output, "FCLIB file to write")->required()->type_name("FILE");
  fclib->add_flag("--local", a->local, "Write out N, also where bodies are known");
  fclib->add_flag("--force", a->force, "Overwrite the output");
  fclib->callback([arguments] {
    const auto& a = *arguments;
    const std::string input = resolve_problem(a.problem);
    check_output(a.output, a.force, {input});
    const ContactProblem problem = read_problem(input);
    export_fclib(a.output, problem, a.local, mass_factoriser(), a.force);
    const bool global = problem.form == ContactProblem::Form::bodies && !a.local;
    fmt::print("{}: {} problem, {}\n", a.output, global ? "global" : "local",
               counted(problem.contacts(), "contact"));
  });
  add_export_matrix_market(*command);
  add_export_vtk(*command);
  add_export_results(*command, context);
}

}  // namespace ccp::app
