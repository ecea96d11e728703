// Study files, the runs they make, resume keys, result files, and what becomes of runs that do not
// end by themselves.
#include "harness/study.hpp"

#include <hdf5.h>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <set>

#include "harness/processors.hpp"
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
  check_parts(add("tresholds: [1]\n"), {"line 4, column 1, key: unknown key 'tresholds'"});
  check_parts(add("thread: [1]\n"),
              {"line 4, column 1, key: unknown key 'thread'", "did you mean 'threads'?"});
  check_parts(add("name: again\n"), {"line 4, column 1, name: expected each key once"});
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
              {"line 1, column 7, name: expected a text, found a list"});
  check_parts(add("time_limit: soon\n"),
              {"line 4, column 13, time_limit: expected a number > 0, found 'soon'"});
  check_parts(add("time_limit: 0\n"),
              {"line 4, column 13, time_limit: expected a number > 0, found '0'"});
  check_parts(add("time_limit: [1]\n"),
              {"line 4, column 13, time_limit: expected a number > 0, found a list"});
  check_parts(add("repetitions: 1.5\n"),
              {"line 4, column 14, repetitions: expected a whole number >= 1, found '1.5'"});
  check_parts(add("repetitions: -1\n"),
              {"line 4, column 14, repetitions: expected a whole number >= 1"});
  check_parts(add("threads: [1, two]\n"),
              {"line 4, column 14, threads: expected a whole number >= 1, found 'two'"});
  check_parts(add("threads: {a: 1}\n"),
              {"line 4, column 10, threads: expected at least one entry, found a map"});
  check_parts(add("threads:\n"), {"threads: expected at least one entry, found nothing"});
  check_parts(add("targets: [[error=1]]\n"),
              {"line 4, column 11, targets: expected a text, found a list"});
  check_parts(add("stop: residual\n"), {"stop: expected MEASURE=VALUE", "found 'residual'"});
  check_parts(add("stop: resid=1\n"), {"stop: unknown measure 'resid'", "did you mean"});
  check_parts(add("targets:\n  - error=1e-3\n  - eror=1e-4\n"),
              {"line 6, column 5, targets: unknown measure 'eror'", "did you mean 'error'?"});
  // Empty and repeated entries.
  check_parts(folder.complaint("name: a\nproblems: []\nsolvers: [pgj]\n"),
              {"line 2, column 11, problems: expected at least one entry"});
  check_parts(folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: []\n"),
              {"line 3, column 10, solvers: expected at least one entry"});
  check_parts(
      folder.complaint("name: a\nproblems: [stack.h5]\nsolvers:\n  - pgj\n  - ipm\n  - pgj\n"),
      {"line 6, column 5, solvers: expected each entry once, found 'pgj'"});
  check_parts(
      folder.complaint("name: a\nproblems:\n  - stack.h5\n  - ./stack.h5\nsolvers: [pgj]\n"),
      {"line 4, column 5, problems: expected each problem once, found ./stack.h5 again"});
  check_parts(add("threads: [1, 1]\n"), {"line 4, column 14, threads: expected each entry once"});
  // Things nobody knows.
  check_parts(folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: [pgk]\n"),
              {"line 3, column 11, solvers: unknown solver 'pgk'", "did you mean 'pgj'?"});
  check_parts(
      folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: ['pgj[omga=1]']\n"),
      {"line 3, column 11, solvers: solver pgj: unknown option 'omga'", "did you mean 'omega'?"});
  check_parts(folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: ['pgj[omega=-1]']\n"),
              {"line 3, column 11, solvers: solver pgj: option omega: expected number > 0"});
  check_parts(folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: ['pgj[omega=1']\n"),
              {"line 3, column 11, solvers: ", "no closing ]"});
  check_parts(folder.complaint("name: a\nproblems:\n  - stack.h5\n  - stakc.h5\nsolvers: [pgj]\n"),
              {"line 4, column 5, problems: ", "stakc.h5", "no such file"});
  check_parts(folder.complaint("name: a\nproblems: [no-such-problem]\nsolvers: [pgj]\n"),
              {"line 2, column 12, problems: unknown problem 'no-such-problem'"});
}

