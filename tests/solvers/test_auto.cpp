// auto: which solver it takes, when it changes to the other, and that it says so.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/auto/trial_observer.hpp"
#include "solvers/auto/work.hpp"
#include "solvers/core/known_aim.hpp"
#include "solvers/core/transfer.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// Ends a solve at a residual, as RefereeStop does, and says so beforehand.
class Aiming : public RefereeStop, public KnownAim {
 public:
  Aiming(const Problem& problem, double residual)
      : RefereeStop(problem, Measure::residual, residual), residual_(residual) {}
  double aim(Law law) const override { return law == Law::convex ? residual_ : 0; }

 private:
  double residual_;
};

Solved solve_to(const ContactProblem& host, const std::string& spec, double residual) {
  const Problem problem(host);
  Aiming observer(problem, residual);
  return solve_once(host, spec, observer);
}

std::string words(const Solved& solved) {
  return to_string(solved.info.status) + ": " + solved.info.message;
}

}  // namespace

TEST_CASE("auto: scenes by hand to a residual of 1e-8, by both laws") {
  for (const HandScene& row : hand_scenes()) {
    const ContactProblem scene = make_scene(row.name);
    if (scene.contacts() == 0) continue;
    for (const Law law : {Law::convex, Law::coulomb}) {
      const SolverSpec spec{"auto", {{"law", to_string(law)}}};
      if (!supports(spec, scene)) continue;
      const Solved solved = solve_once(scene, "auto[law=" + to_string(law) + "]");
      INFO(row.name << ", " << to_string(law) << ", " << words(solved));
      CHECK(solved.info.status == Status::converged);
      const Measure judge = law == Law::convex ? Measure::residual : Measure::coulomb_residual;
      CHECK(solved.measures[judge] <= 1e-8);
    }
  }
}

TEST_CASE("auto: piles of the catalogue to 1e-3 and 1e-8") {
  for (const char* name :
       {"test-problem-1", "column-25#3", "collapsing-pile#2", "elastic-pile#1"}) {
    const ContactProblem pile = read_problem(resolve_problem(name));
    for (const double residual : {1e-3, 1e-8}) {
      const Solved solved = solve_to(pile, "auto", residual);
      INFO(name << ", " << words(solved));
      CHECK(solved.info.status == Status::stopped_by_observer);
      CHECK(solved.measures[Measure::residual] <= residual);
    }
  }
}

TEST_CASE("auto: what was used is in the message, in the timers and in the counters") {
  ContactProblem pile = random_pile(300, 1000, 5);
  make_feasible(pile, 2);
  const Solved second = solve_once(pile, "auto[trial=0]");
  CHECK_THAT(second.info.message, StartsWith("vipm "));
  CHECK(second.info.timers.count("vipm") == 1);
  CHECK(second.info.timers.count("apgd") == 0);
  CHECK(second.gamma == solve_once(pile, "vipm").gamma);

  const Solved first = solve_once(pile, "auto[few=1000,enough=900,patience=1000,tolerance=1e-3]");
  INFO(words(first));
  CHECK_THAT(first.info.message, StartsWith("apgd ") && !ContainsSubstring("vipm"));
  CHECK(first.info.status == Status::converged);
  CHECK(first.info.timers.count("vipm_setup") == 0);
  CHECK(first.info.counters.krylov == 0);
  CHECK(first.info.counters.factorizations == 0);
  CHECK(first.measures[Measure::residual] <= 1e-3);

  // vipm goes on from where apgd is.
  const Solved both = solve_once(pile, "auto[trial=20]");
  INFO(words(both));
  CHECK_THAT(both.info.message, StartsWith("apgd 20 iterations, then vipm "));
  CHECK(both.info.status == Status::converged);
  CHECK(both.info.timers.count("apgd") == 1);
  CHECK(both.info.timers.count("vipm") == 1);
  NullObserver nobody;
  const Solved begun = solve_once(pile, "apgd[max_iterations=20]");
  const Solved ended = solve_once(pile, "vipm", nobody, begun.gamma);
  CHECK(both.gamma == ended.gamma);
  CHECK(both.info.counters.outer == 20 + ended.info.counters.outer);
  CHECK(both.info.counters.krylov == ended.info.counters.krylov);
  CHECK(both.info.counters.factorizations == ended.info.counters.factorizations);
  CHECK(both.info.counters.operator_applies ==
        begun.info.counters.operator_applies + ended.info.counters.operator_applies);
}

TEST_CASE("auto: whether apgd goes on depends on form, number of contacts and accuracy") {
  const ContactProblem few = read_problem(resolve_problem("collapsing-pile#0")),
                       many = read_problem(resolve_problem("test-problem-1"));
  const auto uses = [](const ContactProblem& problem, const char* spec, double residual) {
    return solve_to(problem, spec, residual).info.message;
  };
  CHECK_THAT(uses(few, "auto", 1e-3), !ContainsSubstring("vipm"));
  CHECK_THAT(uses(few, "auto", 1e-6), StartsWith("apgd 24 iterations, then vipm"));
  CHECK_THAT(uses(assembled_form(few), "auto", 1e-6), !ContainsSubstring("vipm"));
  CHECK_THAT(uses(many, "auto", 1e-2), !ContainsSubstring("vipm"));
  CHECK_THAT(uses(many, "auto", 1e-3), StartsWith("apgd 24 iterations, then vipm"));
  CHECK_THAT(uses(few, "auto[few=10]", 1e-3), StartsWith("apgd 24 iterations, then vipm"));
}

