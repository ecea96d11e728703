// Study files, the runs they make, resume keys, result files, and what becomes of runs that do not
// end by themselves.
#include "harness/study.hpp"

#include <hdf5.h>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <set>

#include "harness/provenance.hpp"
#include "harness/result_file.hpp"
#include "harness/study_runner.hpp"
#include "problems/generators/scenes.hpp"
#include "problems/hdf5_file.hpp"
#include "problems/problem_file.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// A folder with the scenes "stack" and "v-groove" and a study to be written.
struct Folder : TemporaryFolder {
  Folder() {
    write_problem(file("stack.h5"), make_scene("stack"), false);
    write_problem(file("groove.h5"), make_scene("v-groove"), false);
  }
  Study read(const std::string& text) const {
    write_text(file("study.yaml"), text);
    return read_study(file("study.yaml"));
  }
  /// The complaint about a study; it names the file.
  std::string complaint(const std::string& text) const {
    const std::string message = error_of([&] { read(text); });
    check_begins(message, file("study.yaml") + ": ");
    return message;
  }
};

const std::string smallest = "name: demo\nproblems: [stack.h5]\nsolvers: [pgj]\n";

std::vector<std::string> keys_of(const Study& study) {
  std::vector<std::string> keys;
  for (const PlannedRun& run : plan(study)) keys.push_back(run.key);
  return keys;
}

}  // namespace

TEST_CASE("a study is read with all its keys") {
  const Folder folder;
  const Study study = folder.read(
      "name: error-vs-time\ndescription: what it is for\nproblems: [stack.h5, " +
      folder.file("groove.h5") +
      "]\nsolvers: ['pgj[omega=0.25]', ipm]\nstop: residual=1e-5\n"
      "targets: [error=5e-4, residual=1e-6]\ntime_limit: 2.5\nrepetitions: 3\nthreads: [1]\n");
  CHECK(study.name == "error-vs-time");
  CHECK(study.description == "what it is for");
  REQUIRE(study.problem_files.size() == 2);
  CHECK(std::filesystem::equivalent(study.problem_files[0], folder.file("stack.h5")));
  CHECK(std::filesystem::equivalent(study.problem_files[1], folder.file("groove.h5")));
  REQUIRE(study.solvers.size() == 2);
  CHECK(study.solvers[0].text() == "pgj[omega=0.25]");
  CHECK(study.stop.text() == "residual=1e-05");
  REQUIRE(study.targets.size() == 2);
  CHECK(study.targets[0].text() == "error=0.0005");
  CHECK(study.time_limit == 2.5);
  CHECK(study.repetitions == 3);
  CHECK(study.threads == std::vector<int>{1});
}

TEST_CASE("the smallest study") {
  const Folder folder;
  const Study study = folder.read(smallest);
  CHECK(study.stop.text() == "residual=1e-06");
  CHECK(study.targets.empty());
  CHECK(study.time_limit == 60);
  CHECK(study.repetitions == 1);
  // One value in place of a list will do.
  CHECK(folder.read("name: demo\nproblems: stack.h5\nsolvers: pgj\n").solvers.size() == 1);
}

