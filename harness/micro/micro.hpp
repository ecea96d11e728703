#pragma once

#include <benchmark/benchmark.h>

#include "solvers/core/problem.hpp"

/// What the benchmarks of ccpbench-micro share.
namespace ccp::micro {

/// The problem that CCPBENCH_MICRO_PROBLEM names, as often as CCPBENCH_MICRO_COPIES says, on the
/// host and on the device.
const ContactProblem& host();
const Problem& device();

/// Time that this thread has had of a processor, which other work does not lengthen.
double processor_seconds();

/// Reports time and bytes per contact, and which share that is of a triad, a = b + 3 c, whose three
/// arrays take as many bytes together: what memory can do at that size, be it a cache.
/// @param items    done in those seconds
/// @param bytes    per contact, that one item must move at least
void report(benchmark::State& state, double items, double bytes, double seconds);

/// Times kernel(), which does so many items at a time, and reports.
template <class Kernel>
void measure(benchmark::State& state, double bytes, const Kernel& kernel, double items = 1) {
  const double start = processor_seconds();
  for (auto _ : state) {
    kernel();
    fence();
  }
  report(state, items * static_cast<double>(state.iterations()), bytes,
         processor_seconds() - start);
}

}  // namespace ccp::micro