TEST_CASE("a grid of options stands for all combinations") {
  const Folder folder;
  const auto solvers = [&](const std::string& text) {
    std::vector<std::string> texts;
    for (const SolverSpec& spec :
         folder.read("name: a\nproblems: [stack.h5]\nsolvers:\n" + text).solvers) {
      texts.push_back(spec.text());
    }
    return texts;
  };
  CHECK(solvers("  - ipm\n  - pgj: {omega: [0.1, 0.2], lambda: [1, 0.5], tolerance: 0}\n") ==
        std::vector<std::string>{
            "ipm", "pgj[omega=0.1,lambda=1,tolerance=0]", "pgj[omega=0.1,lambda=0.5,tolerance=0]",
            "pgj[omega=0.2,lambda=1,tolerance=0]", "pgj[omega=0.2,lambda=0.5,tolerance=0]"});
  const auto complaint = [&](const std::string& text) {
    return folder.complaint("name: a\nproblems: [stack.h5]\nsolvers:\n" + text);
  };
  check_parts(complaint("  - pgj: {omega: [0.1, 0.1]}\n"),
              {"line 4, column 24, omega: expected each value once, found '0.1'"});
  check_parts(complaint("  - pgj: {omga: [0.1]}\n"),
              {"line 4, column 5, solvers: ", "unknown option 'omga'", "did you mean 'omega'?"});
  check_parts(complaint("  - pgj: {omega: []}\n"),
              {"line 4, column 18, omega: expected at least one entry, found a list"});
  check_parts(complaint("  - pgj: {omega: {a: 1}}\n"), {"line 4, column 18, omega: "});
  check_parts(complaint("  - pgj: 3\n"),
              {"line 4, column 10, pgj: expected a map of options, found '3'"});
  check_parts(complaint("  - pgj: {omega: 0.1}\n    ipm: {}\n"),
              {"line 4, column 5, solvers: expected a text, or a map of one solver"});
  check_parts(complaint("  - 'pgj[omega=0.1]'\n  - pgj: {omega: 0.1}\n"),
              {"line 5, column 5, solvers: expected each entry once"});
}

TEST_CASE("ranges of descriptors") {
  const auto admits = [](const std::string& text, double value) {
    Selection range;
    REQUIRE(parse_range(text, range));
    return range.admits(value);
  };
  CHECK(admits("1e4..1e5", 1e4));
  CHECK(admits("1e4..1e5", 1e5));
  CHECK_FALSE(admits("1e4..1e5", 9999));
  CHECK(admits("100..", 1e9));
  CHECK_FALSE(admits("100..", 99));
  CHECK(admits("..0.5", 0));
  CHECK_FALSE(admits(">100", 100));
  CHECK(admits(">=100", 100));
  CHECK_FALSE(admits("<0.5", 0.5));
  CHECK(admits("<=0.5", 0.5));
  CHECK(admits("3", 3));
  CHECK_FALSE(admits("3", 3.5));
  for (const char* text : {"", "..", "5..4", "a..b", ">", ">=", "1..2..3", "many", "inf", "=3"}) {
    INFO(text);
    Selection range;
    CHECK_FALSE(parse_range(text, range));
  }
}