TEST_CASE("studies that cannot be used") {
  const Folder folder;
  const auto add = [&](const std::string& line) { return folder.complaint(smallest + line); };
  check_parts(error_of([&] { read_study(folder.file("none.yaml")); }),
              {folder.file("none.yaml") + ": expected a study file (YAML), found no such file"});
  // Structure.
  check_parts(folder.complaint("- a\n- b\n"), {"expected a map of keys, found a list"});
  check_parts(folder.complaint(""), {"expected a map of keys, found nothing"});
  check_parts(folder.complaint("name: [a\nproblems: x\n"),
              {"line 2, column ", "expected YAML, found "});
  check_parts(add("tresholds: [1]\n"), {"line 4, key: unknown key 'tresholds'"});
  check_parts(add("thread: [1]\n"),
              {"line 4, key: unknown key 'thread'", "did you mean 'threads'?"});
  check_parts(add("name: again\n"), {"line 4, name: expected each key once"});
  // Missing keys.
  check_parts(folder.complaint("problems: [stack.h5]\nsolvers: [pgj]\n"),
              {"key name: expected a value, found no such key"});
  check_parts(folder.complaint("name: a\nsolvers: [pgj]\n"),
              {"key problems: expected a list, found no such key"});
  check_parts(folder.complaint("name: a\nproblems: [stack.h5]\n"),
              {"key solvers: expected a list, found no such key"});
  // Wrong types and values, each with its line.
  check_parts(folder.complaint("name: a b/c\nproblems: [stack.h5]\nsolvers: [pgj]\n"),
              {"name: expected letters, digits", "found 'a b/c'"});
  check_parts(folder.complaint("name: [a]\nproblems: [stack.h5]\nsolvers: [pgj]\n"),
              {"line 1, name: expected a text, found a list"});
  check_parts(add("time_limit: soon\n"),
              {"line 4, time_limit: expected a number > 0, found 'soon'"});
  check_parts(add("time_limit: 0\n"), {"line 4, time_limit: expected a number > 0, found '0'"});
  check_parts(add("time_limit: [1]\n"),
              {"line 4, time_limit: expected a number > 0, found a list"});
  check_parts(add("repetitions: 1.5\n"),
              {"line 4, repetitions: expected a whole number >= 1, found '1.5'"});
  check_parts(add("repetitions: -1\n"), {"line 4, repetitions: expected a whole number >= 1"});
  check_parts(add("threads: [1, two]\n"),
              {"line 4, threads: expected a whole number >= 1, found 'two'"});
  check_parts(add("threads: {a: 1}\n"),
              {"line 4, threads: expected at least one entry, found a map"});
  check_parts(add("threads:\n"), {"threads: expected at least one entry, found nothing"});
  check_parts(add("targets: [[error=1]]\n"), {"line 4, targets: expected a text, found a list"});
  check_parts(add("stop: residual\n"), {"stop: expected MEASURE=VALUE", "found 'residual'"});
  check_parts(add("stop: resid=1\n"), {"stop: unknown measure 'resid'", "did you mean"});
  check_parts(add("targets:\n  - error=1e-3\n  - eror=1e-4\n"),
              {"line 6, targets: unknown measure 'eror'", "did you mean 'error'?"});
  // Empty and repeated entries.
  check_parts(folder.complaint("name: a\nproblems: []\nsolvers: [pgj]\n"),
              {"line 2, problems: expected at least one entry"});
  check_parts(folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: []\n"),
              {"line 3, solvers: expected at least one entry"});
  check_parts(
      folder.complaint("name: a\nproblems: [stack.h5]\nsolvers:\n  - pgj\n  - ipm\n  - pgj\n"),
      {"line 6, solvers: expected each entry once, found 'pgj'"});
  check_parts(
      folder.complaint("name: a\nproblems:\n  - stack.h5\n  - ./stack.h5\nsolvers: [pgj]\n"),
      {"line 4, problems: expected each problem once, found ./stack.h5 again"});
  check_parts(add("threads: [1, 1]\n"), {"line 4, threads: expected each entry once"});
  // Things nobody knows.
  check_parts(folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: [pgk]\n"),
              {"line 3, solvers: unknown solver 'pgk'", "did you mean 'pgj'?"});
  check_parts(folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: ['pgj[omga=1]']\n"),
              {"line 3, solvers: solver pgj: unknown option 'omga'", "did you mean 'omega'?"});
  check_parts(folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: ['pgj[omega=-1]']\n"),
              {"line 3, solvers: solver pgj: option omega: expected number > 0"});
  check_parts(folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: ['pgj[omega=1']\n"),
              {"line 3, solvers: ", "no closing ]"});
  check_parts(folder.complaint("name: a\nproblems:\n  - stack.h5\n  - stakc.h5\nsolvers: [pgj]\n"),
              {"line 4, problems: ", "stakc.h5", "no such file"});
  check_parts(folder.complaint("name: a\nproblems: [no-such-problem]\nsolvers: [pgj]\n"),
              {"line 2, problems: unknown problem 'no-such-problem'"});
}

