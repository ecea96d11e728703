// Simulations with registered solvers: what a step's energy may be, and servo walls under all of
// them.
#include "harness/simulation/simulation.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <map>

#include "problems/dynamics/stepper_table.hpp"
#include "solvers/registry.hpp"
#include "tests/full_disk.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

constexpr double radius = 0.1, mass = 2;  // m, kg

/// 27 balls on a grid of that pitch above a plane, with random velocities and spins.
Bodies random_grid(double pitch, unsigned seed) {
  Bodies bodies;
  const double j = 0.4 * mass * radius * radius;
  const std::vector<double> random = random_vector(6 * 27, seed);
  for (int i = 0; i < 27; ++i) {
    bodies.add({"sphere", {radius}}, BodyKind::rigid, mass, {j, j, j});
    const int cell[3] = {i % 3, i / 3 % 3, i / 9};
    for (int k = 0; k < 3; ++k) {
      bodies.position[3 * i + k] = pitch * cell[k] + pitch / 2;
      bodies.velocity[3 * i + k] = random[6 * i + k];
      bodies.angular_velocity[3 * i + k] = 10 * random[6 * i + 3 + k];
    }
  }
  bodies.obstacles.push_back({{"plane", {}}, {}, {}, {}});
  return bodies;
}

/// v . M v of velocities [m][6], twice the kinetic energy.
double weighted(const Bodies& bodies, const std::vector<double>& velocity) {
  double sum = 0;
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    for (int k = 0; k < 3; ++k) {
      sum += bodies.mass[i] * velocity[6 * i + k] * velocity[6 * i + k];
      sum += bodies.inertia[3 * i] * velocity[6 * i + 3 + k] * velocity[6 * i + 3 + k];
    }
  }
  return sum;
}

/// The largest (v+ . M v+) / (v* . M v*) - 1 over some states.
double largest_gain(const char* stepper, const char* solver_text, double pitch) {
  StepModel model;
  model.dt = 0.01;
  StepAccuracy accuracy;
  accuracy.residual = 1e-13;
  accuracy.max_iterations = 20000;
  double gain = -1;
  for (unsigned seed = 1; seed < 6; ++seed) {
    Bodies bodies = random_grid(pitch, seed);
    MeasuredStepSolver solver(solver_text);
    const auto scheme = make_stepper(stepper, model);
    const FreeMotion free = free_motion(bodies, model.gravity, {}, model.dt);
    const Bodies before = bodies;
    const Step step = scheme->step(bodies, solver, accuracy);
    REQUIRE(step.problem.contacts() > 30);
    for (const double gap : step.problem.gap) REQUIRE(gap >= -1e-12);
    CHECK(solver.tally().residual < 1e-9);
    gain = std::max(gain,
                    weighted(before, velocities_of(bodies)) / weighted(before, free.velocity) - 1);
  }
  return gain;
}

}  // namespace

TEST_CASE("an exact step of the convex law never gains energy while gaps are not negative") {
  CHECK(largest_gain("relaxation", "vipm[tolerance=0]", 2 * radius + 1e-3) < 1e-12);
  // Coulomb's law without gaps: u_n gamma_n = 0 and friction dissipates.
  CHECK(largest_gain("lcp[stabilised=false]", "pgs[law=coulomb]", 2 * radius - 1e-13) < 1e-12);
}

