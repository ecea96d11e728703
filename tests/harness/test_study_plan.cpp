// The runs that a study makes, their resume keys and the names of their files.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "harness/run/result_file.hpp"
#include "harness/run/start.hpp"
#include "harness/study/runner.hpp"
#include "harness/study/study.hpp"
#include "tests/harness/study_support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

std::vector<std::string> keys_of(const Study& study) {
  std::vector<std::string> keys;
  for (const PlannedRun& run : plan(study)) keys.push_back(run.key);
  return keys;
}

}  // namespace

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
      text += options_of(run.request)[0].value + " ";
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
  CHECK(names == std::set<std::string>{
                     "instance",   "solver",     "options",    "threads",      "ranks",    "jobs",
                     "referee",    "repetition", "time_limit", "memory_limit", "stop",     "start",
                     "targets",    "warm_up",    "bare",       "commit",       "compiler", "flags",
                     "build_type", "backend",    "trilinos",   "program",      "host",     "cpu",
                     "gpu",        "cores"});
  const std::string path = folder.file("r.h5"), row = folder.file("row");
  StudyStamp stamp;
  stamp.failure = Status::crashed;
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

TEST_CASE("one solver has one name, one file and one key, however it is spelled") {
  const Folder folder;
  const auto only = [&](const std::string& solver, const std::string& start) {
    return plan(folder.read("name: a\nproblems: [stack.h5]\nsolvers: [" + solver + "]\nstarts: ['" +
                            start + "']\n"))
        .at(0);
  };
  const std::vector<std::pair<std::vector<std::string>, std::string>> same = {
      {{"pgj", "'pgj[omega=0.3]'", "'pgj[omega=0.30]'", "'pgj[omega=3e-1,lambda=1]'", "'pgj[]'",
        "'pgj[law=convex]'", "pgj: {omega: 0.3}"},
       "pgj"},
      {{"'pgj[lambda=0.50,omega=2e-1]'", "'pgj[omega=0.2,lambda=0.5]'",
        "pgj: {check_interval: 50, lambda: 0.5, omega: 0.2}"},
       "pgj[omega=0.2,lambda=0.5]"},
      {{"ipm", "'ipm[preconditioner=block_diagonal,krylov=cg]'"}, "ipm"},
      {{"'vipm[preconditioner=block_jacobi]'", "'vipm[preconditioner=block_diagonal]'"},
       "vipm[preconditioner=block_diagonal]"}};
  for (const auto& [spellings, text] : same) {
    const PlannedRun first = only(spellings[0], "cold");
    for (const std::string& spelling : spellings) {
      INFO(spelling);
      const PlannedRun run = only(spelling, "cold");
      CHECK(run.request.solver.text() == text);
      CHECK(run.key == first.key);
      CHECK(run.file_name == first.file_name);
    }
  }
  for (const auto& [spellings, text] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"reference", "reference*1.0"}, "reference"},
           {{"reference*0.50", "reference*5e-1"}, "reference*0.5"}}) {
    const PlannedRun first = only("pgj", spellings[0]);
    for (const std::string& spelling : spellings) {
      const PlannedRun run = only("pgj", spelling);
      CHECK(run.request.start == text);
      CHECK(run.key == first.key);
      CHECK(run.file_name == first.file_name);
    }
  }
  for (const char* start : {"history", "history[beta=0.85]", "previous*0.850"}) {
    CHECK(canonical_start(start, "") == "history");
  }
  CHECK(canonical_start("history[beta=1]", "") == "previous");
  CHECK(canonical_start("history[beta=0.5]", "") == "previous*0.5");
  // Both in one study are one solver twice, and the message says of what.
  check_parts(
      folder.complaint("name: a\nproblems: [stack.h5]\nsolvers: [pgj, 'pgj[omega=0.30]']\n"),
      {"line 3, column 16, solvers: expected each entry once, found 'pgj[omega=0.30]', which "
       "is pgj"});
  check_parts(folder.complaint(smallest + "starts: [cold, reference, 'reference*1']\n"),
              {"starts: expected each entry once, found 'reference*1'"});
}

TEST_CASE("a result that was named by the study's own spelling is kept, under the one name") {
  const Folder folder;
  const Study study =
      folder.read("name: a\nproblems: [stack.h5]\nsolvers: ['pgj[omega=0.30,lambda=0.5]']\n");
  const PlannedRun run = plan(study).at(0);
  check_begins(run.former_name, "stack__pgj_omega-0.30_lambda-0.5__t1__r1__");
  check_begins(run.file_name, "stack__pgj_lambda-0.5__t1__r1__");
  RunRequest before = run.request;
  before.solver = SolverSpec::parse("pgj[omega=0.30,lambda=0.5]");
  RunResult result = some_result();
  result.solver = before.solver.text();
  StudyRunOptions options;
  options.output = folder.file("results");
  options.program = "false";
  std::filesystem::create_directory(options.output);
  write_checkpoint(folder.file("row"), before, result);
  StudyStamp stamp;
  stamp.key = run.key;
  stamp.key_parts = run.key_parts;
  const std::string former = options.output + "/" + run.former_name;
  stamp_result(folder.file("row"), former, stamp);

  StudyListener nobody;
  check_parts(error_of([&] { run_study(study, options, nobody); }),
              {former, "expected no result of that name"});
  options.resume = true;
  const StudyOutcome outcome = run_study(study, options, nobody);
  CHECK(outcome.skipped == 1);
  CHECK_FALSE(std::filesystem::exists(former));
  const ResultSummary kept = read_result(options.output + "/" + run.file_name);
  CHECK(kept.solver == "pgj[lambda=0.5]");
  CHECK(kept.key == run.key);
  CHECK(read_request(options.output + "/" + run.file_name)->solver.text() == "pgj[lambda=0.5]");
}

TEST_CASE("a stop that a problem has no reference for is refused before the work") {
  const Folder folder;
  ContactProblem bare = make_scene("stack");
  bare.mu[0] *= 2;
  bare.reference.reset();
  write_problem(folder.file("bare.h5"), bare, false);
  const std::string rest = "solvers: [pgj]\nstop: error=1e-3,velocity=1e-4\n";
  CHECK(plan(folder.read("name: a\nproblems: [stack.h5]\n" + rest)).size() == 1);
  const Study study = folder.read("name: a\nproblems: [stack.h5, bare.h5]\n" + rest);
  check_parts(
      error_of([&] { plan(study); }),
      {folder.file("bare.h5"), "expected a reference solution", "stop velocity of study a"});
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
