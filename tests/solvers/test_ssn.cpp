// The semismooth Newton method: a scene by hand, and what it needs on a frozen pile, cold and warm.
#include <catch2/catch_test_macros.hpp>

#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

//      [2 kg] -> 1 m/s      mu = 0.5; by hand (problems/README.md): gamma = (0.96, -0.48, 0) N s
//   -------------------
TEST_CASE("ssn: sliding block") {
  const Solved solved = solve_once(make_scene("sliding-block"), "ssn");
  CHECK(solved.info.status == Status::converged);
  CHECK(relative_difference(solved.gamma, {0.96, -0.48, 0}) < 1e-9);
}

TEST_CASE("ssn does not take a problem without bodies") {
  const Solved solved = solve_once(make_scene("assembled-stack"), "ssn");
  CHECK(solved.info.status == Status::unsupported);
  CHECK(solved.info.message.find("masses") != std::string::npos);
}

TEST_CASE("ssn needs some digits fewer Newton steps when it starts near the solution") {
  const ContactProblem pile = read_problem(resolve_problem("test-problem-1"));
  const std::string spec = "ssn[linear_solver=cholesky]";
  const Solved cold = solve_until(pile, spec, Measure::residual, 1e-6);
  INFO(cold.info.counters.outer << " Newton steps cold");
  CHECK(cold.info.status == Status::stopped_by_observer);
  CHECK(cold.measures[Measure::primal] < 1e-12);

  REQUIRE(pile.reference);
  std::vector<double> guess = pile.reference->gamma;
  for (double& g : guess) g *= 0.999;
  const Solved warm = solve_until(pile, spec, Measure::residual, 1e-6, guess);
  INFO(warm.info.counters.outer << " Newton steps from 0.999 of the reference");
  CHECK(warm.info.status == Status::stopped_by_observer);
  CHECK(warm.info.counters.outer < cold.info.counters.outer / 2);
}
