// The recorder: what it looks at, when it ends a solve, and that looking costs the solver nothing.
#include "harness/measure/recorder.hpp"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cmath>
#include <thread>

#include "solvers/registry.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

void wait(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A solver with a known curve: gamma = the number of the iteration, every iteration takes `pause`.
struct FakeSolver {
  long iterations = 100;
  double pause = 0;
  std::function<double(long)> own_residual = [](long) { return std::nan(""); };
  Status status = Status::converged;
  long preferred = -1;  ///< the iterate that it hands back; -1: the last one
  bool deaf = false;    ///< goes on whatever the observer says
  double writing = 0;   ///< s that write_gamma takes

  double worked = 0;  ///< out: s it really took
  Info solve(Vector& gamma, Observer& observer) {
    Info info;
    const auto write_gamma = [&](Vector& out) {
      if (writing > 0) wait(writing);
      out.putScalar(static_cast<double>(info.counters.outer));
    };
    const auto finish = [&](Status end) {
      write_gamma(gamma);
      if (preferred >= 0) gamma.putScalar(static_cast<double>(preferred));
      info.status = end;
      return info;
    };
    while (true) {
      info.own_residual = own_residual(info.counters.outer);
      if (observer.observe({info.counters, info.own_residual}, write_gamma) && !deaf) {
        return finish(Status::stopped_by_observer);
      }
      if (info.counters.outer >= iterations) return finish(status);
      const double before = now();
      if (pause > 0) wait(pause);
      worked += now() - before;
      ++info.counters.outer;
      info.counters.krylov += 2;
    }
  }
};

/// Measures every iterate k as `curve(k)`, whatever the measure.
class FakeJudge {
 public:
  explicit FakeJudge(std::function<double(double)> curve) : curve_(std::move(curve)) {}
  Measures operator()(const Vector& gamma) const { return Measures(curve_(to_host(gamma)[0])); }

 private:
  std::function<double(double)> curve_;
};

/// Options under which every iteration is looked at.
RecorderOptions every_iteration() {
  RecorderOptions options;
  options.growth = options.fine_growth = 1;
  options.free_iterations = 1000000;
  return options;
}

struct Run {
  Info info;
  double solve_seconds = 0;
};

Run run(FakeSolver& solver, Recorder& recorder, const Teuchos::RCP<const Map>& map) {
  Vector gamma(map, 1);
  recorder.start();
  const Info info = solver.solve(gamma, recorder);
  recorder.finish(info, gamma);
  return {info, solver.worked};
}

}  // namespace

TEST_CASE("a slow judge does not show in the time of the solve") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 40;
  solver.pause = 0.005;
  int looks = 0;
  Recorder recorder(map, RecorderOptions{}, [&](const Vector&) {
    ++looks;
    wait(0.05);
    Measures m;
    m[Measure::residual] = 1;
    return m;
  });
  const double begin = now();
  const Run done = run(solver, recorder, map);
  const double whole = now() - begin;
  CHECK(looks >= 5);
  CHECK(whole >= 0.05 * looks + done.solve_seconds);
  CHECK(recorder.elapsed() >= 0.99 * done.solve_seconds);
  CHECK(recorder.elapsed() <= done.solve_seconds + 0.04);  // not even one look shows
  CHECK(recorder.excluded() >= 0.05 * (looks - 1));
  CHECK(recorder.elapsed() + recorder.excluded() <= whole);
  // The times of the looks are solve times, too.
  for (const Sample& sample : recorder.samples()) CHECK(sample.time <= recorder.elapsed());
  CHECK(recorder.samples().back().time >= 0.95 * done.solve_seconds);
}

TEST_CASE("looking stays within its budget on a long run") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 400;
  solver.pause = 0.001;
  // The own residual falls all the time: there is always a reason to look.
  solver.own_residual = [](long k) { return std::pow(0.3, static_cast<double>(k)); };
  RecorderOptions options;
  options.free_iterations = 5;
  constexpr double look = 0.01;
  double longest = 0;  // of a look: on a busy machine much more than that
  int looks = 0;
  Recorder recorder(map, options, [&](const Vector&) {
    ++looks;
    const double start = now();
    wait(look);
    longest = std::max(longest, now() - start);
    Measures m;
    m[Measure::residual] = 1;
    return m;
  });
  const Run done = run(solver, recorder, map);
  CHECK(done.info.status == Status::converged);
  constexpr int start_and_answer = 2;
  CHECK(looks > options.free_iterations + start_and_answer);
  CHECK(recorder.excluded() <=
        options.budget * recorder.elapsed() +
            static_cast<double>(options.free_iterations + start_and_answer) * 2 * longest);
}

