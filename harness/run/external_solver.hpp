#pragma once

#include <string>
#include <vector>

#include "solvers/core/feature.hpp"
#include "solvers/core/law.hpp"

namespace ccp {

/// A program of somebody else as a solver; docs/add-an-external-solver.md.
struct ExternalSolver {
  std::string name;
  std::vector<std::string> command;  ///< words with placeholders: {problem}, {output}, ...
  std::string folder;                ///< where it is started; "": where we are
  Law law = Law::convex;             ///< that it says it solves
  std::vector<double> tolerances;    ///< it is started for each; empty: once
  std::vector<Feature> features;     ///< what of problems it takes beyond plain contacts
  std::vector<std::string> depends;  ///< files (or patterns, below `folder`) that it reads as well
};

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

/// Its features, and what it depends on, with commas between them.
std::string features_text(const ExternalSolver& solver);
std::string depends_text(const ExternalSolver& solver);

/// What of it decides on a result: command and tolerances, law, features, and the digests of files
/// that its words name or that it depends on. @throws InputError for a dependency that matches none
std::string external_identity(const ExternalSolver& solver);

}  // namespace ccp
