#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solvers/core/solver.hpp"

namespace ccp {

/// One row of the solver table.
struct SolverEntry {
  std::string id;
  std::vector<std::string> laws;   ///< "convex" (the CCP), "coulomb" (with the De Saxce term)
  std::vector<std::string> forms;  ///< problem forms it takes: "bodies", "assembled"
  bool warm_start;                 ///< uses the initial guess
  std::string summary;
  std::unique_ptr<Solver> (*make)();
};

/// All solvers. Adding one is one line in registry.cpp.
const std::vector<SolverEntry>& solver_entries();

/// Adds a row while the program runs: for tests, whose solvers misbehave on purpose.
void add_solver(SolverEntry entry);

/// @throws InputError for an unknown id, with the nearest known one
const SolverEntry& solver_entry(const std::string& id);

/// A solver with the options of the spec set. @throws InputError for an unknown id, a bad option,
/// options that contradict each other or a law that it does not solve (law=coulomb)
std::unique_ptr<Solver> make_solver(const SolverSpec& spec);

/// Whether the solver takes problems of this form.
bool supports(const SolverEntry& entry, const ContactProblem& problem);

}  // namespace ccp