TEST_CASE("the first hundred iterations are seen however cheap they are beside a look") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 150;
  RecorderOptions options;
  options.targets = {{Measure::residual, 0.5}};
  const auto judge = [](const Vector& gamma) {
    wait(0.005);
    return Measures(to_host(gamma)[0] >= 14 ? 0.4 : 100);
  };
  Recorder recorder(map, options, judge);
  run(solver, recorder, map);
  const auto& reached = recorder.targets().at(0).reached;
  REQUIRE(reached);
  CHECK(reached->counters.outer >= 14);
  CHECK(reached->counters.outer <= 14 * options.growth);
  const std::vector<Sample>& samples = recorder.samples();
  for (std::size_t k = 1; k < samples.size() && samples[k].counters.outer <= 100; ++k) {
    CAPTURE(samples[k].counters.outer);
    CHECK(static_cast<double>(samples[k].counters.outer - 1) <=
          options.growth * static_cast<double>(samples[k - 1].counters.outer));
  }
}

TEST_CASE("looks come when iterations grow by the factor") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 2000;
  RecorderOptions options;
  options.budget = 1e9;
  options.stop.clear();
  options.growth = 1.5;
  Recorder recorder(map, options, FakeJudge([](double) { return 1.0; }));
  run(solver, recorder, map);
  const auto& samples = recorder.samples();
  REQUIRE(samples.size() >= 15);
  CHECK(samples.front().counters.outer == 0);
  CHECK(samples.back().counters.outer == 2000);
  for (std::size_t i = 1; i < samples.size(); ++i) {
    CHECK(samples[i].counters.outer > samples[i - 1].counters.outer);
    CHECK(static_cast<double>(samples[i].counters.outer) <=
          1.5 * static_cast<double>(samples[i - 1].counters.outer) + 1);
    CHECK(samples[i].time >= samples[i - 1].time);
    CHECK(samples[i].counters.krylov == 2 * samples[i].counters.outer);
  }
}

TEST_CASE("a look comes when the solver's own residual falls by half a decade") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 60;
  solver.own_residual = [](long k) { return k < 50 ? 1.0 : 1e-3; };
  RecorderOptions options;
  options.growth = options.fine_growth = 1e9;
  options.budget = 1e9;
  options.stop.clear();
  Recorder recorder(map, options, FakeJudge([](double) { return 1.0; }));
  run(solver, recorder, map);
  bool seen = false;
  for (const Sample& sample : recorder.samples()) {
    seen = seen || (sample.counters.outer == 50 && sample.own_residual == 1e-3);
  }
  CHECK(seen);
}

TEST_CASE("the stop target ends the solve at the look that reaches it") {
  const auto map = make_map(3);
  FakeSolver solver;
  RecorderOptions options = every_iteration();
  options.stop = {{Measure::residual, 1e-5}};
  Recorder recorder(map, options, FakeJudge([](double k) { return std::pow(10, -k); }));
  const Run done = run(solver, recorder, map);
  CHECK(done.info.status == Status::stopped_by_observer);
  CHECK(done.info.counters.outer == 5);
  CHECK(recorder.stop_reached());
  CHECK_FALSE(recorder.limit_passed());
  CHECK(recorder.samples().size() == 6);  // the last look is not taken twice
  CHECK(recorder.best()[Measure::residual] == Approx(1e-5));
}

TEST_CASE("several stops end the solve at the look that reaches all of them") {
  const auto map = make_map(3);
  FakeSolver solver;
  RecorderOptions options = every_iteration();
  options.stop = {{Measure::residual, 1e-3}, {Measure::energy, 1e-2}, {Measure::error, 0.3}};
  Recorder recorder(map, options, [](const Vector& gamma) {
    const double k = to_host(gamma)[0];
    Measures measures(std::nan(""));
    measures[Measure::residual] = std::pow(10, -k);    // from k = 3
    measures[Measure::energy] = std::pow(10, -k / 2);  // from k = 4
    measures[Measure::error] = k == 4 ? 1 : 0;         // but for k = 4
    return measures;
  });
  const Run done = run(solver, recorder, map);
  CHECK(done.info.counters.outer == 5);
  CHECK(recorder.stop_reached());
  CHECK_FALSE(all_reached({}, recorder.best()));
}

