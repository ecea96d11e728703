#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/app/app.hpp"
#include "harness/app/terminal.hpp"
#include "harness/systems/precond.hpp"
#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"

namespace ccp::app {
namespace {

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

void print_json(const FrozenSystems& systems, const PrecondRequest& request,
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
  fmt::print("{}\n", out.dump(2));
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
  command->add_option("systems", a->systems, "File of `ccpbench freeze-systems`")->required();
  command
      ->add_option("--krylov", a->krylov,
                   "Methods, with commas: cg, bicgstab, gmres, minres; cholmod and klu2 are direct")
      ->capture_default_str();
  command
      ->add_option("--preconditioner", a->preconditioners,
                   "ID[option=value,...], with commas; see `ccpbench list preconditioners`")
      ->capture_default_str();
  command->add_option("--operator", a->request.apply, "matrix_free, crs or block_crs")
      ->capture_default_str();
  command->add_option("--tolerance", a->request.tolerance, "Relative residual")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--max-iterations", a->request.max_iterations, "Limit of Krylov iterations")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--restart", a->request.restart, "Basis size of gmres")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--eigenvalue-steps", a->request.eigenvalue_steps,
                   "Krylov steps for the ends of the spectrum (0: none): Lanczos for symmetric "
                   "definite preconditioners, else Arnoldi on A M^-1")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command->add_option("--problem", a->problem, "Where the problem is, if it moved");
  command->add_option("--threads", a->threads, "Threads of the OpenMP back end")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("-o,--output", a->output, "Result file to write");
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
    if (!a.output.empty()) check_output_path(a.output, a.force);
    const FrozenSystems systems = read_systems(a.systems);
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
      print_json(systems, a.request, rows);
    } else if (!a.quiet) {
      print_table(systems, a.request, rows);
    }
  });
}

}  // namespace ccp::app
