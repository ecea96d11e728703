#pragma once

#include <string>
#include <vector>

#include "harness/run/run.hpp"

namespace ccp {

/// s of wall time beyond the time limit, for starting, reading and writing.
inline constexpr double external_grace = 5;

/// The words of a command line: separated by blanks, 'quoted' or "quoted" where they hold some.
/// @throws InputError for a quote that does not end
std::vector<std::string> split_command(const std::string& command, const std::string& where);
/// A text that split_command makes the same words of.
std::string join_command(const std::vector<std::string>& words);

/// Its tolerances with commas between them.
std::string tolerances_text(const ExternalSolver& solver);

/// Checks what can be checked without running it: a name that is none of our solvers', known
/// placeholders ({output} at least), tolerances > 0 that {tolerance} uses. Puts the tolerances in
/// order, loosest first. @throws InputError naming `where`
void check_external(ExternalSolver& solver, const std::string& where);

/// What of it decides on a result: command and tolerances, law, and the digests of files that its
/// words name.
std::string external_identity(const ExternalSolver& solver);

/// run() for a program of somebody else (request.external). For each tolerance, loosest first (or
/// once, if there are none), it is started with the placeholders of its command replaced, timed,
/// and killed at the time limit plus `external_grace`. What it wrote is measured by our referee,
/// who is not running meanwhile. See docs/add-an-external-solver.md.
///
/// What does not end well is a status: "time_limit" when it was killed for its time,
/// "out_of_memory" above request.memory_limit, "crashed" when it ended with another exit code than
/// 0, by a signal, or without a gamma that fits. A rung of the ladder that fails ends the ladder;
/// the answer is then that of the rung before.
RunResult run_external(const RunRequest& request, const std::string& command_line,
                       const RunWatch& watch);

}  // namespace ccp
