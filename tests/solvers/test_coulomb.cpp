// Coulomb's law through a solver of the convex one: impulses by hand, every kind of iteration,
// every inner solver, and a frozen pile.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

#include "harness/simulation/step_solver.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "problems/scenes/pile.hpp"
#include "solvers/coulomb/anderson.hpp"
#include "solvers/coulomb/sweep_observer.hpp"
#include "tests/hard_problems.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Every kind of iteration, and inner solvers with options of their own.
const char* const kinds[] = {
    "coulomb",
    "coulomb[inner=vipm[linear_solver=cholesky,refinements=2],iteration=newton]",
    "coulomb[iteration=anderson]",
    "coulomb[iteration=plain,inner=vipm]",
    "coulomb[inner=apgd]",
    "coulomb[inner=pgs[law=convex],memory=5]",
};

void check_impulses(const ContactProblem& problem, const std::vector<double>& expected,
                    double accuracy = 1e-7) {
  for (const char* const spec : kinds) {
    const Solved solved = solve_once(problem, spec);
    INFO(spec << " on " << problem.name << ": " << to_string(solved.info.status) << " "
              << solved.info.message << ", own " << solved.info.own_residual);
    CHECK(solved.info.status == Status::converged);
    CHECK(relative_difference(solved.gamma, expected) < accuracy);
    CHECK(solved.measures[Measure::coulomb_residual] <= 1.001e-9);
  }
}

}  // namespace

//      [2 kg] -> 1 m/s      mu = 0.5, N = 1/2, r = (-0.1, 1, 0) m/s. The block stays down, so that
//   -------------------     gamma_n = 0.2 and friction is mu times that; the convex law lifts it.
TEST_CASE("coulomb: sliding block") {
  check_impulses(make_scene("sliding-block"), {0.2, -0.1, 0});
}

// On a slope, r = (-0.08, 0.06, 0): at mu = 0.75 it just holds, u = 0; at mu = 0.5 it slides with
// gamma_n = 0.16, u_t = 0.06 - 0.04 = 0.02.
TEST_CASE("coulomb: slope at and beyond the friction angle") {
  // Between holding and sliding, gamma is as good as the root of the residual.
  check_impulses(make_scene("slope-at-friction-angle"), {0.16, -0.12, 0}, 1e-4);
  check_impulses(make_scene("slope-beyond-friction-angle"), {0.16, -0.08, 0});
}

// N couples normal and tangent, as at the end of a rod.
//   slides  N = (2 1; 1 2), r = (-1, 2), mu = 1/2: u_n = (2 - 1/2) gamma_n - 1 = 0, gamma_n = 2/3,
//           u_t = 2/3 - 2/3 + 2 > 0
//   jams    N = (1 1.9; 1.9 4), mu = 0.6: sliding forwards, gamma_n would press itself in, for 1 -
//           0.6 * 1.9 < 0 (Painleve). With r = (-0.1, 0.2) it stops: N gamma = -r at (2, -1), and
//           1 < 0.6 * 2.
TEST_CASE("coulomb: a rod that slides, and one that jams") {
  check_impulses(dense_problem("slides", {2, 1, 0, 1, 2, 0, 0, 0, 2}, {-1, 2, 0}, {0.5}),
                 {2.0 / 3, -1.0 / 3, 0});
  check_impulses(dense_problem("jams", {1, 1.9, 0, 1.9, 4, 0, 0, 0, 1}, {-0.1, 0.2, 0}, {0.6}),
                 {2, -1, 0});
}

// The sliding block, N = 1/2: with s for its shift the convex impulse is P(-2 (r + s n)).
//   cold   s = mu |r_t| = 0.5:  P(-0.8, -2) = (0.16, -0.08)
//   from the answer, u_t = 0.95, s = 0.475:  P(-0.75, -2) = (0.2, -0.1)
TEST_CASE("coulomb: one lagged pass from nothing and from the answer") {
  const ContactProblem scene = make_scene("sliding-block");
  NullObserver nobody;
  const std::string spec = "coulomb[iteration=lagged,inner_accuracy=1e-8]";
  const Solved cold = solve_once(scene, spec, nobody);
  CHECK(cold.info.status == Status::max_iterations);
  CHECK(cold.info.counters.outer == 1);
  CHECK(relative_difference(cold.gamma, {0.16, -0.08, 0}) < 1e-7);
  const Solved warm = solve_once(scene, spec, nobody, {0.2, -0.1, 0});
  CHECK(warm.info.counters.outer <= 1);
  CHECK(relative_difference(warm.gamma, {0.2, -0.1, 0}) < 1e-9);
}

