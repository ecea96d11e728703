#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/terminal.hpp"
#include "harness/certify.hpp"
#include "harness/referee.hpp"
#include "problems/error.hpp"
#include "problems/generators/pile.hpp"
#include "problems/generators/scenes.hpp"
#include "problems/hdf5_file.hpp"
#include "problems/problem_file.hpp"
#include "solvers/core/registry.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp::app {
namespace {

void add_scene(CLI::App& command) {
  struct Arguments {
    std::string name, output;
    bool force = false;
  };
  auto* scene = command.add_subcommand("scene", "A tiny scene with a solution known by hand");
  auto arguments = std::make_shared<Arguments>();
  scene->add_option("name", arguments->name, "See `ccpbench list scenes`")->required();
  scene->add_option("-o,--output", arguments->output, "Problem file to write")->required();
  scene->add_flag("--force", arguments->force, "Overwrite the output");
  scene->callback([arguments] {
    check_output_path(arguments->output, arguments->force);
    ContactProblem problem = make_scene(arguments->name);
    const KokkosSession kokkos(1);
    certify(problem);
    write_problem(arguments->output, problem, arguments->force);
    fmt::print("{}: {} contacts\n", arguments->output, problem.contacts());
  });
}

/// Ends a step's solve when the referee measures the error asked for, or at the cap. It looks at
/// fixed iterations, not at times, so that a simulation is the same on every run.
class StepObserver : public Observer {
 public:
  StepObserver(const Problem& problem, const StepAccuracy& accuracy)
      : referee_(problem), accuracy_(accuracy), gamma_(problem.map(), 1) {}

  bool observe(const Progress& progress, const std::function<void(Vector&)>& write_gamma) override {
    constexpr long interval = 20;
    if (progress.counters.outer >= accuracy_.max_iterations) return true;
    if (progress.counters.outer % interval != 0) return false;
    write_gamma(gamma_);
    return referee_.measure(gamma_)[Measure::error] <= accuracy_.error;
  }

 private:
  Referee referee_;
  StepAccuracy accuracy_;
  Vector gamma_;
};

/// A registered solver as the step solver of a generator.
class RegisteredStepSolver : public StepSolver {
 public:
  explicit RegisteredStepSolver(const std::string& spec)
      : solver_(make_solver(SolverSpec::parse(spec))) {}

  void solve(const ContactProblem& host, const StepAccuracy& accuracy,
             std::vector<double>& gamma) override {
    const Problem problem(host);
    StepObserver observer(problem, accuracy);
    Vector solution(problem.map(), 1);
    Kokkos::deep_copy(overwrite_view(solution),
                      upload<VectorView>("ccp::guess", gamma, gamma.size()));
    solver_->setup(problem);
    solver_->solve(solution, observer);
    gamma = download(read_view(solution));
  }

 private:
  std::unique_ptr<Solver> solver_;
};

void add_pile(CLI::App& command, Context& context) {
  struct Arguments {
    PileOptions pile;
    std::string output, name = "pile", step_solver = "pgj[omega=0.2]";
    double gravity = 10;
    int threads = 1;
    bool force = false;
  };
  auto* pile = command.add_subcommand(
      "pile", "A pile of non-rotating spheres, settled on the ground (Test Problems 1-3)");
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  PileOptions& o = a->pile;
  const auto number = [&](const char* name, auto& field, const char* help) {
    return pile->add_option(name, field, help)->capture_default_str();
  };
  number("--spheres", o.spheres, "Number of spheres")->check(CLI::PositiveNumber);
  number("--contacts", o.contacts,
         "Number of contacts, nearest pairs first (0: within 0.666 mean radii)")
      ->check(CLI::NonNegativeNumber);
  number("--seed", o.seed, "Seed of radii and jitter");
  pile->add_option("-o,--output", a->output, "Problem file to write")->required();
  number("--name", a->name, "Name of the instance");
  number("--column", o.column,
         "Spheres along a side of the column at the start (0: cbrt(spheres/4))")
      ->check(CLI::NonNegativeNumber);
  number("--drop", o.drop, "Height of the column above the ground at the start, m")
      ->check(CLI::NonNegativeNumber);
  number("--radius-min", o.radius_min, "Smallest radius, m");
  number("--radius-max", o.radius_max, "Largest radius, m");
  number("--density", o.density, "kg/m^3");
  number("--mu", o.model.mu, "Friction coefficient");
  number("--dt", o.model.dt, "Time step, s");
  number("--flow-dt", o.flow_dt, "Time step while the column collapses, s");
  number("--gravity", a->gravity, "Along -z, m/s^2");
  number("--young", o.model.young, "Young's modulus for contact stiffnesses, Pa (0: none)");
  number("--rest-speed", o.rest_speed, "Largest speed of a settled pile, m/s");
  number("--position-grid", o.position_grid, "Grid on which x and y are recorded, m (0: none)")
      ->check(CLI::NonNegativeNumber);
  add_heavy_options(*pile, o.heavy);
  number("--step-solver", a->step_solver, "Solver of the time steps");
  number("--threads", a->threads, "Threads of the OpenMP back end")->check(CLI::PositiveNumber);
  pile->add_flag("--force", a->force, "Overwrite the output");
  pile->callback([arguments, &context] {
    auto& a = *arguments;
    check_output_path(a.output, a.force);
    a.pile.model.gravity = {0, 0, -a.gravity};
    const KokkosSession kokkos(a.threads);
    RegisteredStepSolver solver(a.step_solver);
    ProgressLine line(true);
    ContactProblem problem = generate_pile(a.pile, solver, [&](const PileProgress& now) {
      line.show(fmt::format("{} {}: {:.2f} s simulated, {} contacts, fastest sphere {:.3g} m/s",
                            a.name, now.settling ? "settling" : "flowing", now.time,
                            grouped(static_cast<long>(now.contacts)), now.max_speed));
    });
    line.clear();
    problem.name = a.name;
    problem.source.generator = context.command_line;
    write_problem(a.output, problem, a.force);
    fmt::print("{}: {} contacts between {} spheres\n", a.output,
               grouped(static_cast<long>(problem.contacts())),
               grouped(static_cast<long>(problem.bodies())));
  });
}

}  // namespace

void add_heavy_options(CLI::App& command, HeavySpheres& heavy) {
  command
      .add_option("--heavy-fraction", heavy.fraction,
                  "Part of the spheres that is made heavier in the frozen problem")
      ->capture_default_str();
  command.add_option("--mass-ratio", heavy.mass_ratio, "Factor on the mass of the heavy spheres")
      ->capture_default_str();
}

void add_generate(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("generate", "Make a problem of our own");
  command->require_subcommand(1);
  add_pile(*command, context);
  add_scene(*command);
}

}  // namespace ccp::app
