// Many small problems at once: the same answers as one by one, judged by the referee.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "harness/run/batch.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/batch/methods.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

/// What a batch makes of problems.
struct Answers {
  std::vector<Info> infos;
  std::vector<std::vector<double>> gammas;  ///< contact axes
};

Answers solve_batch(const std::vector<ContactProblem>& problems, const std::string& spec,
                    const BatchStop& stop) {
  std::vector<const ContactProblem*> hosts;
  for (const ContactProblem& problem : problems) hosts.push_back(&problem);
  const Batch batch(hosts);
  const auto solver = make_batch_solver(SolverSpec::parse(spec));
  solver->setup(batch);
  const VectorView gamma("ccp::test::gamma", 3 * batch.host().contacts());
  Answers answers;
  answers.infos = solver->solve(stop, gamma);
  const std::vector<double> all = to_host(ConstVectorView(gamma));
  for (int k = 0; k < batch.size(); ++k) {
    answers.gammas.emplace_back(all.begin() + 3 * batch.contact_offsets()[k],
                                all.begin() + 3 * batch.contact_offsets()[k + 1]);
  }
  return answers;
}

BatchStop to_residual(double residual) {
  BatchStop stop;
  stop.residual = residual;
  return stop;
}

double residual_of(const ContactProblem& host, const std::vector<double>& gamma, Law law) {
  const Problem problem(host);
  return Referee(problem).measure(
      *to_vector(gamma))[law == Law::coulomb ? Measure::coulomb_residual : Measure::residual];
}

std::vector<ContactProblem> piles() {
  std::vector<ContactProblem> problems;
  for (unsigned seed = 1; seed <= 6; ++seed) problems.push_back(random_pile(18, 40, seed));
  return problems;
}

/// Rotating bodies with full inertias; feasible.
std::vector<ContactProblem> rotating() {
  std::vector<ContactProblem> problems;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    problems.push_back(random_problem({6, 12, true, true, seed}));
    make_feasible(problems.back(), seed);
  }
  return problems;
}

void check_residuals(const std::vector<ContactProblem>& problems, const std::string& spec,
                     double residual, Law law = Law::convex) {
  const Answers answers = solve_batch(problems, spec, to_residual(residual));
  for (std::size_t k = 0; k < problems.size(); ++k) {
    INFO(spec << ", problem " << k << ", " << to_string(answers.infos[k].status) << " after "
              << answers.infos[k].counters.outer);
    CHECK(answers.infos[k].status == Status::stopped_by_observer);
    CHECK(residual_of(problems[k], answers.gammas[k], law) <= residual);
  }
}

}  // namespace

TEST_CASE(
    "a batch solves piles, rotating, compliant and assembled problems to the referee's residual") {
  std::vector<ContactProblem> compliant, assembled;
  for (const ContactProblem& problem : rotating()) {
    compliant.push_back(compliant_form(problem, 3));
    assembled.push_back(assembled_form(problem));
  }
  for (const char* const spec : {"pgs", "apgd", "vipm"}) {
    check_residuals(piles(), spec, 1e-7);
    check_residuals(rotating(), spec, 1e-6);
    check_residuals(compliant, spec, 1e-6);
    if (std::string(spec) != "vipm") check_residuals(assembled, spec, 1e-6);
  }
  check_residuals(piles(), "pgs[law=coulomb]", 1e-6, Law::coulomb);
  check_residuals(piles(), "vipm", 1e-10);
}

TEST_CASE("problems of all kinds in one batch do not touch each other") {
  std::vector<ContactProblem> mixed = piles();
  for (const ContactProblem& problem : rotating()) mixed.push_back(problem);
  for (const char* const scene :
       {"stack", "sliding-block", "zero-contacts", "separating-spheres"}) {
    mixed.push_back(make_scene(scene));
  }
  mixed.push_back(compliant_form(rotating().front(), 9));
  for (const char* const spec : {"pgs", "apgd", "vipm"}) {
    INFO(spec);
    const Answers together = solve_batch(mixed, spec, to_residual(1e-6));
    for (std::size_t k = 0; k < mixed.size(); ++k) {
      INFO("problem " << k);
      CHECK(together.infos[k].status == Status::stopped_by_observer);
      CHECK(residual_of(mixed[k], together.gammas[k], Law::convex) <= 1e-6);
    }
    // Others of the same kind: every bit stays.
    const std::vector<ContactProblem> few = {mixed[6], mixed[7], mixed.back()};
    const Answers alone = solve_batch(few, spec, to_residual(1e-6));
    for (const std::size_t k : {0, 1}) {
      CHECK(alone.gammas[k] == together.gammas[6 + k]);
      CHECK(alone.infos[k].counters.outer == together.infos[6 + k].counters.outer);
    }
  }
}

