#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/listed_options.hpp"
#include "harness/app/output_check.hpp"
#include "harness/app/terminal.hpp"
#include "harness/measure/certify.hpp"
#include "harness/measure/recorder.hpp"
#include "harness/measure/referee.hpp"
#include "problems/base/error.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/linear/definiteness.hpp"
#include "solvers/registry.hpp"

namespace ccp::app {
namespace {

struct CertifyArguments {
  std::string input, output, solver = "vipm[linear_solver=cholesky,tolerance=0]";
  double residual = 1e-8, time_limit = 600;
  int threads = 1;
  bool force = false;
};

void certify_file(const CertifyArguments& a, Context& context) {
  const std::string input = resolve_problem(a.input);
  const auto [file, steps] = split_place(input);
  if (a.output.empty() && (!steps.empty() || input != a.input)) {
    throw InputError("certify", "", "--output FILE for a step of a sequence or a catalogue name",
                     a.input + " alone");
  }
  const std::string output = a.output.empty() ? input : a.output;
  // A problem's own file may have the reference added, but a step is not all of its file, and what
  // the catalogue has never changes.
  const bool in_place = steps.empty() && input == a.input;
  check_output(output, a.force, in_place ? std::vector<std::string>() : std::vector{file});
  ContactProblem problem = read_problem(input);
  const SolverSpec spec = SolverSpec::parse(a.solver);
  if (const Law law = make_solver(spec)->law(); law != Law::convex) {
    throw InputError("solver " + spec.id, "law", "convex, as the references are", to_string(law));
  }
  const KokkosSession kokkos(a.threads);
  const auto solver = make_solver(spec);
  Reference reference;
  Info info;
  {
    problem.reference.reset();
    const Problem device(problem);
    if (const Definiteness found = definiteness(device); !found.is_semidefinite()) {
      throw InputError(a.input, "N", "a positive semidefinite matrix", found.text());
    }
    Referee referee(device);
    RecorderOptions options;
    options.stop = {{Measure::residual, a.residual}};
    options.time_limit = a.time_limit;
    Recorder recorder(device.map(), options,
                      [&](const Vector& gamma) { return referee.measure(gamma); });
    Vector gamma(device.map(), 1);
    solver->setup(device);
    recorder.start();
    info = solver->solve(gamma, recorder);
    recorder.finish(info, gamma);
    reference.gamma = download(read_view(gamma));
  }
  reference.method = fmt::format("{}, {} outer iterations", spec.text(), info.counters.outer);
  problem.reference = std::move(reference);
  const Measures measures = certify(problem);
  const double reached = measures[Measure::residual];
  if (!(reached <= a.residual)) {
    fmt::print("{}: residual {:.1e} is not the {:g} asked for ({}{}{}); nothing written\n", a.input,
               reached, a.residual, to_string(info.status), info.message.empty() ? "" : ": ",
               info.message);
    context.exit_code = target_not_reached;
    return;
  }
  write_problem(output, problem, a.force);
  fmt::print("{}: reference with residual {:.1e}, cost {:.1e} J, feas {:.1e} m/s by {}\n", output,
             reached, measures[Measure::cost], measures[Measure::feas], problem.reference->method);
}

}  // namespace

void add_certify(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("certify", "Solve a problem accurately and store the solution with it");
  auto arguments = std::make_shared<CertifyArguments>();
  auto* a = arguments.get();
  command->add_option("problem", a->input, "Problem file or catalogue name")
      ->required()
      ->type_name("PROBLEM");
  command
      ->add_option("-o,--output", a->output,
                   "Problem file to write (default: the problem itself, with --force)")
      ->type_name("FILE");
  command->add_option("-s,--solver", a->solver, "A solver of the convex law")
      ->type_name("SOLVER")
      ->capture_default_str();
  using Range = OptionList::Range;
  add_number(*command, "--residual", a->residual, Range::positive(),
             "Residual that the referee must measure");
  add_number(*command, "--time-limit", a->time_limit, Range::positive(), "Seconds of solving");
  add_threads(*command, a->threads);
  command->add_flag("--force", a->force, "Overwrite the output");
  command->callback([arguments, &context] { certify_file(*arguments, context); });
}

}  // namespace ccp::app