//   | wall -> 100 N   (o)   | fixed     and every solver that takes bodies that rotate
TEST_CASE("servo wall: every solver finds the balance of forces") {
  Bodies bodies;
  bodies.add({"sphere", {radius}}, BodyKind::rigid, mass, {0.008, 0.008, 0.008});
  bodies.add_wall({"plane", {}}, 100, {1, 0, 0});
  const double half = std::sqrt(0.5);
  const Quaternion to_x{half, 0, half, 0}, to_minus_x{half, 0, -half, 0};
  bodies.orientation = {1, 0, 0, 0, to_x.w, to_x.x, to_x.y, to_x.z};
  bodies.position = {0, 0, 0, -radius, 0, 0};
  bodies.obstacles.push_back({{"plane", {}}, {{radius, 0, 0}, to_minus_x}, {}, {}});
  StepModel model;
  model.gravity = {};
  model.margin = 1e-3;
  model.load = [](const Bodies&, std::vector<double>& load) { load[6] = 100; };
  int solved = 0;
  for (const SolverEntry& entry : solver_entries()) {
    const auto stepper = make_stepper("shake", model);
    const ContactProblem problem = stepper->problem(bodies);
    if (!why_unsupported(SolverSpec::parse(entry.id), problem).empty()) continue;
    INFO(entry.id);
    MeasuredStepSolver solver(entry.id);
    StepAccuracy accuracy;
    accuracy.residual = 1e-11;
    accuracy.max_iterations = 200000;
    Bodies moved = bodies;
    const Step step = stepper->step(moved, solver, accuracy);
    CHECK(solver.tally().residual < 1e-7);  // pqn ends at 5e-8
    CHECK(step.obstacle_impulse[0] == Approx(100 * model.dt).epsilon(1e-6));
    CHECK(std::abs(moved.velocity[3]) < 1e-7);
    ++solved;
  }
  CHECK(solved >= 8);
}

// ---- joints and rolling resistance -------------------------------------------------------------

namespace {

/// All of a scene. @return its simulation at the end
std::unique_ptr<Simulation> whole(const std::string& scene, const std::string& stepper = "",
                                  double until = 0, const std::string& solver = "") {
  SimulationRequest request;
  request.scene = scene;
  request.stepper = stepper;
  request.until = until;
  request.solver = solver;
  auto simulation = std::make_unique<Simulation>(request);
  while (simulation->state() == SimulationEnd::running) simulation->step();
  return simulation;
}
double value_of(const Simulation& simulation, const std::string& name) {
  for (const auto& [known, value] : simulation.values()) {
    if (known == name) return value;
  }
  FAIL("no value " << name);
  return 0;
}

}  // namespace

//  S-JOINT: how far the joints of the double pendulum open within 20 s, its end on the ground.
TEST_CASE("joints open by O(h) without their Theta in the rows, by O(h^2) with it") {
  std::vector<double> open, held;
  for (const char* dt : {"0.05", "0.025", "0.0125"}) {
    const std::string scene = std::string("double-pendulum[dt=") + dt + "]";
    open.push_back(whole(scene, "lcp[stabilised=false]")->trajectory().largest_joint_error());
    const auto simulation = whole(scene, "lcp");
    held.push_back(simulation->trajectory().largest_joint_error());
    CHECK(simulation->unsolved() == 0);
  }
  INFO("open " << open[0] << " " << open[1] << " " << open[2] << ", held " << held[0] << " "
               << held[1] << " " << held[2]);
  CHECK(std::log2(open[0] / open[2]) / 2 > 0.7);
  CHECK(std::log2(open[0] / open[2]) / 2 < 1.4);
  CHECK(std::log2(held[0] / held[2]) / 2 > 1.7);
  CHECK(held[2] < 0.1 * open[2]);
}

//  A mechanism of one degree of freedom: an impact leaves e^2 of the energy, and e = 0 nothing.
TEST_CASE("slider-crank: what is left of its energy at the stop") {
  const auto stuck = whole("slider-crank[gravity=0]");
  CHECK(stuck->trajectory().kinetic.back() < 1e-15 * stuck->energy_first());
  CHECK(value_of(*stuck, "slider") == Approx(1.2).epsilon(1e-6));
  const auto bounced = whole("slider-crank[gravity=0,restitution=0.5,dt=0.0005]", "", 0.25);
  CHECK(value_of(*bounced, "slider_speed") < 0);
  CHECK(bounced->trajectory().kinetic.back() ==
        Approx(0.25 * bounced->energy_first()).epsilon(0.01));
  CHECK(bounced->trajectory().largest_joint_error() < 1e-5);
  check_parts(error_of([] { whole("slider-crank[stop=0.9]"); }), {"option stop", "0.953939"});
}

