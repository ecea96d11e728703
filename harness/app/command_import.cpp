#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/listed_options.hpp"
#include "harness/app/output_check.hpp"
#include "harness/app/terminal.hpp"
#include "problems/base/text.hpp"
#include "problems/formats/importer_table.hpp"
#include "problems/formats/problem_file.hpp"
#include "solvers/linear/definiteness.hpp"

namespace ccp::app {
namespace {

struct Arguments {
  std::unique_ptr<Importer> importer;
  std::unique_ptr<ListedOptions> options;
  std::string input, output, name;
  bool force = false;
};

void import(Arguments& a, const Context& context) {
  check_output(a.output, a.force, {a.input});
  a.options->apply(a.importer->options());
  Imported imported = a.importer->read(a.input, {mass_factoriser()});
  ContactProblem& problem = imported.problem;
  if (!a.name.empty()) problem.name = valid_utf8(a.name);
  problem.source.generator = context.command_line;
  problem.validate(a.input);  // a fault is the input's
  write_problem(a.output, problem, a.force);
  const bool bodies = problem.form == ContactProblem::Form::bodies;
  fmt::print("{}: {}{}\n", a.output, counted(problem.contacts(), "contact"),
             bodies ? " between " + counted(problem.bodies(), "body")
                    : ", N of " + counted(problem.delassus.columns.size(), "block"));
  for (const std::string& note : imported.notes) fmt::print("note: {}\n", note);
  if (bodies) return;
  const KokkosSession kokkos(1);
  if (const Definiteness found = definiteness(Problem(problem)); !found.is_semidefinite()) {
    fmt::print("note: N is not positive semidefinite: {}; no solver here is for such a problem\n",
               found.text());
  }
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("import", "Make a problem file from somebody else's format");
  command->require_subcommand(1);
  for (const ImporterEntry& entry : importer_entries()) {
    auto* importer = command->add_subcommand(entry.id, entry.summary);
    auto a = std::make_shared<Arguments>();
    a->importer = entry.make();
    importer
        ->add_option("file", a->input,
                     fmt::format("The file to read ({})", fmt::join(entry.extensions, ", ")))
        ->required()
        ->type_name("FILE");
    importer->add_option("-o,--output", a->output, "Problem file to write")
        ->required()
        ->type_name("FILE");
    importer->add_option("--name", a->name, "Name of the instance (default: the file's)");
    a->options = std::make_unique<ListedOptions>(*importer, a->importer->options());
    importer->add_flag("--force", a->force, "Overwrite the output");
    importer->callback([a, &context] { import(*a, context); });
  }
}

}  // namespace ccp::app