TEST_CASE("more threads than the back end has") {
  const Folder folder;
  if (build_provenance().backend == "Serial") {
    check_parts(folder.complaint(smallest + "threads: [1, 2]\n"),
                {"threads: expected 1: this build runs on Kokkos Serial, found 2"});
  } else {
    CHECK(folder.read(smallest + "threads: [1, 2]\n").threads == std::vector<int>{1, 2});
  }
}

TEST_CASE("the studies that come with the project can be read") {
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(source_folder()) / "harness" / "studies")) {
    if (entry.path().extension() != ".yaml") continue;
    INFO(entry.path());
    CHECK_NOTHROW(read_study(entry.path().string()));
    CHECK(resolve_study(entry.path().stem().string()) == entry.path().string());
  }
  CHECK_THROWS_AS(resolve_study("no-such-study"), InputError);
}

// ---- planning
// -----------------------------------------------------------------------------------------

TEST_CASE("a plan interleaves repetitions across solvers") {
  const Folder folder;
  const Study study = folder.read(
      "name: a\nproblems: [stack.h5, groove.h5]\nsolvers: [pgj, ipm]\nrepetitions: 2\n");
  const auto runs = plan(study);
  REQUIRE(runs.size() == 8);
  const char* expected[8][2] = {{"pgj", "1"}, {"ipm", "1"}, {"pgj", "2"}, {"ipm", "2"},
                                {"pgj", "1"}, {"ipm", "1"}, {"pgj", "2"}, {"ipm", "2"}};
  std::set<std::string> names, keys;
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(runs[i].request.solver.id == expected[i][0]);
    CHECK(std::to_string(runs[i].request.repetition) == expected[i][1]);
    CHECK(runs[i].request.study == "a");
    CHECK(names.insert(runs[i].file_name).second);
    CHECK(keys.insert(runs[i].key).second);
    CHECK(runs[i].file_name.find('/') == std::string::npos);
    CHECK(std::filesystem::path(runs[i].file_name).extension() == ".h5");
  }
  CHECK(runs[0].file_name.rfind("stack__pgj__t1__r1__", 0) == 0);
}

TEST_CASE("resume keys change with everything that changes a result, and with nothing else") {
  const Folder folder;
  const std::string head = "name: a\nproblems: [stack.h5]\n";
  const auto key = [&](const std::string& rest) { return keys_of(folder.read(head + rest)).at(0); };
  const std::string base =
      key("solvers: ['pgj[omega=0.3]']\ntargets: [error=1e-3]\ntime_limit: 10\n");
  CHECK(base == key("solvers: ['pgj[omega=0.3]']\ntargets: [error=1e-3]\ntime_limit: 10\n"));
  // The same said otherwise: defaults written out, another spelling of a number, other words.
  CHECK(base == key("solvers: [pgj]\ntargets: [error=0.001]\ntime_limit: 1e1\n"));
  CHECK(base == key("solvers: ['pgj[lambda=1,omega=0.30]']\ntargets: [error=1e-3]\ntime_limit: 10\n"
                    "stop: residual=1e-6\nrepetitions: 1\nthreads: 1\ndescription: other words\n"));
  std::set<std::string> keys = {base};
  const auto different = [&](const std::string& other) {
    INFO(other);
    CHECK(keys.insert(other).second);
  };
  const std::string tail = "targets: [error=1e-3]\ntime_limit: 10\n";
  different(key("solvers: [ipm]\n" + tail));
  // Every option of every solver, by another value that it takes.
  for (const auto& [solver, value] :
       std::vector<std::pair<std::string, std::string>>{{"pgj", "omega=0.31"},
                                                        {"pgj", "lambda=0.5"},
                                                        {"pgj", "tolerance=0"},
                                                        {"pgj", "max_iterations=5"},
                                                        {"pgj", "check_interval=7"},
                                                        {"ipm", "krylov=gmres"},
                                                        {"ipm", "preconditioner=none"},
                                                        {"ipm", "strategy=potential_reduction"},
                                                        {"ipm", "krylov_tolerance=1e-5"},
                                                        {"ipm", "max_outer=7"},
                                                        {"ipm", "start=0.2"}}) {
    different(key("solvers: ['" + solver + "[" + value + "]']\n" + tail));
  }
  different(key("solvers: [pgj]\ntargets: [error=1e-3]\ntime_limit: 11\n"));
  different(key("solvers: [pgj]\ntargets: [error=2e-3]\ntime_limit: 10\n"));
  different(key("solvers: [pgj]\ntargets: [cost=1e-3]\ntime_limit: 10\n"));
  different(key("solvers: [pgj]\ntargets: [error=1e-3, cost=1e-3]\ntime_limit: 10\n"));
  different(key("solvers: [pgj]\ntime_limit: 10\n"));
  different(key("solvers: [pgj]\nstop: residual=1e-7\n" + tail));
  different(keys_of(folder.read(head + "solvers: [pgj]\nrepetitions: 2\n" + tail)).at(1));
  {
    Study two_threads = folder.read(head + "solvers: [pgj]\n" + tail);
    two_threads.threads = {2};
    different(keys_of(two_threads).at(0));
  }
  // The problem, by its content and not by its name.
  ContactProblem p = make_scene("stack");
  p.name = "renamed";
  write_problem(folder.file("stack.h5"), p, true);
  CHECK(base == key("solvers: [pgj]\n" + tail));
  p.mu[0] *= 2;
  write_problem(folder.file("stack.h5"), p, true);
  different(key("solvers: [pgj]\n" + tail));
}

