#pragma once

#include <benchmark/benchmark.h>

#include "solvers/core/problem.hpp"

/// What the benchmarks of ccpbench-micro share.
namespace ccp::micro {

/// The problem that CCPBENCH_MICRO_PROBLEM names, as often as CCPBENCH_MICRO_COPIES says, on the
/// host and on the device.
const ContactProblem& host();
const Problem& device();

/// Reports time and bytes per contact: `bytes` is what one item must move at least.
void report(benchmark::State& state, double items, double bytes);

}  // namespace ccp::micro
