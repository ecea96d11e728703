#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/terminal.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/fclib/import_fclib.hpp"
#include "problems/formats/kleinert.hpp"
#include "problems/formats/problem_file.hpp"

namespace ccp::app {
namespace {

void add_kleinert(CLI::App& command, Context& context) {
  auto* kleinert = command.add_subcommand(
      "kleinert", "Particle state of Kleinert's nonsmooth granular benchmarks (ASCII .vtu)");
  struct Arguments {
    std::string input, output, name;
    std::size_t contacts = 0;
    SphereModel model;
    HeavySpheres heavy;
    double gravity = 10;
    bool force = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  kleinert->add_option("file", a->input, "The .vtu file")->required();
  kleinert->add_option("-o,--output", a->output, "Problem file to write")->required();
  kleinert->add_option("--name", a->name, "Name of the instance (default: the file's)");
  kleinert->add_option(
      "--contacts", a->contacts,
      "Number of contacts, nearest candidates first (default: the papers' for 2048, "
      "5040 and 10192 particles, else all pairs within 0.666 mean radii)");
  kleinert->add_option("--mu", a->model.mu, "Friction coefficient")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  kleinert->add_option("--dt", a->model.dt, "Time step, s")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  kleinert->add_option("--gravity", a->gravity, "Along -z, m/s^2")->capture_default_str();
  kleinert->add_option("--young", a->model.young, "Young's modulus, Pa (0: store no stiffness)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  kleinert->add_option("--poisson", a->model.poisson, "Poisson's ratio")
      ->check(CLI::Range(0.0, 0.5))
      ->capture_default_str();
  add_heavy_options(*kleinert, a->heavy);
  kleinert->add_flag("--force", a->force, "Overwrite the output");
  kleinert->callback([arguments, &context] {
    auto& a = *arguments;
    check_output_path(a.output, a.force);
    a.model.gravity = {0, 0, -a.gravity};
    ContactProblem problem = import_kleinert(a.input, a.contacts, a.model, a.heavy);
    if (!a.name.empty()) problem.name = a.name;
    problem.source.generator = context.command_line;
    write_problem(a.output, problem, a.force);
    fmt::print("{}: {} contacts between {} bodies\n", a.output,
               grouped(static_cast<long>(problem.contacts())),
               grouped(static_cast<long>(problem.bodies())));
  });
}

void add_fclib(CLI::App& command, Context& context) {
  auto* fclib = command.add_subcommand(
      "fclib", "Local or global problem of the Friction Contact Library (HDF5), see docs/fclib.md");
  struct Arguments {
    std::string input, output, name, form = "auto", licence;
    bool force = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  fclib->add_option("file", a->input, "The FCLIB file")->required();
  fclib->add_option("-o,--output", a->output, "Problem file to write")->required();
  fclib->add_option("--name", a->name, "Name of the instance (default: the file's)");
  fclib
      ->add_option("--form", a->form,
                   "Of global problems: bodies, assembled, or bodies where M and H allow it")
      ->check(CLI::IsMember({"auto", "bodies", "assembled"}))
      ->capture_default_str();
  fclib->add_option("--licence", a->licence, "Of the data, as an SPDX identifier");
  fclib->add_flag("--force", a->force, "Overwrite the output");
  fclib->callback([arguments, &context] {
    const auto& a = *arguments;
    check_output_path(a.output, a.force);
    const FclibForm form = a.form == "bodies"      ? FclibForm::bodies
                           : a.form == "assembled" ? FclibForm::assembled
                                                   : FclibForm::automatic;
    FclibImport imported = import_fclib(a.input, form, mass_factoriser());
    ContactProblem& problem = imported.problem;
    if (!a.name.empty()) problem.name = a.name;
    problem.source.generator = context.command_line;
    problem.source.licence = a.licence;
    write_problem(a.output, problem, a.force);
    const bool bodies = problem.form == ContactProblem::Form::bodies;
    fmt::print("{}: {} contacts, {}\n", a.output, grouped(static_cast<long>(problem.contacts())),
               bodies ? fmt::format("{} bodies", grouped(static_cast<long>(problem.bodies())))
                      : fmt::format("N of {} blocks",
                                    grouped(static_cast<long>(problem.delassus.columns.size()))));
    for (const std::string& note : imported.notes) fmt::print("note: {}\n", note);
  });
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("import", "Make a problem file from somebody else's format");
  command->require_subcommand(1);
  add_kleinert(*command, context);
  add_fclib(*command, context);
}

}  // namespace ccp::app
