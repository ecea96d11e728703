#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/terminal.hpp"
#include "harness/certify.hpp"
#include "harness/referee.hpp"
#include "problems/error.hpp"
#include "problems/generators/planar.hpp"
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

/// Ends a step's solve when the referee measures the error asked for (zero: never), or at the cap.
/// It looks at fixed iterations, not at times, so that a simulation is the same on every run.
class StepObserver : public Observer {
 public:
  StepObserver(const Problem& problem, const StepAccuracy& accuracy)
      : referee_(problem), accuracy_(accuracy), gamma_(problem.map(), 1) {}

  bool observe(const Progress& progress, const std::function<void(Vector&)>& write_gamma) override {
    constexpr long interval = 20;
    if (progress.counters.outer >= accuracy_.max_iterations) return true;
    if (accuracy_.error <= 0 || progress.counters.outer % interval != 0) return false;
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
    const Info info = solver_->solve(solution, observer);
    if (accuracy.error <= 0 && info.status != Status::converged) {
      throw InputError(fmt::format("the step solver ended as {}{}{}", to_string(info.status),
                                   info.message.empty() ? "" : ": ", info.message));
    }
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

/// The positions and velocities of a planar scene as a CSV file.
class Trajectory {
 public:
  explicit Trajectory(const std::string& path) : path_(path) {
    if (path.empty()) return;
    file_.open(path);
    file_ << "time,body,x,z,vx,vz,wy\n";
  }
  void add(const PlanarState& now) {
    if (path_.empty()) return;
    for (std::size_t i = 0; i < now.spheres.count(); ++i) {
      const double *x = &now.spheres.position[3 * i], *v = &now.spheres.velocity[3 * i];
      file_ << fmt::format("{:.10g},{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g}\n", now.time, i,
                           x[0], x[2], v[0], v[2], now.angular_velocity[3 * i + 1]);
    }
  }
  void finish() {
    if (path_.empty()) return;
    file_.close();
    if (!file_) throw InputError(path_, "", "a file that can be written", "an error");
  }

 private:
  std::string path_;
  std::ofstream file_;
};

/// `generate pyramid` and `generate particle`: options of their own by `add_own`.
template <class Options, class AddOwn>
void add_planar(CLI::App& command, Context& context, const std::string& name,
                const std::string& help, const AddOwn& add_own,
                ContactProblem (*generate)(const Options&, StepSolver&, const PlanarRecorder&)) {
  struct Arguments {
    Options options;
    std::string output, name, trajectory, step_solver = "lcp[edges=2]";
    bool force = false;
  };
  auto* planar = command.add_subcommand(name, help);
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  a->name = name;
  PlanarOptions& o = a->options.planar;
  const auto number = [&](const char* option, auto& field, const char* text) {
    return planar->add_option(option, field, text)->capture_default_str();
  };
  add_own(a->options, number);
  planar->add_option("-o,--output", a->output, "Problem file to write")->required();
  number("--name", a->name, "Name of the instance");
  number("--mu", o.mu, "Friction coefficient");
  number("--dt", o.dt, "Time step, s");
  number("--gravity", o.gravity, "m/s^2");
  number("--slope", o.slope, "Degrees by which the ground falls along x");
  number("--steps", o.steps, "Time steps before the problem is frozen");
  number("--step-solver", a->step_solver, "Solver of the time steps, to its own tolerance");
  planar->add_option("--trajectory", a->trajectory,
                     "CSV file of positions and velocities after every step, to write");
  planar->add_flag("--force", a->force, "Overwrite the outputs");
  planar->callback([arguments, generate, &context] {
    auto& a = *arguments;
    check_output_path(a.output, a.force);
    if (!a.trajectory.empty()) check_output_path(a.trajectory, a.force);
    const KokkosSession kokkos(1);
    RegisteredStepSolver solver(a.step_solver);
    Trajectory trajectory(a.trajectory);
    ContactProblem problem =
        generate(a.options, solver, [&](const PlanarState& now) { trajectory.add(now); });
    trajectory.finish();
    problem.name = a.name;
    problem.source.generator = context.command_line;
    write_problem(a.output, problem, a.force);
    fmt::print("{}: {} contacts between {} bodies\n", a.output,
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
  add_planar<PyramidOptions>(
      *command, context, "pyramid", "A triangle of spheres that roll in a plane (seed 002)",
      [](PyramidOptions& o, const auto& number) {
        number("--rows", o.rows, "Spheres on the ground; rows (rows + 1) / 2 in all");
        number("--radius", o.radius, "m");
        number("--mass", o.mass, "Of a sphere, kg");
      },
      generate_pyramid);
  add_planar<ParticleOptions>(
      *command, context, "particle", "A particle thrown along the ground (seed 002)",
      [](ParticleOptions& o, const auto& number) {
        number("--speed", o.speed, "Along x at the start, m/s");
        number("--height", o.height, "Above the ground at the start, m");
      },
      generate_particle);
  add_scene(*command);
}

}  // namespace ccp::app
