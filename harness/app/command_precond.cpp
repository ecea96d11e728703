#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/app/app.hpp"
#include "harness/app/json.hpp"
#include "harness/app/listed_options.hpp"
#include "harness/app/output_check.hpp"
#include "harness/app/terminal.hpp"
#include "harness/systems/precond.hpp"
#include "problems/base/error.hpp"
#include "solvers/preconditioners/linear_solver.hpp"

namespace ccp::app {
namespace {

void print_rows_json(const FrozenSystems& systems, const PrecondRequest& request,
                     const std::vector<PrecondRow>& rows) {
  nlohmann::ordered_json out;
  out["instance"] = systems.instance;
  out["hash"] = systems.instance_hash;
  out["contacts"] = systems.contacts;
  out["space"] = to_string(systems.space);
  out["block_size"] = systems.block_size();
  out["solver"] = systems.solver;
  out["operator"] = request.apply;
  out["tolerance"] = request.tolerance;
  out["max_iterations"] = request.max_iterations;
  out["rows"] = nlohmann::ordered_json::array();
  for (const PrecondRow& row : rows) {
    out["rows"].push_back({{"outer", row.outer},
                           {"method", row.method},
                           {"preconditioner", row.preconditioner},
                           {"status", row.status},
                           {"message", row.message},
                           {"iterations", row.iterations},
                           {"structure", row.structure},
                           {"assembly", row.assembly},
                           {"setup", row.setup},
                           {"solve", row.solve},
                           {"residual", number_or_null(row.residual)},
                           {"eigenvalue_low", number_or_null(row.low)},
                           {"eigenvalue_high", number_or_null(row.high)},
                           {"eigenvalue_imaginary", number_or_null(row.imaginary)},
                           {"eigenvalue_steps", row.eigenvalue_steps},
                           {"eigenvalue_method", row.eigenvalue_method},
                           {"shift", row.shift},
                           {"restarts", row.restarts}});
  }
  print_json(out);
}

void print_table(const FrozenSystems& systems, const PrecondRequest& request,
                 const std::vector<PrecondRow>& rows) {
  fmt::print(
      "{}: {} contacts; systems of {}{}; relative residual {:g}, at most {} iterations, {}\n",
      systems.instance, grouped(static_cast<long>(systems.contacts)), systems.solver,
      systems.space == Space::body
          ? fmt::format(", blocks of {} in body space", systems.block_size())
          : "",
      request.tolerance, grouped(request.max_iterations), request.apply);
  std::size_t width = 14;
  for (const PrecondRow& row : rows) width = std::max(width, row.preconditioner.size());
  const bool spectra = request.eigenvalue_steps > 0;
  long outer = -1;
  for (const PrecondRow& row : rows) {
    if (row.outer != outer) {
      outer = row.outer;
      fmt::print("\nsystem {}\n{:<8} {:<{}} {:>6} {:>8} {:>8} {:>8} {:>8}", outer, "method",
                 "preconditioner", width, "iter", "assembly", "set-up", "solve", "residual");
      if (spectra) fmt::print(" {:>9} {:>9} {:>8}", "eig low", "eig high", "ratio");
      fmt::print("  status\n");
    }
    fmt::print("{:<8} {:<{}}", row.method, row.preconditioner.empty() ? "-" : row.preconditioner,
               width);
    if (row.status == "refused") {
      fmt::print(" {:>6} {:>8} {:>8} {:>8} {:>8}", "-", "-", "-", "-", "-");
    } else {
      fmt::print(" {:>6} {:>8} {:>8} {:>8} {:>8}", grouped(row.iterations), duration(row.assembly),
                 duration(row.setup), duration(row.solve), scientific(row.residual));
    }
    if (spectra) {
      fmt::print(" {:>9} {:>9} {:>8}", scientific(row.low), scientific(row.high),
                 row.low > 0 ? scientific(row.high / row.low) : "-");
    }
    fmt::print("  {}", row.status);
    if (row.restarts > 0) fmt::print(", shift {:.1e}", row.shift);
    if (!row.message.empty()) fmt::print(" ({})", row.message);
    fmt::print("\n");
  }
}

}  // namespace

void add_precond(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "precond", "Solve frozen linear systems with preconditioners and Krylov methods");
  struct Arguments {
    std::string systems, krylov = "cg", preconditioners = "none,block_diagonal", problem, output;
    PrecondRequest request;
    int threads = 1;
    bool json = false, force = false, quiet = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  a->request.eigenvalue_steps = 60;
  command->add_option("systems", a->systems, "File of `ccpbench freeze-systems`")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--krylov", a->krylov,
                   "Methods, with commas: cg, bicgstab, gmres, minres; cholmod and klu2 are direct")
      ->type_name("METHOD")
      ->capture_default_str();
  command
      ->add_option("--preconditioner", a->preconditioners,
                   "ID[option=value,...], with commas; see `ccpbench list preconditioners`")
      ->type_name("PRECONDITIONER")
      ->capture_default_str();
  command->add_option("--operator", a->request.apply, "Who multiplies with the matrix")
      ->type_name(fmt::format("{}", fmt::join(linear_operators(), "|")))
      ->capture_default_str();
  using Range = OptionList::Range;
  add_number(*command, "--tolerance", a->request.tolerance, {0, 1}, "Relative residual");
  add_integer(*command, "--max-iterations", a->request.max_iterations, Range::at_least(1),
              "Limit of Krylov iterations");
  add_integer(*command, "--restart", a->request.restart, Range::at_least(1), "Basis size of gmres");
  add_integer(*command, "--eigenvalue-steps", a->request.eigenvalue_steps, {0, 1000},
              "Krylov steps for the ends of the spectrum (0: none): Lanczos for symmetric "
              "definite preconditioners, else Arnoldi on A M^-1");
  command->add_option("--problem", a->problem, "Where the problem is, if it moved")
      ->type_name("PROBLEM");
  add_threads(*command, a->threads);
  command->add_option("-o,--output", a->output, "Result file to write")->type_name("FILE");
  command->add_flag("--force", a->force, "Overwrite the output");
  command->add_flag("--json", a->json, "Print one JSON object");
  command->add_flag("--quiet", a->quiet, "Print nothing");
  command->callback([arguments, &context] {
    auto& a = *arguments;
    for (const SolverSpec& spec : parse_specs(a.krylov, "--krylov")) {
      a.request.methods.push_back(spec.text());
    }
    a.request.preconditioners = parse_preconditioners(a.preconditioners, "--preconditioner");
    check_request(a.request);
    if (!a.output.empty()) check_output(a.output, a.force, {a.systems, a.problem});
    const FrozenSystems systems = read_systems(a.systems);
    if (!a.output.empty()) {
      const auto beside = std::filesystem::path(a.systems).parent_path() / systems.problem;
      check_output(a.output, a.force, {systems.problem, beside.string()});
    }
    const ContactProblem host = problem_of(systems, a.systems, a.problem);
    if (backend_name() == "Serial" && a.threads != 1) {
      throw InputError("--threads", "", "1: this build runs on Kokkos Serial",
                       std::to_string(a.threads));
    }
    const KokkosSession kokkos(a.threads);
    ProgressLine progress(!a.quiet && !a.json);
    const auto rows = run_precond(a.request, systems, host, [&](const PrecondRow& row) {
      progress.show(fmt::format("system {}, {} with {}: {}", row.outer, row.method,
                                row.preconditioner, row.status));
    });
    progress.clear();
    if (!a.output.empty()) {
      write_precond(a.output, a.request, systems, rows,
                    collect_provenance(backend_threads(), context.command_line), a.force);
    }
    if (a.json) {
      print_rows_json(systems, a.request, rows);
    } else if (!a.quiet) {
      print_table(systems, a.request, rows);
    }
  });
}

}  // namespace ccp::app
