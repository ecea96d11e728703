// Many small problems at once against one by one, those of the sequence or folder that the
// environment variable CCPBENCH_MICRO_BATCH names, to a residual of 1e-6. Both with all that
// depends on the problem: arrays on the device, setup, the solve. One by one they take as many
// iterations as the batch has taken, and nobody looks.
#include <cstdlib>

#include "harness/micro/micro.hpp"
#include "harness/run/batch.hpp"
#include "solvers/batch/methods.hpp"
#include "solvers/registry.hpp"

namespace {

using namespace ccp;

/// What CCPBENCH_MICRO_BATCH names; nothing where it is not set.
const std::vector<BatchProblem>& problems() {
  static const std::vector<BatchProblem> all = [] {
    const char* source = std::getenv("CCPBENCH_MICRO_BATCH");
    return source ? read_batch({source}, {}) : std::vector<BatchProblem>();
  }();
  return all;
}

std::vector<Info> solve_at_once(const std::string& solver_id) {
  std::vector<const ContactProblem*> hosts;
  for (const BatchProblem& given : problems()) hosts.push_back(&given.problem);
  const Batch batch(hosts);
  const auto solver = make_batch_solver({solver_id, {}});
  solver->setup(batch);
  const VectorView gamma("ccp::micro::gamma", 3 * batch.host().contacts());
  BatchStop stop;
  stop.residual = 1e-6;
  return solver->solve(stop, gamma);
}

void batch_at_once(benchmark::State& state, const std::string& id) {
  if (problems().empty()) return state.SkipWithError("CCPBENCH_MICRO_BATCH is not set");
  for (auto _ : state) solve_at_once(id);
}

void batch_one_by_one(benchmark::State& state, const std::string& id) {
  if (problems().empty()) return state.SkipWithError("CCPBENCH_MICRO_BATCH is not set");
  const std::vector<Info> known = solve_at_once(id);
  long outer = 0, missed = 0;
  for (const Info& info : known) {
    outer += info.counters.outer;
    missed += info.status != Status::stopped_by_observer;
  }
  for (auto _ : state) {
    for (std::size_t k = 0; k < known.size(); ++k) {
      const Problem problem(problems()[k].problem);
      const auto solver = make_solver({id, {}});
      solver->setup(problem);
      Vector gamma(problem.map(), 1);
      IterationLimit limit(known[k].counters.outer);
      solver->solve(gamma, limit);
    }
    fence();
  }
  state.counters["outer"] = static_cast<double>(outer) / static_cast<double>(known.size());
  state.counters["missed"] = static_cast<double>(missed);
}

BENCHMARK_CAPTURE(batch_at_once, pgs, "pgs")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(batch_one_by_one, pgs, "pgs")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(batch_at_once, apgd, "apgd")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(batch_one_by_one, apgd, "apgd")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(batch_at_once, vipm, "vipm")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(batch_one_by_one, vipm, "vipm")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