// A solve takes r as it stands when it begins: each of these read it once, in setup, before.
TEST_CASE("coulomb: through every solver of the convex law") {
  ContactProblem pile = random_pile(20, 40, 7);
  make_feasible(pile, 2);
  const Solved expected = solve_once(pile, "coulomb");
  REQUIRE(expected.info.status == Status::converged);
  for (const char* inner : {"pgj[omega=0.3]", "pgs", "apgd", "bb", "admm", "pqn[law=convex]", "ssn",
                            "vipm", "ipm[krylov=cholmod,units=problem,start=100]"}) {
    const std::string spec =
        std::string("coulomb[iteration=anderson,tolerance=1e-6,inner=") + inner + "]";
    const Solved solved = solve_once(pile, spec);
    INFO(spec << ": " << to_string(solved.info.status) << " " << solved.info.message << ", own "
              << solved.info.own_residual);
    CHECK(solved.measures[Measure::coulomb_residual] <= 1.001e-6);
    CHECK(solved.info.counters.outer > 1);
  }
}

TEST_CASE("coulomb: random problems in every form that the inner solver takes") {
  for (const bool rotates : {false, true}) {
    ContactProblem random = random_problem({12, 24, rotates, true, 41});
    make_feasible(random, 5);
    for (const ContactProblem& p : {random, compliant_form(random, 2)}) {
      for (const ContactProblem& form : {p, assembled_form(p)}) {
        if (!supports(SolverSpec::parse("coulomb"), form)) continue;
        const Solved solved = solve_once(form, "coulomb");
        INFO(form.name << ": " << to_string(solved.info.status) << " " << solved.info.message
                       << ", own " << solved.info.own_residual << ", " << solved.info.counters.outer
                       << " outer");
        CHECK(solved.info.status == Status::converged);
        CHECK(solved.measures[Measure::coulomb_residual] <= 1.001e-9);
      }
    }
  }
}

// pgs needs 204,000 sweeps here; the fixed point repeated as it is cycles at 2.5e-2.
TEST_CASE("coulomb: newton on a pile of 8,378 contacts") {
  const ContactProblem pile = read_problem(resolve_problem("test-problem-1"));
  const Solved solved = solve_once(pile, "coulomb");
  INFO(to_string(solved.info.status)
       << " " << solved.info.message << ", own " << solved.info.own_residual);
  CHECK(solved.info.status == Status::converged);
  CHECK(solved.measures[Measure::coulomb_residual] <= 1e-8);
  CHECK(solved.info.counters.outer <= 80);
}

// Newton whose linear systems are hardly solved gives up; sweeps and the fixed point go on from it.
TEST_CASE("coulomb: what newton leaves is swept and solved by the fixed point") {
  PileOptions options;
  options.spheres = 100;
  RegisteredStepSolver settles("pgj[omega=0.2]");
  const ContactProblem pile = generate_pile(options, settles);
  const std::string start = "coulomb[krylov_tolerance=0.99,";
  const Solved solved = solve_once(pile, start + "sweep_to=1e-6]");
  INFO(to_string(solved.info.status)
       << " " << solved.info.message << ", own " << solved.info.own_residual);
  CHECK(solved.info.status == Status::converged);
  CHECK(solved.measures[Measure::coulomb_residual] <= 1.001e-9);
  CHECK_THAT(solved.info.message, ContainsSubstring("newton gained nothing") &&
                                      ContainsSubstring("sweeps") &&
                                      ContainsSubstring("inner solves"));
  // At a limit in the middle of it the best impulses are handed back.
  const Solved cut = solve_once(pile, start + "max_outer=12]");
  CHECK(cut.info.own_residual < 1);
  CHECK(std::abs(cut.measures[Measure::coulomb_residual] - cut.info.own_residual) <=
        1e-9 * cut.info.own_residual);
}