TEST_CASE("the verdict is that of the last look, not of the best") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.deaf = true;
  solver.iterations = 9;
  RecorderOptions options = every_iteration();
  options.stop = {{Measure::residual, 1e-5}};
  // Falls to 1e-6 in iteration 6 and rises again.
  Recorder recorder(map, options,
                    FakeJudge([](double k) { return std::pow(10, -6 + std::abs(k - 6)); }));
  run(solver, recorder, map);
  CHECK(recorder.best()[Measure::residual] == Approx(1e-6));
  CHECK(recorder.samples().back().measures[Measure::residual] == Approx(1e-3));
  CHECK_FALSE(recorder.stop_reached());
}

TEST_CASE("what a solver takes to hand out an iterate is not on the clock") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 5;
  solver.writing = 0.02;
  Recorder recorder(map, every_iteration(), FakeJudge([](double) { return 1.0; }));
  run(solver, recorder, map);
  CHECK(recorder.samples().size() == 7);  // the answer, too
  CHECK(recorder.excluded() >=
        6 * solver.writing);  // all but that of the answer, written at the end
}

TEST_CASE("what is handed back is judged, if it is not what was looked at") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.preferred = 3;
  RecorderOptions options = every_iteration();
  options.stop = {{Measure::residual, 1e-5}};
  Recorder recorder(map, options, FakeJudge([](double k) { return std::pow(10, -k); }));
  const Run done = run(solver, recorder, map);
  CHECK(done.info.status == Status::stopped_by_observer);
  CHECK_FALSE(recorder.stop_reached());
  CHECK_FALSE(recorder.satisfied());
  CHECK(recorder.samples().size() == 7);
  CHECK(recorder.samples().back().measures[Measure::residual] == Approx(1e-3));
  CHECK(recorder.best()[Measure::residual] == Approx(1e-5));
}

TEST_CASE("a recorder is content at its stop, not at a limit") {
  const auto map = make_map(3);
  for (const long limit : {3, 30}) {
    FakeSolver solver;
    RecorderOptions options = every_iteration();
    options.stop = {{Measure::residual, 1e-5}};
    options.iteration_limit = limit;
    Recorder recorder(map, options, FakeJudge([](double k) { return std::pow(10, -k); }));
    CHECK(run(solver, recorder, map).info.status == Status::stopped_by_observer);
    CHECK(recorder.satisfied() == (limit == 30));
  }
}

TEST_CASE("an answer that comes after the time limit does not reach the stop") {
  const auto map = make_map(3);
  RecorderOptions options;
  options.time_limit = 2;
  for (const double time : {1.9, 2.1}) {
    Recorder recorder(map, options, FakeJudge([](double) { return 0.0; }));
    Sample sample;
    sample.time = time;
    recorder.record(sample, Vector(map, 1));
    CHECK(recorder.stop_reached() == (time < 2));
  }
}

TEST_CASE("a run has some hundred looks, whatever its solver says of itself") {
  const auto map = make_map(3);
  for (const int kind : {0, 1}) {
    FakeSolver solver;
    solver.iterations = 200000;
    // Exactly converged by its own measure, or falling for ever.
    solver.own_residual = [kind](long k) { return kind == 0 ? 0.0 : std::pow(0.3, 0.01 * k); };
    RecorderOptions options;
    options.budget = 1e9;
    Recorder recorder(map, options, FakeJudge([](double) { return 2e-6; }));  // near the stop
    run(solver, recorder, map);
    CHECK(recorder.samples().size() > 100);
    CHECK(recorder.samples().size() <= 500);
  }
}

TEST_CASE("targets are recorded at the first look that holds, others stay empty") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 20;
  RecorderOptions options = every_iteration();
  options.stop.clear();
  options.targets = {{Measure::error, 1e-2}, {Measure::residual, 1e-4}, {Measure::error, 1e-9}};
  // Falls to 1e-6 in iteration 6 and rises again.
  Recorder recorder(map, options,
                    FakeJudge([](double k) { return std::pow(10, -6 + std::abs(k - 6)); }));
  const Run done = run(solver, recorder, map);
  CHECK(done.info.status == Status::converged);
  const auto& targets = recorder.targets();
  REQUIRE(targets.size() == 3);
  REQUIRE(targets[0].reached);
  CHECK(targets[0].reached->counters.outer == 2);
  REQUIRE(targets[1].reached);
  CHECK(targets[1].reached->counters.outer == 4);
  CHECK(targets[1].reached->counters.krylov == 8);
  CHECK_FALSE(targets[2].reached);
  CHECK(recorder.best()[Measure::residual] == Approx(1e-6));
  CHECK(recorder.samples().back().measures[Measure::residual] == Approx(1e8));
}

