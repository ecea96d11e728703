// The projected quasi-Newton method: its smoothing and linearisation against finite differences,
// small scenes by hand under both laws, and how it behaves on a frozen pile.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/core/smooth_cone.hpp"
#include "solvers/pqn/linearisation.hpp"
#include "solvers/registry.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

const Vec3 tilted{0.36, 0.48, 0.8};  // a unit normal

std::vector<Vec3> points() {
  std::vector<Vec3> list = {{0, 0, 0}, 0.7 * tilted, -0.7 * tilted};  // these have no tangent
  const std::vector<double> x = random_vector(60, 3);
  for (std::size_t i = 0; i < x.size() / 3; ++i)
    list.push_back({x[3 * i], x[3 * i + 1], x[3 * i + 2]});
  return list;
}

/// C at the impulses p, world axes.
std::vector<double> residual(pqn::Linearisation& system, const std::vector<double>& p) {
  const VectorView c("c", p.size());
  system.update(to_view(p), c);
  return to_host(ConstVectorView(c));
}

}  // namespace

TEST_CASE("the smoothed polar projection becomes z - P(z)") {
  for (const double mu : {0.0, 0.3, 1.0, 2.5}) {
    for (const Vec3& z : points()) {
      const Vec3 sharp = z - project_friction_cone(z, tilted, mu);
      for (const double omega : {1e-3, 1e-6, 1e-12}) {
        const Vec3 smooth = smooth_polar_projection(z, tilted, mu, omega).value;
        INFO(mu << " " << omega << " at " << z.x << " " << z.y << " " << z.z);
        CHECK(norm(smooth - sharp) <= 2 * (1 + mu * mu) * omega);
      }
    }
  }
}

TEST_CASE("the gradient of the smoothed projection, by differences, is positive definite") {
  for (const double mu : {0.0, 0.3, 1.0, 2.5}) {
    for (const Vec3& z : points()) {
      const double omega = 0.1, h = 1e-5;
      const auto at = [&](const Vec3& x) {
        return smooth_polar_projection(x, tilted, mu, omega).value;
      };
      const auto polar = smooth_polar_projection(z, tilted, mu, omega);
      const std::vector<Vec3> units = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
      for (const Vec3& unit : units) {
        const Vec3 difference = (0.5 / h) * (at(z + h * unit) - at(z - h * unit));
        INFO(mu << " at " << z.x << " " << z.y << " " << z.z);
        // On the axis there is no second derivative, so that differences are right to O(h).
        const double tolerance = split(z, tilted).size < 1e-12 ? 10 * h : 1e-8;
        CHECK(norm(difference - polar.gradient * unit) < tolerance);
      }
      for (const Vec3& v : points()) {
        if (norm(v) == 0) continue;
        CHECK(weighted_square(polar.gradient, v) > 0);
      }
    }
  }
}

TEST_CASE("A is the derivative of C, and its blocks are inverted") {
  for (const bool coulomb : {true, false}) {
    for (const ContactProblem& bodies :
         {random_problem({4, 8, true, true, 1}), random_problem({5, 12, false, true, 2})}) {
      for (const ContactProblem& host : {bodies, assembled_form(bodies)}) {
        const Problem problem(host);
        pqn::Linearisation system(problem);
        pqn::Linearisation::Parameters parameters;
        parameters.coulomb = coulomb;
        parameters.omega = 0.1;
        parameters.rho = 0.7;
        parameters.delta = 0.05;
        system.set_parameters(parameters);
        const std::size_t size = 3 * host.contacts();
        const std::vector<double> p = random_vector(size, 9);
        residual(system, p);
        std::vector<std::vector<double>> columns, expected;
        for (std::size_t j = 0; j < size; ++j) {
          std::vector<double> unit(size, 0.0);
          unit[j] = 1;
          columns.push_back(product_of(system, unit));
        }
        const VectorView blocks_of("blocks", size);
        for (std::size_t c = 0; c < host.contacts(); ++c) {
          for (std::size_t j = 3 * c; j < 3 * c + 3; ++j) {
            std::vector<double> block(size, 0.0), unit(size, 0.0);
            for (std::size_t i = 3 * c; i < 3 * c + 3; ++i) block[i] = columns[j][i];
            unit[j] = 1;
            CHECK(relative_difference(product_of(*system.block_inverse(), block), unit) < 1e-10);
          }
        }
        const double h = 1e-5;
        for (std::size_t j = 0; j < size; ++j) {
          std::vector<double> up = p, down = p;
          up[j] += h;
          down[j] -= h;
          const std::vector<double> high = residual(system, up), low = residual(system, down);
          std::vector<double> difference(size);
          for (std::size_t i = 0; i < size; ++i) {
            difference[i] = (high[i] - low[i]) / (2 * h) + (i == j ? parameters.delta : 0);
          }
          CHECK(relative_difference(columns[j], difference) < 1e-6);
        }
      }
    }
  }
}

TEST_CASE(
    "pqn's merit is the referee's where impulses and velocities are subtracted as in the paper") {
  const ContactProblem host = random_problem({6, 15, true, true, 4});
  const Problem problem(host);
  Referee referee(problem);
  const std::vector<double> gamma = random_vector(3 * host.contacts(), 5);
  const Measures measures = referee.measure(*to_vector(gamma));
  for (const bool coulomb : {true, false}) {
    pqn::Linearisation system(problem);
    pqn::Linearisation::Parameters parameters;
    parameters.coulomb = coulomb;
    parameters.omega = 1e-11;
    system.set_parameters(parameters);
    const VectorView c("c", gamma.size());
    const double merit = system.update(to_view(world_axes(host, gamma)), c);
    const double expected = measures[coulomb ? Measure::coulomb_merit : Measure::merit];
    CHECK(std::abs(merit - expected) < 1e-12 * expected);
  }
}

