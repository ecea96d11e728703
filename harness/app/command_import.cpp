#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
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
namespace fs = std::filesystem;

namespace {

struct ImportArguments {
  std::unique_ptr<Importer> importer;
  std::unique_ptr<ListedOptions> options;
  std::string input, output, name;
  bool force = false;
  std::unique_ptr<KokkosSession> kokkos;  ///< where N has to be looked at
};

/// Imports a file, and says what it is.
ContactProblem import_file(ImportArguments& a, const std::string& input, const std::string& output,
                           const std::string& name, const Context& context) {
  check_output(output, a.force, {input});
  Imported imported = a.importer->read(input, {mass_factoriser()});
  ContactProblem problem = std::move(imported.problem);
  if (!name.empty()) problem.name = valid_utf8(name);
  problem.source.generator = context.command_line;
  problem.validate(input);  // a fault is the input's
  write_problem(output, problem, a.force);
  const bool bodies = problem.form == ContactProblem::Form::bodies;
  fmt::print("{}: {}{}\n", output, counted(problem.contacts(), "contact"),
             bodies ? " between " + counted(problem.bodies(), "body")
                    : ", N of " + counted(problem.delassus.columns.size(), "block"));
  for (const std::string& note : imported.notes) fmt::print("note: {}\n", note);
  if (bodies) return problem;
  if (!a.kokkos) a.kokkos = std::make_unique<KokkosSession>(1);
  if (const Definiteness found = definiteness(Problem(problem)); !found.is_semidefinite()) {
    fmt::print("note: N is not positive semidefinite: {}; no solver here is for such a problem\n",
               found.text());
  }
  return problem;
}

/// The files below a folder that have one of these extensions, sorted, relative to it.
std::vector<std::string> files_below(const std::string& folder,
                                     const std::vector<std::string>& extensions) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (entry.is_regular_file() &&
        std::find(extensions.begin(), extensions.end(), extension) != extensions.end()) {
      files.push_back(fs::relative(entry.path(), folder).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// A cell of RFC 4180.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '"');
  }
  return '"' + text + '"';
}

/// Imports all files of a folder into another one, with a table of them. What cannot be read is a
/// row with the reason. @return whether all could
bool import_folder(ImportArguments& a, const std::vector<std::string>& extensions,
                   const Context& context) {
  const std::vector<std::string> files = files_below(a.input, extensions);
  if (files.empty()) {
    throw InputError(a.input, "", fmt::format("files that end in {}", fmt::join(extensions, ", ")),
                     "none");
  }
  const std::string place = (fs::path(a.output) / "collection.csv").string();
  std::error_code error;
  fs::create_directories(a.output, error);
  if (error) throw InputError(a.output, "", "to make a folder", error.message());
  check_output(place, a.force, {});
  std::string table = "problem,source,form,contacts,bodies,sha256,fault\r\n";
  std::size_t failed = 0;
  for (const std::string& file : files) {
    std::string name = fs::path(file).replace_extension().string();
    std::replace(name.begin(), name.end(), '/', '-');
    const std::string source = (fs::path(a.input) / file).string();
    try {
      const ContactProblem problem =
          import_file(a, source, (fs::path(a.output) / (name + ".h5")).string(), name, context);
      table += fmt::format("{},{},{},{},{},{},\r\n", cell(name + ".h5"), cell(file),
                           to_string(problem.form), problem.contacts(), problem.bodies(),
                           problem.content_hash());
    } catch (const InputError& error) {
      fmt::print(stderr, "ccpbench: {}\n", error.what());
      table += fmt::format("{},{},,,,,{}\r\n", cell(""), cell(file), cell(error.what()));
      ++failed;
    }
  }
  std::ofstream out(place, std::ios::binary);
  if (!(out << table << std::flush))
    throw InputError(place, "", "to write it", "that it cannot be");
  fmt::print("{}: {} of {} files\n", place, files.size() - failed, files.size());
  return failed == 0;
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("import", "Make a problem file from somebody else's format");
  command->require_subcommand(1);
  for (const ImporterEntry& entry : importer_entries()) {
    auto* importer = command->add_subcommand(entry.id, entry.summary);
    auto a = std::make_shared<ImportArguments>();
    a->importer = entry.make();
    importer
        ->add_option("file", a->input,
                     fmt::format("The file to read ({}), or a folder: all such files below it",
                                 fmt::join(entry.extensions, ", ")))
        ->required()
        ->type_name("FILE");
    importer
        ->add_option("-o,--output", a->output,
                     "Problem file to write; of a folder: the folder, with a table, collection.csv")
        ->required()
        ->type_name("FILE");
    importer->add_option("--name", a->name, "Name of the instance (default: the file's)");
    a->options = std::make_unique<ListedOptions>(*importer, a->importer->options());
    importer->add_flag("--force", a->force, "Overwrite the output");
    const std::vector<std::string> extensions = entry.extensions;
    importer->callback([a, extensions, &context] {
      a->options->apply(a->importer->options());
      if (!fs::is_directory(a->input)) {
        import_file(*a, a->input, a->output, a->name, context);
      } else if (!a->name.empty()) {
        throw InputError("--name", "", "one file, for one name", "the folder " + a->input);
      } else if (!import_folder(*a, extensions, context)) {
        context.exit_code = bad_input;
      }
    });
  }
}

}  // namespace ccp::app
