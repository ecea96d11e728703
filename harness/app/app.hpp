#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "problems/formats/fclib/mass_form.hpp"

namespace ccp::app {

/// Exit codes; scripts rely on them.
enum ExitCode : int {
  done = 0,
  bad_input = 1,
  usage = 2,
  target_not_reached = 3,
  run_crashed = 4,
};

/// What all commands share.
struct Context {
  std::string program;       ///< path of this program, to start runs with
  std::string command_line;  ///< as typed
  int exit_code = done;
};

// Each adds one subcommand with its options; the subcommand's callback does the work and sets
// `exit_code`. Input errors are thrown.
void add_list(CLI::App& app, Context& context);
void add_generate(CLI::App& app, Context& context);
void add_certify(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_info(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_solve(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_merge(CLI::App& app, Context& context);
void add_submit(CLI::App& app, Context& context);
void add_capture(CLI::App& app, Context& context);
void add_simulate(CLI::App& app, Context& context);
void add_freeze_systems(CLI::App& app, Context& context);
void add_precond(CLI::App& app, Context& context);
/// Call it last: the manual is about the commands that are there.
void add_manual(CLI::App& app);

/// What `simulate` does without a subcommand: any scene with a motion.
void add_simulate_scene(CLI::App& command, Context& context);

// Subcommands of `export`.
void add_export_matrix_market(CLI::App& command);
void add_export_vtk(CLI::App& command);
void add_export_results(CLI::App& command, Context& context);

/// Sparse Cholesky, for importers and exporters.
MassFactoriser mass_factoriser();

/// The whole program. @return the exit code
int run_program(int argc, char** argv);

}  // namespace ccp::app