//      [2 kg] -> 1 m/s      mu = 0.5, N = 1/2, r = (-0.1, 1, 0) m/s. Coulomb: the block stays down,
//   -------------------     gamma_n = 0.2, and friction takes mu gamma_n: gamma = (0.2, -0.1, 0) N
//   s,
//                           u = (0, 0.95, 0). Convex (problems/README.md): lifted.
TEST_CASE("pqn: a sliding block under both laws") {
  const ContactProblem scene = make_scene("sliding-block");
  const Solved coulomb = solve_once(scene, "pqn"), convex = solve_once(scene, "pqn[law=convex]");
  CHECK(coulomb.info.status == Status::converged);
  CHECK(relative_difference(coulomb.gamma, {0.2, -0.1, 0}) < 1e-8);
  CHECK(convex.info.status == Status::converged);
  CHECK(relative_difference(convex.gamma, {0.96, -0.48, 0}) < 1e-8);
}

//   the block on a slope, mu = 0.5 below the 0.75 it takes: r = (-0.08, 0.06, 0), N = 1/2.
//   Coulomb: gamma = (0.16, -0.08, 0), u = (0, 0.02, 0)
TEST_CASE("pqn: beyond the friction angle a block slides along the slope") {
  const Solved coulomb = solve_once(make_scene("slope-beyond-friction-angle"), "pqn");
  CHECK(relative_difference(coulomb.gamma, {0.16, -0.08, 0}) < 1e-8);
}

TEST_CASE("pqn: units and scales leave the iterates alone") {
  // Impulses in other units, and everything faster: the same relative iterates.
  const ContactProblem pile = random_pile(60, 150, 3);
  ContactProblem other = pile;
  for (double& m : other.inverse_mass) m *= 1e-3;
  for (double& r : other.r) r *= 50;
  IterationLimit ten(10), also_ten(10);
  const std::vector<double> first = solve_once(pile, "pqn", ten).gamma;
  std::vector<double> second = solve_once(other, "pqn", also_ten).gamma;
  for (double& g : second) g /= 1e3 * 50;
  CHECK(relative_difference(second, first) < 1e-6);
}

TEST_CASE("pqn on the frozen pile: regularised it converges, without it diverges") {
  const ContactProblem pile = read_problem(resolve_problem("test-problem-1"));
  const Solved solved = solve_until(pile, "pqn", Measure::coulomb_residual, 1e-2);
  INFO(solved.info.counters.outer << " iterations, " << solved.info.counters.krylov << " Krylov");
  CHECK(solved.info.status == Status::stopped_by_observer);
  CHECK(solved.info.counters.outer <= 100);
  CHECK(solved.info.counters.krylov <= 10 * solved.info.counters.outer);

  const Solved wild = solve_once(pile, "pqn[delta=0,max_iterations=120]");
  INFO(wild.info.message << ", merit " << wild.info.own_residual);
  CHECK(to_string(wild.info.status) == "diverged");
  CHECK(wild.info.counters.outer <= 120);
  for (const double value : wild.gamma) REQUIRE(std::isfinite(value));
  CHECK(wild.measures[Measure::coulomb_merit] > 1e-8);
}

TEST_CASE("pqn solves random problems and piles under both laws, in both forms") {
  ContactProblem rotating = random_problem({12, 24, true, true, 31});
  ContactProblem spheres = random_problem({12, 30, false, true, 32});
  make_feasible(rotating, 5);
  make_feasible(spheres, 6);
  for (const ContactProblem& p : {rotating, spheres, random_pile(60, 150, 3)}) {
    for (const ContactProblem& form : {p, assembled_form(p)}) {
      const Solved coulomb = solve_once(form, "pqn"), convex = solve_once(form, "pqn[law=convex]");
      INFO(form.name << ": " << coulomb.info.counters.outer << " and " << convex.info.counters.outer
                     << " iterations");
      CHECK(to_string(coulomb.info.status) == "converged");
      CHECK(coulomb.measures[Measure::coulomb_residual] < 1e-6);
      CHECK(to_string(convex.info.status) == "converged");
      CHECK(convex.measures[Measure::residual] < 1e-6);
    }
  }
}

TEST_CASE("pqn: where it fails Gauss-Seidel goes on, and says so") {
  const ContactProblem pile = random_pile(60, 150, 3);
  const std::string failing = "pqn[delta=0,max_iterations=3";
  const Solved alone = solve_once(pile, failing + "]");
  CHECK(alone.info.counters.outer == 3);
  CHECK(alone.info.message.find("Gauss-Seidel") == std::string::npos);
  const Solved saved = solve_once(pile, failing + ",fallback=gauss_seidel,tolerance=1e-14]");
  INFO(saved.info.message);
  CHECK(saved.info.status == Status::converged);
  CHECK(saved.info.counters.outer > 3);
  CHECK(saved.info.message.find("after 3 steps") != std::string::npos);
  CHECK(saved.info.message.find(std::to_string(saved.info.counters.outer - 3) +
                                " Gauss-Seidel sweeps") != std::string::npos);
  CHECK(saved.measures[Measure::coulomb_residual] < 1e-4);
  // Without a chance its verdict is the method's.
  const Solved lost = solve_once(pile, failing + ",fallback=gauss_seidel,fallback_sweeps=1]");
  CHECK(lost.info.status == alone.info.status);
}