TEST_CASE("a solver that lies about convergence is not believed") {
  const auto map = make_map(3);
  FakeSolver liar;
  liar.iterations = 3;
  liar.own_residual = [](long) { return 1e-16; };
  Recorder recorder(map, RecorderOptions{}, FakeJudge([](double) { return 0.5; }));
  const Run done = run(liar, recorder, map);
  CHECK(done.info.status == Status::converged);
  CHECK_FALSE(recorder.stop_reached());
  CHECK(recorder.samples().back().measures[Measure::residual] == 0.5);
}

TEST_CASE("the answer is judged even if no look came near it") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 7;
  RecorderOptions options;
  options.growth = options.fine_growth = 1e9;
  options.free_iterations = 0;
  options.budget = 0;
  Recorder recorder(map, options, FakeJudge([](double k) { return k == 7 ? 1e-7 : 1.0; }));
  run(solver, recorder, map);
  CHECK(recorder.samples().size() == 2);
  CHECK(recorder.stop_reached());
}

TEST_CASE("limits end a solve") {
  const auto map = make_map(3);
  const FakeJudge judge([](double) { return 1.0; });
  SECTION("of iterations, exactly") {
    FakeSolver solver;
    RecorderOptions options;
    options.iteration_limit = 17;
    Recorder recorder(map, options, judge);
    const Run done = run(solver, recorder, map);
    CHECK(done.info.status == Status::stopped_by_observer);
    CHECK(done.info.counters.outer == 17);
    CHECK(recorder.limit_passed());
    CHECK(recorder.samples().back().counters.outer == 17);
  }
  SECTION("of time, at the next call") {
    FakeSolver solver;
    solver.iterations = 100000;
    solver.pause = 0.002;
    RecorderOptions options;
    options.time_limit = 0.1;
    Recorder recorder(map, options, judge);
    const Run done = run(solver, recorder, map);
    CHECK(done.info.status == Status::stopped_by_observer);
    CHECK(recorder.limit_passed());
    CHECK(recorder.elapsed() >= 0.1);
    CHECK(recorder.elapsed() < 0.3);
    CHECK(recorder.out_of_time());
  }
  SECTION("of time, asked from inside an iteration") {
    RecorderOptions options;
    options.time_limit = 0.02;
    Recorder recorder(map, options, judge);
    recorder.start();
    CHECK_FALSE(recorder.out_of_time());
    wait(0.03);
    CHECK(recorder.out_of_time());
    CHECK(recorder.limit_passed());
    CHECK(recorder.samples().empty());
  }
}

TEST_CASE("time spent looking does not use up the time limit") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 10;
  RecorderOptions options = every_iteration();
  options.time_limit = 0.05;
  Recorder recorder(map, options, [](const Vector&) {
    wait(0.02);
    Measures m;
    m[Measure::residual] = 1;
    return m;
  });
  const Run done = run(solver, recorder, map);
  CHECK(done.info.status == Status::converged);
  CHECK_FALSE(recorder.limit_passed());
}

TEST_CASE("an iterate that is NaN does not count as the best") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 5;
  RecorderOptions options = every_iteration();
  options.targets = {{Measure::error, 1e-12}};
  Recorder recorder(map, options,
                    FakeJudge([](double k) { return k < 3 ? 0.5 - 0.1 * k : std::nan(""); }));
  run(solver, recorder, map);
  CHECK(recorder.best()[Measure::residual] == Approx(0.3));
  CHECK_FALSE(recorder.stop_reached());
  CHECK_FALSE(recorder.targets()[0].reached);
  CHECK(std::isnan(recorder.samples().back().measures[Measure::residual]));
}

TEST_CASE("every look is reported") {
  const auto map = make_map(3);
  FakeSolver solver;
  solver.iterations = 5;
  int reports = 0;
  Recorder recorder(map, every_iteration(), FakeJudge([](double) { return 1.0; }),
                    [&](const Sample&) { ++reports; });
  run(solver, recorder, map);
  CHECK(reports == static_cast<int>(recorder.samples().size()));
}