TEST_CASE("a stiff spring is stable at 50 ms implicitly, and diverges explicitly") {
  const auto implicit = whole("spring-mass");
  CHECK(value_of(*implicit, "stretch") == Approx(value_of(*implicit, "static_stretch")));
  CHECK(std::abs(value_of(*implicit, "speed")) < 1e-10);
  const auto explicit_force = whole("spring-mass[implicit=false]");
  CHECK(explicit_force->state() == SimulationEnd::diverged);
  check_parts(explicit_force->complaint(), {"diverged in step 1", "body 0", "m/s"});
  // Far below the limit 2 sqrt(m / k) both are the same motion.
  const std::string fine = "spring-mass[stiffness=100,damping=1,dt=0.001";
  CHECK(value_of(*whole(fine + "]"), "stretch") ==
        Approx(value_of(*whole(fine + ",implicit=false]"), "stretch")).epsilon(0.02));
}

TEST_CASE("rolling resistance: T3, T4 and T5 with every solver that takes it") {
  for (const char* solver :
       {"pgs[law=coulomb]", "pgs", "pgj", "apgd", "bb", "vipm", "admm", "ipm"}) {
    INFO(solver);
    // The convex law lifts what rolls a little.
    const double close = std::string(solver) == "pgs[law=coulomb]" ? 1e-6 : 1e-3;
    // T3: (g sin - rho g cos / r) / (1 + 2/5)
    const auto rolls = whole("incline[rolling=0.1]", "", 0.2, solver);
    CHECK(value_of(*rolls, "acceleration") ==
          Approx(9.81 * (0.5 - 0.1 * std::sqrt(0.75)) / 1.4).epsilon(close));
    // T4: it holds for tan(slope) <= mu_r
    CHECK(std::abs(value_of(*whole("incline[slope=5,rolling=0.0876]", "", 0.2, solver), "speed")) <
          1e-6);
    CHECK(value_of(*whole("incline[slope=5,rolling=0.087]", "", 0.2, solver), "speed") > 1e-4);
    // T5: d w / dt = -rho m g / I, and no further than zero
    const auto spins = whole("spinning-ball[spin=30]", "", 0.2, solver);
    CHECK(value_of(*spins, "spin") == Approx(30 - 0.05 * 9.81 / (0.4 * 0.1) * 0.2).epsilon(close));
    CHECK(std::abs(value_of(*whole("spinning-ball[spin=1]", "", 0.2, solver), "spin")) < 1e-6);
  }
  for (const char* scheme : {"moreau", "rattle", "relaxation"}) {
    INFO(scheme);
    const auto spins = whole("spinning-ball[spin=30]", scheme, 0.2, "pgs");
    CHECK(value_of(*spins, "spin") == Approx(30 - 0.05 * 9.81 / (0.4 * 0.1) * 0.2).epsilon(0.06));
  }
}

namespace {

/// The contact problem of the last step before a time.
ContactProblem step_of(const std::string& scene, double until) {
  SimulationRequest request;
  request.scene = scene;
  request.until = until;
  Simulation simulation(request);
  ContactProblem problem;
  while (simulation.state() == SimulationEnd::running) problem = simulation.step().problem;
  return problem;
}

struct FeatureStep {
  const char* scene;
  double until;
  std::size_t contacts;  ///< at least
};
const FeatureStep feature_steps[] = {{"incline[rolling=0.1]", 0.1, 1},
                                     {"spinning-ball[spin=30]", 0.1, 1},
                                     {"rolling-pile[spheres=12]", 0.3, 10},
                                     {"rolling-pile[spheres=12,twisting=false]", 0.3, 10},
                                     {"double-pendulum", 1.2, 1},
                                     {"slider-crank", 2.5, 1},
                                     {"four-bar", 1.9, 1},
                                     {"spring-mass", 0.1, 0}};

}  // namespace