TEST_CASE("pgs in a batch takes the sweeps of pgs, apgd the steps of apgd") {
  // Later, rounding may decide whether apgd restarts.
  const auto iterations_of = [](const std::string& text) {
    return text.rfind("apgd", 0) == 0 ? 8 : 30;
  };
  for (const auto& problems : {piles(), rotating()}) {
    for (const char* const text : {"pgs", "pgs[law=coulomb]", "pgs[omega=0.8]", "pgs[local=step]",
                                   "apgd", "apgd[shrink=1]"}) {
      INFO(text);
      const int iterations = iterations_of(text);
      BatchStop stop = to_residual(1e-30);
      stop.iteration_limit = iterations;
      const Answers answers = solve_batch(problems, text, stop);
      SolverSpec spec = SolverSpec::parse(text);
      spec.options.emplace_back("tolerance", "0");
      for (std::size_t k = 0; k < problems.size(); ++k) {
        IterationLimit limit(iterations);
        const Solved alone = solve_once(problems[k], spec.text(), limit);
        CHECK(answers.infos[k].status == Status::max_iterations);
        CHECK(answers.infos[k].counters.outer == alone.info.counters.outer);
        CHECK(answers.infos[k].counters.operator_applies == alone.info.counters.operator_applies);
        CHECK(relative_difference(answers.gammas[k], alone.gamma) <= 1e-10);
      }
    }
  }
}

TEST_CASE("vipm in a batch converges like vipm with Cholesky") {
  std::vector<ContactProblem> problems = piles();
  for (std::size_t k = 0; k < problems.size(); ++k) make_feasible(problems[k], k + 1);
  const Answers answers = solve_batch(problems, "vipm", to_residual(1e-8));
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const Solved alone =
        solve_until(problems[k], "vipm[linear_solver=cholesky]", Measure::residual, 1e-8);
    CHECK(std::abs(answers.infos[k].counters.outer - alone.info.counters.outer) <= 1);
  }
}

TEST_CASE("a batch ends problems at their limit, and when time is up") {
  BatchStop stop = to_residual(1e-30);
  stop.out_of_time = [] { return true; };
  for (const Info& info : solve_batch(piles(), "pgs", stop).infos) {
    CHECK(info.status == Status::running);
    CHECK(info.counters.outer > 0);
  }
  stop.iteration_limit = 7;
  for (const char* const spec : {"pgs", "apgd", "vipm"}) {
    for (const Info& info : solve_batch(piles(), spec, stop).infos) {
      CHECK(info.status == Status::max_iterations);
      CHECK(info.counters.outer == 7);
    }
  }
}

TEST_CASE("a batch refuses what it cannot do, naming the problem") {
  ContactProblem large = random_pile(100, 201, 1);
  large.name = "large-one";
  const ContactProblem small = make_scene("stack");
  check_parts(error_of([&] {
                solve_batch({small, large}, "pgs", to_residual(1e-6));
              }),
              {"large-one", "201 contacts", "at most 200"});
  ContactProblem rolling = small;
  rolling.name = "rolling-one";
  rolling.rolling.contact = {0};
  rolling.rolling.rho = {0.1};
  rolling.rolling.r = {0, 0, 0};
  check_parts(error_of([&] { solve_batch({rolling}, "pgs", to_residual(1e-6)); }),
              {"rolling-one", "rolling resistance"});
  check_parts(error_of([&] {
                solve_batch({small, make_scene("assembled-stack")}, "pgs", to_residual(1e-6));
              }),
              {"assembled", "bodies form"});
  check_parts(
      error_of([&] { solve_batch({make_scene("assembled-stack")}, "vipm", to_residual(1e-6)); }),
      {"only N is known"});
  check_parts(error_of([] { make_batch_solver({"ipm", {}}); }), {"pgs, apgd, vipm", "ipm"});
  check_parts(error_of([] { make_batch_solver({"pgs", {{"sweep", "colored"}}}); }), {"sweep"});
}

TEST_CASE("rows of a batch are those of solve, judged by the referee") {
  std::vector<BatchProblem> problems;
  for (ContactProblem& problem : piles()) problems.push_back({"pile", std::move(problem)});
  problems.push_back({"assembled", make_scene("assembled-stack")});
  RunRequest request;
  request.solver = SolverSpec::parse("pgs");
  request.recorder.stop = {{Measure::residual, 1e-6}};
  request.keep_gamma = true;
  const BatchResult batch = run_batch(problems, request, "");
  REQUIRE(batch.rows.size() == problems.size());
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const RunResult& row = batch.rows[k];
    CHECK(row.instance == problems[k].problem.name);
    CHECK(row.stop_reached);
    CHECK(row.final_measures[Measure::residual] ==
          residual_of(problems[k].problem, row.gamma, Law::convex));
    CHECK(batch.requests[k].batch == static_cast<int>(problems.size()));
  }
  request.recorder.stop = {{Measure::error, 1e-3}};
  check_parts(error_of([&] { run_batch(problems, request, ""); }), {"--stop", "residual"});
}