TEST_CASE("problems are selected by what they are like") {
  const Folder folder;
  write_problem(folder.file("masses.h5"), make_scene("mass-ratio-stack"), false);
  const auto selected = [&](const std::string& select) {
    std::vector<std::string> names;
    for (const PlannedRun& run : plan(folder.read(
             "name: a\nproblems: ['*.h5']\nsolvers: [pgj]\nselect: " + select + "\n"))) {
      names.push_back(run.instance->name);
    }
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(selected("{contacts: 1..100}") == Names{"v-groove", "mass-ratio-stack", "stack"});
  CHECK(selected("{mass_ratio: '>10'}") == Names{"mass-ratio-stack"});
  CHECK(selected("{contacts: 3, mass_ratio: ..10}") == Names{"stack"});
  const std::string none = error_of([&] { selected("{contacts: 1e6..}"); });
  check_parts(none, {folder.file("study.yaml"), "line 4, column 9, select",
                     "expected at least one problem that meets all conditions, found none of 3"});
  // Without `problems`, the catalogue is the pool.
  CHECK(folder.read("name: a\nsolvers: [pgj]\nselect: {contacts: 1..10}\n").problem_files.size() >
        10);

  const auto complaint = [&](const std::string& select) {
    return folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: [pgj]\nselect: " + select);
  };
  check_parts(complaint("{contcats: 3}"), {"line 4, column 10, select: unknown descriptor",
                                           "did you mean 'contacts'?", "there are bodies, "});
  check_parts(complaint("{contacts: many}"),
              {"line 4, column 20, contacts: expected a range", "found 'many'"});
  check_parts(complaint("3"), {"line 4, column 9, select: expected a map of descriptors"});
  check_parts(complaint("\n  mass_ratio: >100\n  contacts: 3"), {"line 5, column ", "quote"});
  check_parts(
      folder.complaint("name: a\nproblems: ['none*.h5']\nsolvers: [pgj]\n"),
      {"line 2, column 12, problems: none*.h5: expected at least one file of that pattern"});
}

TEST_CASE("a study includes others and replaces what it says itself") {
  const Folder folder;
  std::filesystem::create_directory(folder.file("base"));
  write_problem(folder.file("base/slope.h5"), make_scene("sliding-block"), false);
  write_text(folder.file("base/common.yaml"),
             "problems: [slope.h5]\nsolvers: [pgj]\ntime_limit: 7\n");
  Study study = folder.read("include: base/common.yaml\nname: a\nsolvers: [ipm]\n");
  CHECK(study.time_limit == 7);
  REQUIRE(study.solvers.size() == 1);
  CHECK(study.solvers[0].id == "ipm");
  REQUIRE(study.problem_files.size() == 1);  // relative to the file that names it
  CHECK(std::filesystem::equivalent(study.problem_files[0], folder.file("base/slope.h5")));

  write_text(folder.file("more.yaml"), "time_limit: 8\nrepetitions: 2\n");
  study = folder.read("include: [base/common.yaml, more.yaml]\nname: a\n");
  CHECK(study.time_limit == 8);  // the later one
  CHECK(study.repetitions == 2);

  // A complaint names the file that the fault is in.
  write_text(folder.file("more.yaml"), "name: b\ntime_limit: soon\n");
  check_parts(error_of([&] { folder.read("include: [base/common.yaml, more.yaml]\n"); }),
              {folder.file("more.yaml") + ": line 2, column 13, time_limit"});
  check_parts(folder.complaint("include: none.yaml\n"),
              {"line 1, column 10, include: none.yaml: expected a study file"});
  check_parts(folder.complaint("include: [[more.yaml]]\n"), {"line 1, column 11, include"});

  write_text(folder.file("one.yaml"), "include: two.yaml\n");
  write_text(folder.file("two.yaml"), "name: b\ninclude: study.yaml\n");
  check_parts(error_of([&] { folder.read("name: a\ninclude: one.yaml\n"); }),
              {folder.file("two.yaml") + ": line 2, column 10, include: expected files that do not "
                                         "include each other, found study.yaml > one.yaml > "
                                         "two.yaml > study.yaml"});
  check_parts(folder.complaint("include: study.yaml\n"), {"found study.yaml > study.yaml"});
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
  std::set<std::string> names, keys;
  for (std::size_t i = 0; i < 8; ++i) {
    // Problem by problem, in it repetition by repetition, in that each solver once.
    CHECK(runs[i].instance->name == (i < 4 ? "stack" : "v-groove"));
    CHECK(runs[i].request.repetition == (i % 4 < 2 ? 1 : 2));
    if (i % 2 == 1) CHECK(runs[i].request.solver.id != runs[i - 1].request.solver.id);
    CHECK(runs[i].request.study == "a");
    CHECK(names.insert(runs[i].file_name).second);
    CHECK(keys.insert(runs[i].key).second);
    CHECK(runs[i].file_name.find('/') == std::string::npos);
    CHECK(std::filesystem::path(runs[i].file_name).extension() == ".h5");
  }
  check_begins(runs[0].file_name, "stack__" + runs[0].request.solver.id + "__t1__r1__");
}

TEST_CASE("solvers take turns in an order that the seed fixes") {
  const Folder folder;
  const auto order = [&](const std::string& more) {
    std::string text;
    for (const PlannedRun& run :
         plan(folder.read("name: a\nproblems: [stack.h5]\nrepetitions: 20\nsolvers:\n"
                          "  - pgj: {omega: [0.1, 0.2, 0.3]}\n" +
                          more))) {
      text += run.request.solver.options[0].second + " ";
    }
    return text;
  };
  const std::string first = order("");
  CHECK(first == order("seed: 1\n"));
  CHECK(first != order("seed: 2\n"));
  // Every order of the three solvers comes up, or nearly so: none is always first.
  for (const char* omega : {"0.1", "0.2", "0.3"}) {
    int times_first = 0;
    for (std::size_t at = 0; at < first.size(); at += 12)
      times_first += first.substr(at, 3) == omega;
    CHECK(times_first >= 2);
    CHECK(times_first <= 12);
  }
  // The seed is no part of the keys: another order is not another result.
  const auto sorted_keys = [&](const std::string& more) {
    const auto keys = keys_of(folder.read(smallest + "repetitions: 3\n" + more));
    return std::set<std::string>(keys.begin(), keys.end());
  };
  CHECK(sorted_keys("seed: 1\n") == sorted_keys("seed: 2\n"));
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

TEST_CASE("whatever a key is made from, another value makes the run again and says why") {
  const Folder folder;
  const Study study = folder.read(smallest + "targets: [error=1e-3]\n");
  const PlannedRun run = plan(study).at(0);
  std::set<std::string> names;
  for (const auto& [name, value] : run.key_parts) names.insert(name);
  CHECK(names ==
        std::set<std::string>{"instance", "solver",  "options",    "threads",    "ranks",
                              "jobs",     "referee", "repetition", "time_limit", "memory_limit",
                              "stop", "start", "targets", "warm_up",    "bare",       "commit",
                              "compiler", "flags",   "build_type", "backend",    "trilinos",
                              "program",  "host",    "cpu",        "gpu",        "cores"});
  const std::string path = folder.file("r.h5"), row = folder.file("row");
  StudyStamp stamp;
  stamp.failure_status = "crashed";
  const auto reason = [&](const KeyParts& parts) {
    write_checkpoint(row, run.request, RunResult());
    stamp.key_parts = parts;
    stamp.key = digest_of(parts);
    stamp_result(row, path, stamp);
    return reason_to_run(path, run, {});
  };
  CHECK(reason(run.key_parts).empty());
  for (std::size_t i = 0; i < run.key_parts.size(); ++i) {
    KeyParts other = run.key_parts;
    other[i].second += "x";
    check_parts(reason(other), {"made with other settings: " + other[i].first + " ("});
  }
  StudyRunOptions retry;
  retry.retry_failed = true;
  reason(run.key_parts);
  CHECK(reason_to_run(path, run, retry) == "it ended as crashed");
  // How many runs share the machine is part of it.
  CHECK(plan(study, 2).at(0).key != run.key);
}

TEST_CASE("processor cores are lent to one run at a time") {
  ProcessorPool pool({{0, 4}, {1, 5}, {2, 6}});
  CHECK(pool.cores() == 3);
  CHECK(pool.hardware_threads() == 6);
  CHECK(pool.cores_for(1) == 1);
  CHECK(pool.cores_for(6) == 3);
  const auto one = pool.take(1);
  CHECK(pool.processors(one) == std::vector<int>{0, 4});
  CHECK(pool.has(2));
  CHECK_FALSE(pool.has(3));
  const auto two = pool.take(2);
  CHECK(pool.processors(two) == std::vector<int>{1, 5, 2, 6});
  CHECK_FALSE(pool.has(1));
  pool.give_back(one);
  CHECK(pool.processors(pool.take(1)) == std::vector<int>{0, 4});
  CHECK(ProcessorPool().cores() >= 1);
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
  result.law = Law::convex;
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

TEST_CASE("a warm-up takes its time and changes no iterate") {
  const Folder folder;
  RunRequest request;
  request.problem_file = folder.file("stack.h5");
  request.solver = SolverSpec::parse("ipm");
  const RunResult cold = run(request, "");
  request.warm_up = 0.05;
  const RunResult warm = run(request, "");
  CHECK(cold.warm_up_time == 0);
  CHECK(warm.warm_up_time >= 0.05);
  CHECK(warm.info.counters.outer == cold.info.counters.outer);
  CHECK(warm.final_measures[Measure::error] == cold.final_measures[Measure::error]);
}

TEST_CASE("checkpoints hold what was seen so far, and no answer") {
  const Folder folder;
  RunRequest request;
  request.problem_file = folder.file("stack.h5");
  request.solver = SolverSpec::parse("pgj");
  std::size_t looks = 0;
  RunWatch watch;
  watch.checkpoint = [&](const RunResult& so_far) {
    CHECK(so_far.status == "running");
    CHECK(so_far.samples.size() > looks);
    looks = so_far.samples.size();
    CHECK(so_far.time == so_far.samples.back().time);
    CHECK(std::isnan(so_far.final_measures[Measure::residual]));
    CHECK_FALSE(so_far.stop_reached);
  };
  const RunResult result = run(request, "", watch);
  CHECK(looks > 1);
  CHECK(result.samples.size() >= looks);
}

TEST_CASE("what a result says of itself is checked") {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  RunResult good = some_result();
  good.stop_reached = false;
  good.best = good.samples.front().measures;
  good.targets[0] = {{Measure::error, 2.15}, good.samples[0]};
  const auto complaint = [&](const auto& change) {
    RunResult result = good;
    change(result);
    write_result(path, some_request(), result, "", true);
    return error_of([&] { check_result(path); });
  };
  write_result(path, some_request(), good, "", true);
  CHECK(check_result(path).status == "time_limit");
  check_parts(complaint([](RunResult& r) { r.status = "running"; }),
              {"root attribute status: expected one of ", "found 'running'"});
  check_parts(complaint([](RunResult& r) { r.stop_reached = true; }),
              {"root attribute stop_reached: expected 0, as /final has it, found 1"});
  check_parts(complaint([](RunResult& r) { r.best[Measure::cost] = -1; }),
              {"/best attribute cost: expected 0, the smallest of the curve, found -1"});
  check_parts(complaint([](RunResult& r) { r.final_measures[Measure::cost] = 7; }),
              {"/final attribute cost", "the last of the curve, found 7"});
  check_parts(complaint([](RunResult& r) { r.samples[2].counters.outer = 5; }),
              {"/curve/outer[2]: expected ascending numbers, found 5 after 10"});
  check_parts(complaint([](RunResult& r) { r.targets[0].reached = r.samples[2]; }),
              {"/targets/time[0]: expected 0, where the curve first reaches error=2.15"});
  check_parts(complaint([](RunResult& r) { r.targets[0].reached.reset(); }),
              {"/targets/time[0]: expected 0, "});
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
  options.grace = 0.5;
  return options;
}

StudyOutcome run_quietly(const Study& study, const StudyRunOptions& options) {
  StudyListener nobody;
  return run_study(study, options, nobody);
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
  StudyOutcome outcome = run_quietly(study, options);
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
  outcome = run_quietly(study, options);
  CHECK(outcome.skipped == 1);
  CHECK(outcome.crashed == 1);
  options = with_program(folder, "exit 7\n");
  options.resume = options.retry_failed = true;
  outcome = run_quietly(study, options);
  CHECK(outcome.skipped == 0);
  row = only_result(folder);
  CHECK(row.status == "crashed");
  check_parts(row.message, {"exit code 7"});
}

TEST_CASE("a run that hangs is killed and becomes a row that says so") {
  const Folder folder;
  const Study study =
      folder.read(smallest + "time_limit: 0.01\n");  // killed after 1.5 * 0.01 + 0.5 s
  const StudyOutcome outcome = run_quietly(study, with_program(folder, "exec sleep 100\n"));
  CHECK(outcome.crashed == 1);
  const ResultSummary row = only_result(folder);
  CHECK(row.status == "killed");
  check_parts(row.message, {"killed after 0.515 s"});
}

TEST_CASE("what a run printed last is in its row") {
  const Folder folder;
  const Study study = folder.read(smallest);
  run_quietly(study, with_program(folder, "echo first; echo the matrix is singular >&2; exit 3\n"));
  check_parts(only_result(folder).message, {"exit code 3: the matrix is singular"});
}

TEST_CASE("a run that ends well but leaves no result, or garbage, is a crash") {
  const Folder folder;
  const Study study = folder.read(smallest);
  StudyRunOptions options = with_program(folder, "exit 0\n");
  run_quietly(study, options);
  check_parts(only_result(folder).message, {"exit code 0 and left no result"});
  CHECK(only_result(folder).status == "crashed");

  // Its output is the argument after --output.
  const std::string to_output =
      "while [ \"$1\" != --output ]; do shift; done\n" + std::string("out=$2\n");
  options = with_program(folder, to_output + "echo garbage > \"$out\"\n");
  options.force = true;
  run_quietly(study, options);
  check_parts(only_result(folder).message, {"a result that cannot be used", "something else"});

  // A whole result, but of another run.
  write_result(folder.file("other"), some_request(), some_result(), "", false);
  options = with_program(folder, to_output + "cp " + folder.file("other") + " \"$out\"\n");
  options.force = true;
  run_quietly(study, options);
  check_parts(only_result(folder).message, {"a result of pgj[omega=0.2] on stack"});
  CHECK(only_result(folder).solver == "pgj");
}

TEST_CASE("a study that is interrupted leaves no row of the run in flight") {
  const Folder folder;
  const Study study = folder.read(smallest);
  StudyRunOptions options = with_program(folder, "exec sleep 100\n");
  options.interrupted = [] { return true; };
  CHECK(run_quietly(study, options).interrupted);
  CHECK(std::filesystem::is_empty(folder.file("results")));
}

TEST_CASE("two studies do not write to one folder at a time") {
  const Folder folder;
  const Study study = folder.read(smallest);
  StudyRunOptions options = with_program(folder, "exec sleep 100\n");
  std::string complaint;
  options.interrupted = [&] {  // asked while the first one runs
    StudyRunOptions second = options;
    second.interrupted = [] { return true; };
    complaint = error_of([&] { run_quietly(study, second); });
    return true;
  };
  run_quietly(study, options);
  check_parts(complaint,
              {folder.file("results"), "expected a folder that no other study writes to"});
}

TEST_CASE("more runs at a time than there are cores") {
  const Folder folder;
  StudyRunOptions options = with_program(folder, "exit 0\n");
  options.jobs = ProcessorPool().cores() + 1;
  check_parts(error_of([&] { run_quietly(folder.read(smallest), options); }),
              {"--jobs: expected at most "});
}

TEST_CASE("a program that cannot be started ends the study with the reason") {
  const Folder folder;
  const Study study = folder.read(smallest);
  StudyRunOptions options = with_program(folder, "");
  options.program = folder.file("no-such-program");
  check_parts(error_of([&] { run_quietly(study, options); }),
              {folder.file("no-such-program"), "No such file or directory"});
}