TEST_CASE("result files of different runs never share a name") {
  const Folder folder;
  std::filesystem::create_directory(folder.file("other"));
  ContactProblem p = make_scene("stack");
  p.mu[0] *= 2;  // another problem of the same name
  write_problem(folder.file("other/stack.h5"), p, false);
  const Study study = folder.read(
      "name: a\nproblems: [stack.h5, other/stack.h5]\nrepetitions: 2\nsolvers:\n  - pgj\n"
      "  - 'pgj[omega=0.1]'\n  - 'pgj[omega=0.11]'\n"
      "  - "
      "'ipm[krylov_tolerance=0.001,krylov_max_iterations=500,max_outer=100,start=0.1,step_fraction="
      "0.9]'\n"
      "  - "
      "'ipm[krylov_tolerance=0.001,krylov_max_iterations=500,max_outer=100,start=0.1,step_fraction="
      "0.99]'\n");
  std::set<std::string> names;
  for (const PlannedRun& run : plan(study)) {
    CHECK(names.insert(run.file_name).second);
    CHECK(run.file_name.size() < 200);
  }
  CHECK(names.size() == 20);
}

TEST_CASE("a copy of a problem does not overwrite the results of the original") {
  const Folder folder;
  std::filesystem::copy_file(folder.file("stack.h5"), folder.file("copy.h5"));
  try {
    const auto runs = plan(folder.read("name: a\nproblems: [stack.h5, copy.h5]\nsolvers: [pgj]\n"));
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].file_name != runs[1].file_name);
  } catch (const InputError& refused) {  // as good
    check_parts(refused.what(), {"copy.h5"});
  }
}

TEST_CASE("a result file keeps its name however the study was named") {
  const Folder folder;
  folder.read(smallest);
  const std::string here = std::filesystem::current_path().string();
  const auto name = [](const std::string& path) { return plan(read_study(path)).at(0).file_name; };
  const std::string absolute = name(folder.file("study.yaml"));
  std::filesystem::current_path(folder.path());
  const std::string relative = name("study.yaml"), dotted = name("./study.yaml");
  std::filesystem::current_path(here);
  CHECK(relative == absolute);
  CHECK(dotted == absolute);
}

// ---- result files
// ---------------------------------------------------------------------------------------