//  Rolling resistance; joints that move, that lie on the ground, and that close a loop; springs.
TEST_CASE("every solver with the feature solves the steps of scenes that have it") {
  std::map<std::string, int> solved;
  for (const FeatureStep& row : feature_steps) {
    const ContactProblem problem = step_of(row.scene, row.until);
    REQUIRE(problem.contacts() >= row.contacts);
    REQUIRE(problem.triples() > problem.contacts());
    for (const SolverEntry& entry : solver_entries()) {
      for (const Law law : entry.laws) {
        // Its own tolerances are in SI units, and loose for spheres of 13 mm.
        const std::string more = entry.id == "ipm" ? ",tol_cost=0,tol_infeasibility=0" : "";
        const std::string spec = entry.id + "[law=" + to_string(law) + more + "]";
        INFO(spec << " on " << row.scene);
        if (!supports(SolverSpec::parse(spec), problem)) {
          CHECK(supports(entry, problem) == (spec == "auto[law=coulomb]"));  // coulomb does not
          continue;
        }
        MeasuredStepSolver solver(spec);
        StepAccuracy accuracy;
        accuracy.error = std::numeric_limits<double>::infinity();
        accuracy.residual = 1e-8;
        accuracy.max_iterations = 300000;
        std::vector<double> gamma(3 * problem.triples(), 0.0);
        solver.solve(problem, accuracy, gamma);
        INFO(solver.tally().outer << " iterations, " << solver.tally().status << " "
                                  << solver.tally().message);
        CHECK(solver.tally().residual <= 1e-8);
        ++solved[entry.id];
      }
    }
  }
  for (const SolverEntry& entry : solver_entries()) {
    const bool any = entry.has(Feature::rolling) || entry.has(Feature::equality);
    INFO(entry.id);
    CHECK((solved[entry.id] > 0) == any);
  }
}

// The sum that krylov=cholmod factors has lost its definiteness by then in some steps (1e-8 in
// one).
TEST_CASE("ipm solves the steps of a loop of joints that contacts jam, by its preconditioners") {
  for (const char* const solver : {"ipm", "ipm[preconditioner=block_ic0]"}) {
    const auto simulation = whole("four-bar", "", 0.8, solver);
    INFO(solver << ": " << simulation->unsolved() << " steps are not solved");
    CHECK(simulation->unsolved() == 0);
    CHECK(simulation->trajectory().contacts.back() > 0);  // it lies on the floor
  }
}

TEST_CASE("what a scheme or solver cannot do with joints and rolling resistance is refused") {
  check_parts(error_of([] { whole("incline[rolling=0.1]", "", 0.1, "ssn"); }), {"ssn", "rolling"});
  check_parts(error_of([] { whole("double-pendulum", "", 0.1, "ssn"); }), {"ssn", "equality"});
  check_parts(error_of([] { whole("incline[rolling=0.1]", "", 0.1, "lcp"); }), {"lcp", "rolling"});
}

TEST_CASE(
    "a step that is not solved is told with its number, what was reached and what was asked") {
  SimulationRequest request;
  request.scene = "slider-crank";
  request.until = 0.05;
  request.iterations = 1;
  Simulation simulation(request);
  while (simulation.state() == SimulationEnd::running) simulation.step();
  REQUIRE(simulation.unsolved() > 0);
  REQUIRE(simulation.first_unsolved());
  REQUIRE(simulation.worst_unsolved());
  const UnsolvedStep &first = *simulation.first_unsolved(), &worst = *simulation.worst_unsolved();
  const std::vector<double>& residual = simulation.trajectory().residual;
  CHECK(first.residual == residual[static_cast<std::size_t>(first.step)]);
  for (long k = 0; k < first.step; ++k) {
    CHECK(residual[static_cast<std::size_t>(k)] <= request.residual);
  }
  CHECK(worst.residual == simulation.trajectory().largest_residual());
  check_parts(first.text(simulation.request()),
              {"step ", " s: residual ", " asked for; pgs ended as stopped_by_observer"});
}