// A simulation solves step after step with one solver. The second problem is the first with twice
// the free velocities, so that whatever were kept of the first fits it, and impulses are twice.
TEST_CASE("coulomb: a solver that has swept sweeps the next problem") {
  PileOptions options;
  options.spheres = 100;
  RegisteredStepSolver settles("pgj[omega=0.2]");
  const ContactProblem first = generate_pile(options, settles);
  ContactProblem second = first;
  for (double& r : second.r) r *= 2;
  const std::string spec = "coulomb[krylov_tolerance=0.99,sweep_to=1e-6]";
  const Solved fresh = solve_once(second, spec);
  REQUIRE_THAT(fresh.info.message, ContainsSubstring("sweeps"));
  const auto solver = make_solver(SolverSpec::parse(spec));
  NullObserver nobody;
  const Problem one(first), other(second);
  Vector gamma(one.map(), 1);
  solver->setup(one);
  REQUIRE_THAT(solver->solve(gamma, nobody).message, ContainsSubstring("sweeps"));
  Kokkos::deep_copy(overwrite_view(gamma), 0.0);
  solver->setup(other);
  const Info info = solver->solve(gamma, nobody);
  CHECK(info.counters.outer == fresh.info.counters.outer);
  CHECK(to_host(gamma) == fresh.gamma);
}

// Gauss-Seidel on a pile falls ever more slowly (204,000 sweeps to 1e-8), on a block it is done at
// once.
TEST_CASE("coulomb: sweeps that gain little leave the rest to the fixed point") {
  for (const auto& [name, slow] : {std::pair("test-problem-1", true), {"sliding-block", false}}) {
    const ContactProblem host = read_problem(resolve_problem(name));
    const Problem problem(host);
    const auto pgs = make_solver(SolverSpec::parse("pgs[law=coulomb,tolerance=0]"));
    pgs->setup(problem);
    NullObserver nobody;
    SweepObserver watch(problem, 1e-9, 1000000, 4000, {}, nobody);
    Vector gamma(problem.map(), 1);
    const Info info = pgs->solve(gamma, watch);
    INFO(name << ": " << info.counters.outer << " sweeps, own " << watch.residual());
    CHECK(watch.slow() == slow);
    CHECK(watch.reached() == !slow);
    CHECK(info.counters.outer % (slow ? 4000 : 1) == 0);
    CHECK(info.counters.outer <= 32000);
  }
}

// s = A s + b, A = diag(0.9, -0.9, 0.5): plainly 0.9 a step; as many differences as unknowns solve
// it.
TEST_CASE("coulomb: Anderson acceleration solves a linear fixed point in n + 1 steps") {
  const auto iterate = [](int memory, int steps) {
    const VectorView s("s", 3), f("f", 3);
    Anderson anderson(3, memory);
    const double a[3] = {0.9, -0.9, 0.5}, b[3] = {1, 2, 3};
    for (int k = 0; k < steps; ++k) {
      for (int i = 0; i < 3; ++i) f(i) = a[i] * s(i) + b[i] - s(i);
      anderson.step(s, f);
    }
    double wrong = 0;
    for (int i = 0; i < 3; ++i) wrong = std::max(wrong, std::abs(s(i) - b[i] / (1 - a[i])));
    return wrong;
  };
  CHECK(iterate(3, 4) < 1e-10);
  CHECK(iterate(0, 5) > 1);
}

TEST_CASE("coulomb: what it refuses") {
  const auto refusal = [](const char* spec) {
    return error_of([&] { make_solver(SolverSpec::parse(spec)); });
  };
  check_parts(refusal("coulomb[inner=pgs[law=coulomb]]"), {"option inner", "convex", "itself"});
  check_parts(refusal("coulomb[inner=coulomb]"), {"option inner", "convex"});
  check_parts(refusal("coulomb[inner=lcp[law=convex]]"), {"option inner", "its cones"});
  check_parts(refusal("coulomb[inner=vipn]"), {"unknown solver 'vipn'", "vipm"});
  check_parts(refusal("coulomb[inner=vipm[forcinng=1]]"), {"forcing"});
  check_parts(refusal("coulomb[inner=vipm[tolerance=1e-3]]"), {"option inner", "tolerance"});
  check_parts(refusal("coulomb[inner=apgd,iteration=newton]"), {"option iteration", "newton"});
  check_parts(refusal("coulomb[memory=3]"), {"option memory", "anderson"});
  check_parts(refusal("coulomb[iteration=newton,sweep_to=0.1]"), {"option sweep_to", "auto"});
  const ContactProblem compliant = compliant_form(random_problem({4, 6, false, true, 1}), 2);
  CHECK(supports(SolverSpec::parse("coulomb"), compliant));
  CHECK(supports(SolverSpec::parse("coulomb[inner=admm]"), compliant));
}
