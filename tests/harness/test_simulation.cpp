// Simulations with registered solvers: what a step's energy may be, and servo walls under all of
// them.
#include "harness/simulation/simulation.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "problems/dynamics/stepper_table.hpp"
#include "solvers/registry.hpp"
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
  CHECK(t.position.size() == 4 * 3);
  CHECK(t.time.back() == Approx(0.2));
  CHECK(t.options.find("dt=0.02") != std::string::npos);
  CHECK(simulation.unsolved() == 0);
  CHECK(t.obstacle_force[3 * 9 + 2] == Approx(-9.81 * std::sqrt(0.75)));
  TemporaryFolder folder;
  write_trajectory(folder.file("t.h5"), t, false);
  const Trajectory again = read_trajectory(folder.file("t.h5"));
  CHECK(again.position == t.position);
  CHECK(again.status == t.status);
  CHECK(again.obstacle_force == t.obstacle_force);
  CHECK(again.body_shape == std::vector<std::string>{"sphere"});
  check_parts(error_of([&] { write_trajectory(folder.file("t.h5"), t, false); }), {"t.h5"});
}
