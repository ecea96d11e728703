// Speed of the kernels every solver rests on, beside the bytes each must move. The environment
// picks the problem: CCPBENCH_MICRO_PROBLEM (file or catalogue name; default test-problem-3, 43,409
// contacts), and CCPBENCH_MICRO_COPIES as many of it, beside each other.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>

#include "harness/measure/referee.hpp"
#include "harness/micro/micro.hpp"
#include "harness/run/provenance.hpp"
#include "problems/base/error.hpp"
#include "solvers/registry.hpp"

namespace {

using namespace ccp;
using namespace ccp::micro;

// What memory can do at this size: the bytes of the product below, half of them read, half written.
void copy(benchmark::State& state) {
  const std::size_t length = 7 * host().contacts();
  const VectorView from("ccp::micro::from", length), to("ccp::micro::to", length);
  measure(state, 112, [&] {
    Kokkos::parallel_for(
        "ccp::micro::copy", range(length), KOKKOS_LAMBDA(int i) { to(i) = from(i); });
  });
}
BENCHMARK(copy)->Unit(benchmark::kMicrosecond);

// p twice (once per side) and its numbers, body velocities out and in, body numbers, the product.
void delassus_apply(benchmark::State& state) {
  const auto n = device().delassus();
  Vector x(device().map(), 1), y(device().map(), 1);
  x.putScalar(1);
  measure(state, 112, [&] { n->apply(x, y); });
}
BENCHMARK(delassus_apply)->Unit(benchmark::kMicrosecond);

/// A hundred iterations of a solver from gamma = 0, without its setup.
void iterations(benchmark::State& state, const char* spec, double bytes) {
  constexpr int count = 100;
  const auto solver = make_solver(SolverSpec::parse(spec));
  solver->setup(device());
  const auto solve = [&] {
    Vector gamma(device().map(), 1);
    IterationLimit limit(count);
    solver->solve(gamma, limit);
  };
  measure(state, bytes, solve, count);
}

// The product's 112 bytes with p also read and written in place of the result, r, normal, step, mu.
BENCHMARK_CAPTURE(iterations, pgj, "pgj", 200)->Unit(benchmark::kMillisecond);
// p read and written, a record of 96 bytes, bodies, and two body velocities read and written.
BENCHMARK_CAPTURE(iterations, pgs_sequential, "pgs", 152)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(iterations, pgs_colored, "pgs[sweep=colored]", 152)
    ->Unit(benchmark::kMillisecond);
// pgj's with two impulses read and one written, and the metric's four numbers in place of a step.
BENCHMARK_CAPTURE(iterations, apgd, "apgd", 248)->Unit(benchmark::kMillisecond);
// Impulse and direction read and written.
BENCHMARK_CAPTURE(iterations, bb, "bb[step=bb1]", 272)->Unit(benchmark::kMillisecond);

// The whole Krylov iteration of ipm: A x, preconditioner and Belos' vector work, taken as the time
// Belos spends in the first 20 outer iterations divided by the iterations it makes.
void ipm_krylov_iteration(benchmark::State& state) {
  const auto solver =
      make_solver(SolverSpec::parse("ipm[krylov=cg,preconditioner=block_diagonal]"));
  solver->setup(device());
  Vector gamma(device().map(), 1);
  double krylov = 0, seconds = 0;
  for (auto _ : state) {
    IterationLimit limit(20);
    const Info info = solver->solve(gamma, limit);
    krylov += static_cast<double>(info.counters.krylov);
    seconds += info.timers.at("krylov");
  }
  const double bytes = 112 + 104 + 96 + 14 * 24;  // N p, P and R, preconditioner, 14 vector streams
  report(state, krylov, bytes, seconds);
}
BENCHMARK(ipm_krylov_iteration)->Unit(benchmark::kMillisecond)->Iterations(1);

void referee(benchmark::State& state) {
  Referee judge(device());
  Vector gamma(device().map(), 1);
  gamma.putScalar(0.01);
  measure(state, 208, [&] { benchmark::DoNotOptimize(judge.measure(gamma)); });
}
BENCHMARK(referee)->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const char* threads = std::getenv("OMP_NUM_THREADS");
  const ccp::KokkosSession kokkos(threads ? std::atoi(threads) : 1);
  try {
    for (const auto& [name, value] :
         ccp::collect_provenance(ccp::backend_threads(), argv[0]).entries()) {
      benchmark::AddCustomContext(name, value);
    }
    benchmark::AddCustomContext("problem", fmt::format("{}, {} contacts", ccp::micro::host().name,
                                                       ccp::micro::host().contacts()));
    benchmark::RunSpecifiedBenchmarks();
  } catch (const ccp::InputError& fault) {
    fmt::print(stderr, "ccpbench-micro: {}\n", fault.what());
    return 1;
  }
  return 0;
}