TEST_CASE("frames take no memory, however many there are") {
  SimulationRequest request;
  request.scene = "rolling-pile[spheres=200]";
  request.solver = "pgs[law=coulomb]";
  request.iterations = 1;
  request.every = 1;
  const TemporaryFolder folder;
  request.aside = folder.path().string();
  Simulation simulation(request);
  const auto held = [&] {
    const FrameArrays& frames = simulation.frames();
    return frames.position.held() + frames.orientation.held() + frames.velocity.held();
  };
  const auto make = [&](long steps) {
    for (long k = 0; k < steps; ++k) simulation.step();
  };
  make(100);
  const std::size_t before = held();
  make(200);
  CHECK(simulation.frames().velocity.size() == 301UL * 200 * 6);
  CHECK(held() <= before);
  CHECK(held() < simulation.frames().velocity.size() * sizeof(double) / 2);
  CHECK(folder.names().empty());

  const std::string path = folder.file("checkpoint.h5");
  simulation.write_checkpoint(path);
  Simulation again(request);
  again.resume(path);
  std::vector<double> whole(again.frames().velocity.size());
  again.frames().velocity.read(0, whole.size(), whole.data());
  CHECK(whole == read_trajectory(path).velocity);
  CHECK(whole.size() == simulation.frames().velocity.size());
}

TEST_CASE("a full disk is told, and nothing is left behind of a trajectory") {
  SimulationRequest request;
  request.scene = "rolling-pile[spheres=100]";
  request.solver = "pgs[law=coulomb]";
  request.iterations = 1;
  request.every = 1;
  Simulation simulation(request);
  for (int k = 0; k < 50; ++k) simulation.step();
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  write_text(path, "before");
  check_full_disk(folder, path, [&] { simulation.write(path, true); });
  simulation.write(path, true);  // and the library is none the worse for it
  CHECK(read_trajectory(path).frames() == 51);
}

TEST_CASE("a simulation counts, judges and keeps what its steps were") {
  SimulationRequest request;
  request.scene = "incline[dt=0.02]";
  request.until = 0.2;
  request.every = 4;
  Simulation simulation(request);
  CHECK(simulation.steps_asked() == 10);
  while (simulation.state() == SimulationEnd::running) simulation.step();
  const Trajectory& t = simulation.trajectory();
  CHECK(t.steps() == 10);
  CHECK(t.frame_step == std::vector<std::int64_t>{0, 4, 8});
  simulation.keep_last_frame();
  CHECK(t.frame_step.back() == 10);
  CHECK(simulation.frames().position.size() == 4 * 3);
  CHECK(t.time.back() == Approx(0.2));
  CHECK(t.options.find("dt=0.02") != std::string::npos);
  CHECK(simulation.unsolved() == 0);
  CHECK(t.obstacle_force[3 * 9 + 2] == Approx(-9.81 * std::sqrt(0.75)));
  TemporaryFolder folder;
  simulation.write(folder.file("t.h5"), false);
  const Trajectory again = read_trajectory(folder.file("t.h5"));
  std::vector<double> position(4 * 3);
  simulation.frames().position.read(0, position.size(), position.data());
  CHECK(again.position == position);
  CHECK(again.status == t.status);
  CHECK(again.obstacle_force == t.obstacle_force);
  CHECK(again.body_shape == std::vector<std::string>{"sphere"});
  check_parts(error_of([&] { simulation.write(folder.file("t.h5"), false); }), {"t.h5"});
}
