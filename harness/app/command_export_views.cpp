// The subcommands of `export` that write what other programs look at or compute with.
#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/listed_options.hpp"
#include "harness/app/output_check.hpp"
#include "harness/run/start.hpp"
#include "harness/systems/matrix_market.hpp"
#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/trajectory_file.hpp"
#include "problems/formats/vtk.hpp"
#include "problems/formats/vtk_series.hpp"

namespace ccp::app {
namespace {

/// The time series of a trajectory. @throws InputError
void export_series(const std::string& path, std::string prefix, const std::string& result,
                   const VtkOptions& options) {
  if (!result.empty()) {
    throw InputError("--result", "", "a problem, not a --series", "'" + result + "'");
  }
  if (prefix.size() > 4 && prefix.compare(prefix.size() - 4, 4, ".pvd") == 0) {
    prefix.resize(prefix.size() - 4);
  }
  const std::vector<std::string> files = export_vtk_series(prefix, read_trajectory(path), options);
  fmt::print("{}: {} frames\n", files.front(), files.size() - 1);
}

}  // namespace

void add_export_matrix_market(CLI::App& command) {
  struct Arguments {
    std::string input, problem, prefix;
    bool force = false;
  };
  auto* matrices = command.add_subcommand(
      "matrix-market",
      "N, r and mu of a problem; A, b and S of frozen systems, for Matlab or SciPy");
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  matrices->add_option("file", a->input, "Problem file, catalogue name, or file of frozen systems")
      ->required()
      ->type_name("PROBLEM");
  matrices->add_option("-o,--output", a->prefix, "DIR/PREFIX of the files; PREFIX-N.mtx and so on")
      ->required()
      ->type_name("FILE");
  matrices
      ->add_option("--problem", a->problem,
                   "Problem of the frozen systems, if it is not where they say")
      ->type_name("PROBLEM");
  matrices->add_flag("--force", a->force, "Overwrite the output");
  matrices->callback([arguments] {
    const auto& a = *arguments;
    const std::string path = resolve_problem(a.input);
    std::vector<std::string> files, inputs = files_of({path, a.problem});
    if (Hdf5File::open(path).string_attribute("/", "format") == "ccpbench-systems") {
      const FrozenSystems systems = read_systems(path);
      const ContactProblem problem = problem_of(systems, path, a.problem);
      const KokkosSession kokkos(1);
      files = export_system_matrices(a.prefix, systems, problem, a.force, inputs);
    } else {
      if (!a.problem.empty()) {
        throw InputError("--problem", "", "a file of frozen systems", "a problem, " + path);
      }
      files = export_problem_matrices(a.prefix, read_problem(path), a.force, inputs);
    }
    for (const std::string& file : files) fmt::print("{}\n", file);
  });
}

void add_export_vtk(CLI::App& command) {
  struct Arguments {
    std::string problem, result, prefix;
    VtkOptions options;
    bool series = false;
  };
  auto* vtk = command.add_subcommand("vtk", "Bodies and force chains, for ParaView");
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  vtk->add_option("problem", a->problem,
                  "Problem file or catalogue name; with --series a trajectory file")
      ->required()
      ->type_name("PROBLEM");
  vtk->add_flag("--series", a->series,
                "The frames of a trajectory (ccpbench simulate -o) as a time series: PREFIX.pvd");
  vtk->add_option("-o,--output", a->prefix,
                  "DIR/PREFIX: PREFIX.vtm, PREFIX-bodies.vtp and PREFIX-contacts.vtp are written")
      ->required()
      ->type_name("FILE");
  vtk->add_option(
         "--result", a->result,
         "Impulses: a result file (solve --keep-gamma), a guess of the problem, reference, "
         "or none (default: the reference, if there is one)")
      ->type_name("FILE");
  add_integer(*vtk, "--detail", a->options.detail, {-1, 4},
              "A sphere has 20 * 4^DETAIL triangles; -1: its centre only");
  vtk->add_flag("--force", a->options.overwrite, "Overwrite the output");
  vtk->callback([arguments] {
    auto& a = *arguments;
    if (a.series) {
      a.options.inputs = files_of({a.problem});
      export_series(a.problem, a.prefix, a.result, a.options);
      return;
    }
    const std::string path = resolve_problem(a.problem);
    a.options.inputs = files_of({path, a.result});
    const ContactProblem problem = read_problem(path);
    std::vector<double> gamma;
    if (a.result.empty()) {
      if (problem.reference) gamma = problem.reference->gamma;
    } else if (a.result != "none") {
      gamma = start_values(a.result, problem);
    }
    std::string prefix = a.prefix;
    if (prefix.size() > 4 && prefix.compare(prefix.size() - 4, 4, ".vtm") == 0) {
      prefix.resize(prefix.size() - 4);
    }
    export_vtk(prefix, problem, gamma, a.options);
    fmt::print("{0}.vtm\n{0}-bodies.vtp\n{0}-contacts.vtp\n", prefix);
  });
}

}  // namespace ccp::app