namespace {

RunRequest some_request() {
  RunRequest request;
  request.solver = SolverSpec::parse("pgj[omega=0.2]");
  request.recorder.targets = {{Measure::error, 1e-2}, {Measure::residual, 1e-9}};
  request.recorder.time_limit = 60;
  request.study = "demo";
  request.repetition = 2;
  return request;
}

RunResult some_result() {
  RunResult result;
  result.instance = "stack";
  result.instance_hash = "0123";
  result.form = "bodies";
  result.contacts = 2;
  result.solver = "pgj[omega=0.2]";
  result.law = "convex";
  result.options = {{"omega", "0.2", "", ""}};
  result.status = "time_limit";
  result.info.message = "no progress";
  result.info.counters.outer = 30;
  result.info.counters.krylov = 60;
  result.info.own_residual = 1e-3;
  result.info.timers["krylov"] = 0.5;
  result.stop_reached = true;
  result.time = 1.25;
  for (int i = 0; i < 4; ++i) {
    Sample sample;
    sample.counters.outer = 10 * i;
    sample.time = 0.25 * i;
    for (std::size_t m = 0; m < measure_count; ++m) {
      sample.measures[static_cast<Measure>(m)] = static_cast<double>(m) + 0.1 * i;
    }
    sample.measures[Measure::velocity] = std::nan("");
    result.samples.push_back(sample);
  }
  result.final_measures = result.best = result.samples.back().measures;
  result.targets = {{{Measure::error, 1e-2}, result.samples[1]},
                    {{Measure::residual, 1e-9}, std::nullopt}};
  result.gamma = {1, 2, 3, 4, 5, 6};
  result.provenance = collect_provenance(1, "ccpbench solve");
  return result;
}

}  // namespace

TEST_CASE("a result survives the file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  write_result(path, some_request(), some_result(), "the key", false);
  CHECK(folder.names() == std::vector<std::string>{"r.h5"});
  const ResultSummary summary = read_result(path);
  CHECK(summary.instance == "stack");
  CHECK(summary.solver == "pgj[omega=0.2]");
  CHECK(summary.status == "time_limit");
  CHECK(summary.message == "no progress");
  CHECK(summary.key == "the key");
  CHECK(summary.stop_reached);
  CHECK(summary.time == 1.25);
  CHECK(summary.outer == 30);
  CHECK(summary.krylov == 60);
  CHECK(summary.residual == Approx(6.3));
  CHECK(summary.error == Approx(2.3));

  const Hdf5File file = Hdf5File::open(path);
  CHECK(file.read<std::int64_t>("/curve/outer").data == std::vector<std::int64_t>{0, 10, 20, 30});
  CHECK(file.read<double>("/curve/time").data == std::vector<double>{0, 0.25, 0.5, 0.75});
  for (const std::string& name : measure_names())
    CHECK(file.read<double>("/curve/" + name).data.size() == 4);
  CHECK(std::isnan(file.read<double>("/curve/velocity").data[0]));
  CHECK(file.read_strings("/targets/measure") == std::vector<std::string>{"error", "residual"});
  CHECK(file.read<std::int64_t>("/targets/outer").data == std::vector<std::int64_t>{10, -1});
  CHECK(std::isnan(file.read<double>("/targets/time").data[1]));
  CHECK(file.read<double>("/final/gamma").shape == std::vector<std::size_t>{2, 3});
  CHECK(file.string_attribute("/options", "omega") == "0.2");
  CHECK(file.number_attribute("/timers/parts", "krylov")->at(0) == 0.5);
  CHECK(file.number_attribute("/timers", "solve")->at(0) == 1.25);
  CHECK(file.number_attribute("/", "repetition")->at(0) == 2);
  CHECK(file.string_attribute("/", "study") == "demo");
  for (const char* name :
       {"commit", "compiler", "flags", "backend", "trilinos", "kokkos", "host", "cpu", "cores",
        "threads", "ranks", "binding", "load_average", "command_line", "date_utc"}) {
    INFO(name);
    CHECK(file.string_attribute("/provenance", name).has_value());
  }
  check_parts(error_of([&] { write_result(path, some_request(), some_result(), "", false); }),
              {path, "found an existing file"});
}

TEST_CASE("a result without any look survives the file") {
  const TemporaryFolder folder;
  RunResult crashed = some_result();
  crashed.samples.clear();
  crashed.targets.clear();
  crashed.gamma.clear();
  crashed.status = "crashed";
  write_result(folder.file("r.h5"), some_request(), crashed, "", false);
  CHECK(read_result(folder.file("r.h5")).status == "crashed");
}

