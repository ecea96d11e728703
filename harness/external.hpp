#pragma once

#include <string>
#include <vector>

#include "harness/run.hpp"

namespace ccp {

/// The words of a command line: separated by blanks, 'quoted' or "quoted" where they hold some.
/// @throws InputError for a quote that does not end
std::vector<std::string> split_command(const std::string& command);

/// Checks what can be checked without running it. @throws InputError naming `where`
void check_external(const ExternalSolver& solver, const std::string& where);

/// run() for a program of somebody else (request.external). For each tolerance, loosest first (or
/// once, if there are none), it is started with the placeholders of its command replaced, timed,
/// and killed at the time limit plus `external_grace`; what it wrote is measured by our referee.
/// See docs/add-an-external-solver.md.
///
/// What does not end well is a status: "time_limit" when killed, "crashed" when it ends with
/// another exit code than 0, by a signal, or without a gamma that fits, "out_of_memory" above
/// request.memory_limit. A rung of the ladder that fails ends the ladder; the answer is the last
/// one there was.
RunResult run_external(const RunRequest& request, const std::string& command_line,
                       const RunWatch& watch = {});

/// s of wall time beyond the time limit, for starting, reading and writing.
inline constexpr double external_grace = 5;

}  // namespace ccp
