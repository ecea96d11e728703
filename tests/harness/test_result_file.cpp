// Result files and checkpoints.
#include "harness/run/result_file.hpp"

#include <hdf5.h>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "problems/base/hdf5_file.hpp"
#include "tests/harness/study_support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

TEST_CASE("a result survives the file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  write_result(path, some_request(), some_result(), "the key", false);
  CHECK(folder.names() == std::vector<std::string>{"r.h5"});
  const ResultSummary summary = read_result(path);
  CHECK(summary.instance == "stack");
  CHECK(summary.solver == "pgj[omega=0.2]");
  CHECK(summary.status == Status::time_limit);
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
  crashed.status = Status::crashed;
  write_result(folder.file("r.h5"), some_request(), crashed, "", false);
  CHECK(read_result(folder.file("r.h5")).status == Status::crashed);
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
  request.recorder.budget = 1e9;  // every iterate is looked at, however long looks take
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
    CHECK(so_far.status == Status::running);
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

TEST_CASE("a result says how good the reference is that it was measured against") {
  const Folder folder;
  ContactProblem stack = make_scene("stack");
  const auto residual_of = [&] {
    write_problem(folder.file("stack.h5"), stack, true);
    RunRequest request;
    request.problem_file = folder.file("stack.h5");
    request.solver = SolverSpec::parse("pgj");
    write_result(folder.file("r.h5"), request, run(request, ""), "", true);
    return Hdf5File::open(folder.file("r.h5")).number_attribute("/instance", "reference_residual");
  };
  stack.reference->measures["residual"] = 3e-11;
  CHECK(residual_of() == std::vector<double>{3e-11});
  stack.reference->measures.clear();
  CHECK_FALSE(residual_of().has_value());
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
  CHECK(check_result(path).status == Status::time_limit);
  check_parts(complaint([](RunResult& r) { r.status = Status::running; }),
              {"root attribute status: expected that of a run that has ended, found 'running'"});
  check_parts(complaint([](RunResult& r) { r.stop_reached = true; }),
              {"root attribute stop_reached: expected 0, as /final has it, found 1"});
  RunRequest twice = some_request();  // the last residual is 6.3, the last cost 0.3
  twice.recorder.stop = {{Measure::cost, 0.5}, {Measure::residual, 6}};
  write_result(path, twice, good, "", true);
  CHECK_FALSE(check_result(path).stop_reached);
  twice.recorder.stop[1].value = 7;
  write_result(path, twice, good, "", true);
  check_parts(error_of([&] { check_result(path); }),
              {"root attribute stop_reached: expected 1, as /final has it, found 0"});
  CHECK(Hdf5File::open(path).string_attribute("/", "stop") == "cost=0.5,residual=7");
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
