#pragma once

#include "harness/run/result.hpp"

namespace ccp {

/// run() for a program of somebody else (request.external). For each tolerance, loosest first (or
/// once, if there are none), it is started with the placeholders of its command replaced, timed,
/// and killed at the time limit plus `external_grace`. What it wrote is measured by our referee,
/// who is not running meanwhile. See docs/add-an-external-solver.md.
///
/// What does not end well is a status: time_limit when it was killed for its time, out_of_memory
/// above request.memory_limit, crashed when it ended with another exit code than 0, by a signal, or
/// without a gamma that fits. A rung of the ladder that fails ends the ladder; the answer is then
/// that of the rung before.
RunResult run_external(const RunRequest& request, const std::string& command_line,
                       const RunWatch& watch);

}  // namespace ccp