TEST_CASE("an observed solve makes the same iterates as a bare one, to the last bit") {
  struct Trial {
    const char* spec;
    long iterations;
  };
  // One solver is asked twice: nor does a solve depend on the one before.
  const std::vector<Trial> trials = {{"pgj[tolerance=0]", 300},
                                     {"pgs", 100},
                                     {"pgs[law=coulomb]", 100},
                                     {"pgs[sweep=colored]", 100},
                                     {"apgd", 300},
                                     {"bb", 300},
                                     {"bb[step=bb1]", 300},
                                     {"bb[step=bb2,metric=plain]", 300},
                                     {"ipm", 12},
                                     {"ipm[krylov=cholmod]", 8},
                                     {"admm", 60},
                                     {"pqn", 12},
                                     {"pqn[law=convex]", 12},
                                     {"ssn[linear_solver=cg]", 40},
                                     {"ssn", 40},
                                     {"vipm[linear_solver=cg]", 12},
                                     {"vipm", 20},
                                     {"vipm[linear_solver=cholesky]", 20},
                                     {"coulomb[inner=vipm]", 6},
                                     {"coulomb[iteration=anderson,inner=apgd]", 4}};
  const ContactProblem pile = random_pile(300, 1000, 5);
  for (const auto& [spec, iterations] : trials) {
    INFO(spec);
    const Problem problem(pile);
    const auto solver = make_solver(SolverSpec::parse(spec));
    solver->setup(problem);
    Vector bare(problem.map(), 1), observed(problem.map(), 1);
    IterationLimit limit(iterations);
    solver->solve(bare, limit);
    Referee referee(problem);
    RecorderOptions options = every_iteration();
    options.stop.clear();
    options.iteration_limit = iterations;
    Recorder recorder(problem.map(), options, [&](const Vector& g) { return referee.measure(g); });
    recorder.start();
    recorder.finish(solver->solve(observed, recorder), observed);
    CHECK(recorder.samples().size() >= static_cast<std::size_t>(iterations));
    CHECK(to_host(bare) == to_host(observed));
  }
}

TEST_CASE("recorder: it says beforehand what residual it waits for, if that is all") {
  const ContactProblem pile = random_pile(4, 6, 1);
  const Problem problem(pile);
  const auto aim = [&](const std::vector<Target>& stop, Law law) {
    RecorderOptions options;
    options.stop = stop;
    const Recorder recorder(problem.map(), options, [](const Vector&) { return Measures(1); });
    return aim_of(recorder, law);
  };
  const Target loose{Measure::residual, 1e-3}, tight{Measure::residual, 1e-6};
  CHECK(aim({tight, loose}, Law::convex) == 1e-6);
  CHECK(aim({tight}, Law::coulomb) == 0);
  CHECK(aim({{Measure::coulomb_residual, 1e-4}}, Law::coulomb) == 1e-4);
  CHECK(aim({tight, {Measure::error, 1e-2}}, Law::convex) == 0);
  CHECK(aim({}, Law::convex) == 0);
  NullObserver nobody;
  CHECK(aim_of(nobody, Law::convex) == 0);
}

// ---- targets -----------------------------------------------------------------------------------

TEST_CASE("targets are read and written") {
  const Target target = parse_target("error=5e-4", "--stop");
  CHECK(target.measure == Measure::error);
  CHECK(target.value == 5e-4);
  CHECK(target.text() == "error=0.0005");
  for (const Measure m : all_measures()) {
    CHECK(parse_target(name_of(m) + "=1", "x").measure == m);
  }
  const auto list = parse_targets("error=1e-2,residual=1e-6", "--targets");
  REQUIRE(list.size() == 2);
  CHECK(list[1].text() == "residual=1e-06");
  CHECK(parse_targets("", "--targets").empty());
  Measures m;
  m[Measure::error] = 5e-4;
  CHECK(target.reached(m));
  m[Measure::error] = std::nan("");
  CHECK_FALSE(target.reached(m));
}

TEST_CASE("targets that are none") {
  check_parts(error_of([] { parse_target("residual", "--stop"); }),
              {"--stop: expected MEASURE=VALUE, e.g. residual=1e-6, found 'residual'"});
  check_parts(error_of([] { parse_target("", "--stop"); }), {"--stop: expected MEASURE=VALUE"});
  check_parts(error_of([] { parse_target("residul=1e-6", "--stop"); }),
              {"--stop: unknown measure 'residul'", "did you mean 'residual'?"});
  check_parts(error_of([] { parse_target("=1", "--stop"); }), {"--stop: unknown measure ''"});
  for (const char* text : {"0", "-1", "nan", "inf", "", "x", "1e-6 ", "1e-6x"}) {
    check_parts(error_of([&] { parse_target(std::string("residual=") + text, "--stop"); }),
                {"--stop: residual: expected a number > 0, found '" + std::string(text) + "'"});
  }
  for (const char* text : {"error=1e-2,", ",error=1e-2", "error=1e-2,,residual=1e-6"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_targets(text, "--targets"), InputError);
  }
}
