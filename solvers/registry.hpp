#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solvers/core/feature.hpp"
#include "solvers/core/solver.hpp"

namespace ccp {

using Form = ContactProblem::Form;

/// One row of the solver table.
struct SolverEntry {
  std::string id;
  std::vector<Law> laws;          ///< convex: the CCP; coulomb: with the De Saxce term
  std::vector<Form> forms;        ///< of problems that it takes
  std::vector<Feature> features;  ///< what it can do beyond plain contacts on one rank
  bool warm_start;                ///< uses the initial guess
  std::string summary;
  std::unique_ptr<Solver> (*make)();

  bool solves(Law law) const;
  bool takes(Form form) const;
  bool has(Feature feature) const;
};

/// What stands in a row as `make`, with the solver's class.
template <class S>
std::unique_ptr<Solver> make() {
  return std::make_unique<S>();
}

/// All solvers. Adding one is one line in registry.cpp.
const std::vector<SolverEntry>& solver_entries();

/// Adds a row at run time: for programs with solvers of their own (tests/consumer), and for tests,
/// whose solvers misbehave on purpose.
void add_solver(SolverEntry entry);

/// @throws InputError for an unknown id, with the nearest known one
const SolverEntry& solver_entry(const std::string& id);

/// A solver with the options of the spec set. @throws InputError for an unknown id, a bad option,
/// options that contradict each other or a law that it does not solve (law=coulomb)
std::unique_ptr<Solver> make_solver(const SolverSpec& spec);

/// The one spelling of a solver as it is set: the options that are not at their defaults, in the
/// order of the solver's list, with values as that list writes them.
/// @throws InputError as make_solver
SolverSpec canonical_solver(const SolverSpec& spec);
/// The same of a preconditioner, by its id where it has an alias. @throws InputError
SolverSpec canonical_preconditioner(const SolverSpec& spec);

/// What the problem has that a solver must be able to do.
std::vector<Feature> features_of(const ContactProblem& problem);

/// What a problem with it has, in words: where it is in the file.
std::string words_of(Feature feature);

/// Why the solver does not take the problem (its form, one of its features), in one sentence; "" if
/// it does. Asked before any work.
std::string why_unsupported(const SolverEntry& entry, const ContactProblem& problem);

/// The same of a solver with its options. @throws InputError as make_solver does
std::string why_unsupported(const SolverSpec& spec, const ContactProblem& problem);

/// Why the solver does not run on several ranks; "" if it does.
std::string why_unsupported_on_ranks(const SolverSpec& spec);

/// Whether the solver takes the problem.
bool supports(const SolverEntry& entry, const ContactProblem& problem);
bool supports(const SolverSpec& spec, const ContactProblem& problem);

}  // namespace ccp