TEST_CASE("auto: equal problems take equal paths") {
  const ContactProblem pile = read_problem(resolve_problem("test-problem-1"));
  for (const double residual : {1e-3, 1e-6}) {
    const Solved once = solve_to(pile, "auto", residual), again = solve_to(pile, "auto", residual);
    CHECK(once.gamma == again.gamma);
    CHECK(once.info.message == again.info.message);
    CHECK(once.info.counters.outer == again.info.counters.outer);
    CHECK(once.info.counters.operator_applies == again.info.counters.operator_applies);
  }
}

TEST_CASE("auto: the expected work grows with the problem, and more for the second") {
  const ContactProblem small = random_pile(60, 200, 1), large = random_pile(600, 2000, 1);
  const Problem a(small), b(large);
  CHECK(expected_work(a, 1e-6).iteration < expected_work(b, 1e-6).iteration);
  CHECK(expected_work(a, 1e-6).worth() < expected_work(b, 1e-6).worth());
  CHECK(expected_work(a, 1e-3).worth() < expected_work(a, 1e-6).worth());
  CHECK(expected_work(a, 0).worth() == expected_work(a, 1e-8).worth());
}

namespace {

/// The trial of a method whose residual is exp(-rate k): for how many iterations it goes on.
long iterations_of(double rate, const TrialObserver::Plan& plan) {
  //      [2 kg]       r = (-0.1, 1, 0) m/s, N = 1/2: gamma = (0.96, -0.48, 0) N s
  //   -----------
  const ContactProblem scene = make_scene("sliding-block");
  const Problem problem(scene);
  NullObserver nobody;
  TrialObserver watch(problem, Law::convex, plan, nobody);
  Counters counters;
  const auto write = [&](Vector& out) {
    const double wrong = std::exp(-rate * static_cast<double>(counters.outer));
    upload_to(overwrite_view(out), std::vector<double>{0.96 * (1 - wrong), -0.48 * (1 - wrong), 0});
  };
  while (!watch.observe({counters, 0}, write)) ++counters.outer;
  return counters.outer;
}

}  // namespace

TEST_CASE("auto: apgd goes on while it promises to arrive within what vipm is worth") {
  TrialObserver::Plan plan;
  plan.aim = plan.tolerance = 1e-6;
  plan.trial = 20;
  plan.worth = 200;
  // 13.8 = 0.12 k: at a rate of 0.12 it arrives after some 115 iterations, and a look finds it.
  const long to_the_end = iterations_of(0.12, plan);
  CHECK(to_the_end >= 100);
  CHECK(to_the_end <= 200);
  plan.worth = 50;  // ... which are more than 1.5 times as many, and 80 are left at 30
  CHECK(iterations_of(0.12, plan) == 30);
  plan.aim = 1e-1;  // what is asked for is there: it goes on to the tolerance
  CHECK(iterations_of(0.12, plan) == to_the_end);
  plan.aim = 1e-6;
  plan.worth = 200;
  plan.enough = 1e-3;  // after the trial it has about a tenth
  CHECK(iterations_of(0.12, plan) == 20);
  plan.enough = 10;
  CHECK(iterations_of(0, plan) == 68);  // the first look beyond 0.3 of 200 finds nothing gained
  plan.patience = 0.3;
  CHECK(iterations_of(0.05, plan) == 60);
}

TEST_CASE("auto: starts from a guess, and is done at once where that will do") {
  const ContactProblem pile = random_pile(60, 150, 3);
  const Solved cold = solve_once(pile, "auto");
  REQUIRE(cold.info.status == Status::converged);
  NullObserver nobody;
  const Solved warm = solve_once(pile, "auto[tolerance=1e-8]", nobody, cold.gamma);
  CHECK(warm.info.status == Status::converged);
  CHECK(warm.info.counters.outer == 0);
  CHECK(warm.gamma == cold.gamma);
}

TEST_CASE("auto: inside of coulomb") {
  const Solved solved =
      solve_once(make_scene("stack"), "coulomb[inner=auto,iteration=anderson,tolerance=1e-7]");
  INFO(words(solved));
  CHECK(solved.measures[Measure::coulomb_residual] <= 1.001e-7);
}

TEST_CASE("auto: what it refuses") {
  const auto refusal = [](const char* spec) {
    return error_of([&] { make_solver(SolverSpec::parse(spec)); });
  };
  check_parts(refusal("auto[law=convx]"), {"solver auto: law", "found convx"});
  check_parts(refusal("auto[trial=-1]"), {"solver auto: option trial", "found '-1'"});
  check_parts(refusal("coulomb[inner=auto[law=coulomb]]"), {"option inner", "itself"});
  ContactProblem rolling;
  rolling.rolling.contact = {0};
  CHECK(why_unsupported(SolverSpec::parse("auto"), rolling).empty());
  CHECK(why_unsupported(SolverSpec::parse("auto[law=coulomb]"), rolling) ==
        "coulomb does not take problems with rolling resistance (/rolling)");
  CHECK(why_unsupported_on_ranks({"auto", {}}) ==
        "auto does not run on several ranks; pgj, pgs, apgd, bb, ipm, vipm do");
}
