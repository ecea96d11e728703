#include "harness/app/app.hpp"

namespace ccp::app {

void add_export(CLI::App& app, Context&) {
  auto* command = app.add_subcommand("export", "Write a problem in somebody else's format");
  command->require_subcommand(1);
  add_export_matrix_market(*command);
  add_export_vtk(*command);
}

}  // namespace ccp::app
