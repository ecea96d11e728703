#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/terminal.hpp"
#include "harness/measure/certify.hpp"
#include "harness/simulation/step_solver.hpp"
#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "problems/scenes/column.hpp"
#include "problems/scenes/pile.hpp"
#include "problems/scenes/planar.hpp"
#include "problems/scenes/scenes.hpp"

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

/// How a sequence is asked for.
struct SequenceArguments {
  SequenceOptions options;
  std::string solver = "vipm[linear_solver=cholesky,tolerance=0]";
};

void add_sequence_options(CLI::App& command, SequenceArguments& a) {
  command
      .add_option("--from", a.options.from,
                  "Simulated time of the first step, s (default: when all is at rest)")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--accurate-solver", a.solver, "Solver of the steps of a sequence")
      ->capture_default_str();
  command.add_option("--residual", a.options.accuracy.residual, "Residual of their solutions")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void add_hertz_options(CLI::App& command, HertzModel& hertz, const char* young,
                       const char* young_help) {
  const auto number = [&](const char* name, double& field, const char* help) {
    command.add_option(name, field, help)->capture_default_str();
  };
  number(young, hertz.young, young_help);
  number("--poisson", hertz.poisson, "Poisson's ratio of elastic contacts");
  number("--relaxation-steps", hertz.relaxation_steps,
         "Steps in which overlaps of elastic contacts decay");
  number("--smallest-overlap", hertz.smallest_overlap,
         "Overlap below which the stiffness of elastic contacts stays the same, m");
  number("--tangential-damping", hertz.tangential, "gamma_t of elastic contacts, s/kg");
}

/// Certifies the steps and writes them. @throws InputError if one is not as accurate as asked for
void store_sequence(const std::string& path, SequenceArguments& a,
                    std::vector<ContactProblem> steps, const std::string& generator, bool force) {
  double worst = 0;
  std::size_t fewest = steps.front().contacts(), most = 0;
  for (ContactProblem& step : steps) {
    step.source.generator = generator;
    step.reference->method = a.solver;
    const double residual = certify(step)[Measure::residual];
    if (!(residual <= a.options.accuracy.residual)) {
      throw InputError(step.name, "solution by " + a.solver,
                       fmt::format("a residual of at most {:g}", a.options.accuracy.residual),
                       fmt::format("{:.1e}", residual));
    }
    worst = std::max(worst, residual);
    fewest = std::min(fewest, step.contacts());
    most = std::max(most, step.contacts());
  }
  write_sequence(path, a.options.name, steps, force);
  fmt::print("{}: {} steps of {} to {} contacts between {} spheres, residuals up to {:.1e}\n", path,
             steps.size(), grouped(static_cast<long>(fewest)), grouped(static_cast<long>(most)),
             grouped(static_cast<long>(steps.front().bodies())), worst);
}

void add_column(CLI::App& command, Context& context) {
  struct Arguments {
    ColumnOptions column;
    SequenceArguments sequence;
    std::string output;
    int threads = 1;
    bool force = false;
  };
  auto* column = command.add_subcommand(
      "column",
      "A sequence: a 1-D column of elastic spheres that sinks under its weight (Wang 2016)");
  auto arguments = std::make_shared<Arguments>();
  auto* a = arguments.get();
  a->sequence.options.name = "column";
  add_column_options(*column, a->column);
  column->add_option("--spheres", a->column.spheres, "Number of spheres")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  column->add_option("--steps", a->sequence.options.steps, "Number of steps")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  add_sequence_options(*column, a->sequence);
  column->add_option("--name", a->sequence.options.name, "Name of the sequence")
      ->capture_default_str();
  column->add_option("-o,--output", a->output, "Sequence file to write")->required();
  column->add_flag("--force", a->force, "Overwrite the output");
  column->callback([arguments, &context] {
    auto& a = *arguments;
    check_output_path(a.output, a.force);
    const KokkosSession kokkos(1);
    RegisteredStepSolver accurate(a.sequence.solver);
    store_sequence(a.output, a.sequence, generate_column(a.column, a.sequence.options, accurate),
                   context.command_line, a.force);
  });
}

/// Names a generated problem, writes it and says what it is. @param what  "spheres", "bodies"
void store_problem(ContactProblem problem, const std::string& name, const char* what,
                   const std::string& output, bool force, const Context& context) {
  problem.name = name;
  problem.source.generator = context.command_line;
  write_problem(output, problem, force);
  fmt::print("{}: {} contacts between {} {}\n", output,
             grouped(static_cast<long>(problem.contacts())),
             grouped(static_cast<long>(problem.bodies())), what);
}

void add_pile(CLI::App& command, Context& context) {
  struct Arguments {
    PileOptions pile;
    SequenceArguments sequence;
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
  auto* steps = pile->add_option("--steps", a->sequence.options.steps,
                                 "Write a sequence of so many time steps instead of one problem")
                    ->check(CLI::Range(1, 10000));
  add_sequence_options(*pile, a->sequence);
  add_hertz_options(*pile, o.model.hertz, "--hertz-young",
                    "Young's modulus of elastic contacts in a sequence, Pa (0: rigid)");
  for (const char* name : {"--from", "--accurate-solver", "--residual", "--hertz-young"}) {
    pile->get_option(name)->needs(steps);
  }
  number("--step-solver", a->step_solver, "Solver of the time steps");
  number("--threads", a->threads, "Threads of the OpenMP back end")->check(CLI::PositiveNumber);
  pile->add_flag("--force", a->force, "Overwrite the output");
  pile->callback([arguments, steps, &context] {
    auto& a = *arguments;
    check_output_path(a.output, a.force);
    a.pile.model.gravity = {0, 0, -a.gravity};
    const KokkosSession kokkos(a.threads);
    RegisteredStepSolver solver(a.step_solver);
    ProgressLine line(true);
    const auto show = [&](const PileProgress& now) {
      line.show(fmt::format("{} {}: {:.2f} s simulated, {} contacts, fastest sphere {:.3g} m/s",
                            a.name, now.settling ? "settling" : "flowing", now.time,
                            grouped(static_cast<long>(now.contacts)), now.max_speed));
    };
    if (steps->count() > 0) {
      a.sequence.options.name = a.name;
      RegisteredStepSolver accurate(a.sequence.solver);
      auto recorded = generate_pile_sequence(a.pile, a.sequence.options, solver, accurate, show);
      line.clear();
      store_sequence(a.output, a.sequence, std::move(recorded), context.command_line, a.force);
      return;
    }
    ContactProblem problem = generate_pile(a.pile, solver, show);
    line.clear();
    store_problem(std::move(problem), a.name, "spheres", a.output, a.force, context);
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
    store_problem(std::move(problem), a.name, "bodies", a.output, a.force, context);
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

void add_column_options(CLI::App& command, ColumnOptions& column) {
  const auto number = [&](const char* name, double& field, const char* help) {
    command.add_option(name, field, help)->capture_default_str();
  };
  number("--diameter", column.diameter, "m");
  number("--density", column.density, "kg/m^3");
  number("--mu", column.model.mu, "Friction coefficient");
  number("--dt", column.model.dt, "Time step, s");
  add_hertz_options(command, column.model.hertz, "--young", "Young's modulus, Pa");
  number("--rest-speed", column.rest_speed, "Largest speed of a column at rest, m/s");
  number("--longest", column.longest_time, "Longest simulated time, s");
}

void add_generate(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("generate", "Make a problem of our own");
  command->require_subcommand(1);
  add_pile(*command, context);
  add_column(*command, context);
  add_planar<PyramidOptions>(
      *command, context, "pyramid", "A triangle of spheres that roll in a plane (Anitescu slides)",
      [](PyramidOptions& o, const auto& number) {
        number("--rows", o.rows, "Spheres on the ground; rows (rows + 1) / 2 in all");
        number("--radius", o.radius, "m");
        number("--mass", o.mass, "Of a sphere, kg");
      },
      generate_pyramid);
  add_planar<ParticleOptions>(
      *command, context, "particle", "A particle thrown along the ground (Anitescu slides)",
      [](ParticleOptions& o, const auto& number) {
        number("--speed", o.speed, "Along x at the start, m/s");
        number("--height", o.height, "Above the ground at the start, m");
      },
      generate_particle);
  add_scene(*command);
}

}  // namespace ccp::app