TEST_CASE("result files that are none") {
  const Folder folder;
  check_parts(error_of([&] { read_result(folder.file("stack.h5")); }),
              {folder.file("stack.h5"),
               "root attribute format: expected 'ccpbench-result', found 'ccpbench-problem'"});
  check_parts(error_of([&] { read_result(folder.file("none.h5")); }), {"found no such file"});
  const std::string path = folder.file("r.h5");
  write_result(path, some_request(), some_result(), "", false);
  const std::string whole = read_text(path);
  write_text(path, whole.substr(0, whole.size() / 2));
  check_parts(error_of([&] { read_result(path); }), {path, "a truncated or damaged one"});
  write_text(path, "text");
  check_parts(error_of([&] { read_result(path); }), {path, "4 bytes of something else"});

  const auto damaged = [&](const auto& work) {
    write_text(path, whole);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    work(file);
    H5Fclose(file);
    return error_of([&] { read_result(path); });
  };
  for (const char* name : {"/curve/time", "/curve/residual", "/provenance"}) {
    check_parts(damaged([&](hid_t file) { H5Ldelete(file, name, H5P_DEFAULT); }),
                {path, name, "nothing of that name"});
  }
  for (const char* name : {"status", "key", "instance", "version"}) {
    check_parts(damaged([&](hid_t file) { H5Adelete(file, name); }), {path, name, "found nothing"});
  }
  check_parts(damaged([](hid_t file) {
                const double backwards[4] = {0, 0.5, 0.25, 1};
                const hid_t data = H5Dopen2(file, "/curve/time", H5P_DEFAULT);
                H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, backwards);
                H5Dclose(data);
              }),
              {"/curve/time[2]: expected ascending times, found 0.25 after 0.5"});
}

// ---- runs that do not end by themselves
// ------------------------------------------------------------------

namespace {

StudyRunOptions with_program(const Folder& folder, const std::string& script) {
  write_text(folder.file("program"), "#!/bin/sh\n" + script);
  std::filesystem::permissions(folder.file("program"), std::filesystem::perms::owner_all);
  StudyRunOptions options;
  options.output = folder.file("results");
  options.program = folder.file("program");
  options.quiet = true;
  return options;
}

ResultSummary only_result(const Folder& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("results"))) {
    found.push_back(entry.path().string());
  }
  REQUIRE(found.size() == 1);
  return read_result(found[0]);
}

}  // namespace

TEST_CASE("a run that crashes becomes a row that says so") {
  const Folder folder;
  const Study study = folder.read(smallest + "targets: [error=1e-3]\n");
  StudyRunOptions options = with_program(folder, "kill -9 $$\n");
  StudyOutcome outcome = run_study(study, options);
  CHECK(outcome.runs == 1);
  CHECK(outcome.crashed == 1);
  CHECK(outcome.reached + outcome.not_reached + outcome.skipped == 0);
  ResultSummary row = only_result(folder);
  CHECK(row.status == "crashed");
  CHECK(row.instance == "stack");
  CHECK(row.solver == "pgj");
  CHECK_FALSE(row.stop_reached);
  check_parts(row.message, {"signal 9"});
  CHECK(row.key == plan(study).at(0).key);

  // Resuming keeps the row unless failed runs are to be tried again.
  options.resume = true;
  outcome = run_study(study, options);
  CHECK(outcome.skipped == 1);
  CHECK(outcome.crashed == 1);
  options = with_program(folder, "exit 7\n");
  options.resume = options.retry_failed = true;
  outcome = run_study(study, options);
  CHECK(outcome.skipped == 0);
  row = only_result(folder);
  CHECK(row.status == "crashed");
  check_parts(row.message, {"exit code 7"});
}

TEST_CASE("a run that hangs is killed and becomes a row that says so") {
  const Folder folder;
  const Study study =
      folder.read(smallest + "time_limit: 0.01\n");  // killed after 1.5 * 0.01 + 10 s
  const StudyOutcome outcome = run_study(study, with_program(folder, "exec sleep 100\n"));
  CHECK(outcome.crashed == 1);
  const ResultSummary row = only_result(folder);
  CHECK(row.status == "killed");
  check_parts(row.message, {"killed after 10 s"});
}

TEST_CASE("a program that cannot be started ends the study with the reason") {
  const Folder folder;
  const Study study = folder.read(smallest);
  StudyRunOptions options = with_program(folder, "");
  options.program = folder.file("no-such-program");
  check_parts(error_of([&] { run_study(study, options); }),
              {folder.file("no-such-program"), "No such file or directory"});
}
