// Study files.
#include "harness/study/study.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "tests/harness/study_support.hpp"

using namespace ccp;
using namespace ccp::test;

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
  CHECK(study.request.recorder.stop.at(0).text() == "residual=1e-05");
  REQUIRE(study.request.recorder.targets.size() == 2);
  CHECK(study.request.recorder.targets[0].text() == "error=0.0005");
  CHECK(study.request.recorder.time_limit == 2.5);
  CHECK(study.repetitions == 3);
  CHECK(study.threads == std::vector<int>{1});
}

TEST_CASE("the smallest study") {
  const Folder folder;
  const Study study = folder.read(smallest);
  CHECK(study.request.recorder.stop.at(0).text() == "residual=1e-06");
  CHECK(study.request.recorder.targets.empty());
  CHECK(study.request.recorder.time_limit == 60);
  CHECK(study.repetitions == 1);
  // One value in place of a list will do.
  CHECK(folder.read("name: demo\nproblems: stack.h5\nsolvers: pgj\n").solvers.size() == 1);
}

TEST_CASE("the former names of the papers' studies find them") {
  const auto name_of = [](const std::string& name) {
    return std::filesystem::path(resolve_study(name)).stem().string();
  };
  CHECK(name_of("kleinert2017-fig6") == "kleinert2017-fig6");
  CHECK(name_of("paper-000-fig6") == "kleinert2017-fig6");       // alias
  CHECK(name_of("paper-001-fig11b") == "kleinert2014-fig11b");   // alias
  CHECK(name_of("paper-003-fig7") == "wang2016-fig7");           // alias
  CHECK(name_of("paper-004-table4") == "koziara2019-table4");    // alias
  CHECK_THROWS_AS(resolve_study("paper-002-fig6"), InputError);  // no alias
}

TEST_CASE("studies that cannot be used") {
  const Folder folder;
  const auto add = [&](const std::string& line) { return folder.complaint(smallest + line); };
  check_parts(error_of([&] { read_study(folder.file("none.yaml")); }),
              {folder.file("none.yaml") + ": expected a study file (YAML), found no such file"});
  // Structure.
  check_parts(folder.complaint("- a\n- b\n"), {"expected a map of keys, found a list"});
  check_parts(folder.complaint(""), {"expected a map of keys, found nothing"});
  check_parts(add("---\nname: b\n"), {"line 5, column 1, document: expected one YAML document"});
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
  check_parts(
      add("repetitions: 1.5\n"),
      {"line 4, column 14, repetitions: expected a whole number from 1 to 1000000, found '1.5'"});
  check_parts(add("repetitions: -1\n"),
              {"line 4, column 14, repetitions: expected a whole number from 1 to 1000000"});
  check_parts(
      add("threads: [1, two]\n"),
      {"line 4, column 14, threads: expected a whole number from 1 to 1000000, found 'two'"});
  check_parts(add("threads: {a: 1}\n"),
              {"line 4, column 10, threads: expected at least one entry, found a map"});
  check_parts(add("threads:\n"), {"threads: expected at least one entry, found nothing"});
  check_parts(add("targets: [[error=1]]\n"),
              {"line 4, column 11, targets: expected a text, found a list"});
  check_parts(add("stop: residual\n"), {"stop: expected MEASURE=VALUE", "found 'residual'"});
  check_parts(add("stop: [residual=1e-8, residual=1e-6]\n"),
              {"stop: expected each measure once, found residual again"});
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
            "ipm", "pgj[omega=0.1,tolerance=0]", "pgj[omega=0.1,lambda=0.5,tolerance=0]",
            "pgj[omega=0.2,tolerance=0]", "pgj[omega=0.2,lambda=0.5,tolerance=0]"});
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
  CHECK(study.request.recorder.time_limit == 7);
  REQUIRE(study.solvers.size() == 1);
  CHECK(study.solvers[0].id == "ipm");
  REQUIRE(study.problem_files.size() == 1);  // relative to the file that names it
  CHECK(std::filesystem::equivalent(study.problem_files[0], folder.file("base/slope.h5")));

  write_text(folder.file("more.yaml"), "time_limit: 8\nrepetitions: 2\n");
  study = folder.read("include: [base/common.yaml, more.yaml]\nname: a\n");
  CHECK(study.request.recorder.time_limit == 8);  // the later one
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
