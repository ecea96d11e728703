// Running a study: runs that do not end by themselves, processor cores, folders in use.
#include "harness/study/runner.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "harness/run/result_file.hpp"
#include "harness/study/processors.hpp"
#include "tests/harness/study_support.hpp"

using namespace ccp;
using namespace ccp::test;

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
  CHECK(row.status == Status::crashed);
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
  CHECK(row.status == Status::crashed);
  check_parts(row.message, {"exit code 7"});
}

TEST_CASE("a run that hangs is killed and becomes a row that says so") {
  const Folder folder;
  const Study study =
      folder.read(smallest + "time_limit: 0.01\n");  // killed after 1.5 * 0.01 + 0.5 s
  const StudyOutcome outcome = run_quietly(study, with_program(folder, "exec sleep 100\n"));
  CHECK(outcome.crashed == 1);
  const ResultSummary row = only_result(folder);
  CHECK(row.status == Status::killed);
  check_parts(row.message, {"killed after 0.515 s"});
}

TEST_CASE("a run that solves twice has time for both") {
  const Folder folder;
  const Study study = folder.read(smallest + "time_limit: 0.01\nbare: true\n");
  run_quietly(study, with_program(folder, "exec sleep 100\n"));
  check_parts(only_result(folder).message, {"killed after 0.53 s"});  // 2 * 1.5 * 0.01 + 0.5
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
  CHECK(only_result(folder).status == Status::crashed);

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

TEST_CASE("the pools of two studies lend different cores while there are enough") {
  // Others on this machine may hold some as well: only what these two do is known.
  ProcessorPool one, other;
  const auto ours = one.take(1);
  REQUIRE(ours.size() == 1);
  if (one.cores() > 1 && !one.shared(ours)) {
    const auto theirs = other.take(1);
    if (!other.shared(theirs)) CHECK(one.processors(ours) != other.processors(theirs));
    other.give_back(theirs);
  }
  // All there are: ours among them, which is said.
  const auto all = other.take(other.cores());
  CHECK(static_cast<int>(all.size()) == other.cores());
  CHECK(other.shared(all));
  other.give_back(all);
  CHECK(other.has(other.cores()));
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
