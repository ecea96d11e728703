#include "tests/harness/study_support.hpp"

#include <cmath>

namespace ccp::test {

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
  result.form = Form::bodies;
  result.contacts = 2;
  result.solver = "pgj[omega=0.2]";
  result.law = Law::convex;
  result.options = {{"omega", "0.2", "", ""}};
  result.status = Status::time_limit;
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
    for (const Measure m : all_measures()) {
      sample.measures[m] = static_cast<double>(m) + 0.1 * i;
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

}  // namespace ccp::test
