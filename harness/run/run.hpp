#pragma once

#include <string>

#include "harness/run/result.hpp"
#include "solvers/core/ranks.hpp"

namespace ccp {

/// Reads the problem, sets the solver up, solves under the eyes of a Recorder. Kokkos must be
/// running.
///
/// The warm-up is the same work for every solver and bounded: two outer iterations of the solver on
/// a scene of three contacts, which load its code and start its threads, then products with the
/// problem's N until `warm_up` seconds are over, which wake the processor.
///
/// On several ranks it is collective, and all get the same result, but for the impulses, which rank
/// 0 has; times are those of rank 0, memory is that of all. Only rank 0's watch is called.
///
/// @throws InputError for bad input; numerical trouble is a status in the result
RunResult run(const RunRequest& request, const std::string& command_line,
              const RunWatch& watch = {}, const Ranks& ranks = Ranks());

}  // namespace ccp
