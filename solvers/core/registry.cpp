#include "solvers/core/registry.hpp"

#include <algorithm>

#include "problems/error.hpp"
#include "solvers/ipm/ipm.hpp"
#include "solvers/lcp/lcp.hpp"
#include "solvers/pgj/pgj.hpp"
#include "solvers/vipm/vipm.hpp"

namespace ccp {
namespace {

template <class S>
std::unique_ptr<Solver> make() {
  return std::make_unique<S>();
}

std::vector<SolverEntry>& entries() {
  static std::vector<SolverEntry> table = {
      {"pgj",
       "convex",
       {"bodies", "assembled"},
       true,
       "projected Gauss-Jacobi (Tasora and Anitescu)",
       make<PgjSolver>},
      {"ipm",
       "convex",
       {"bodies", "assembled"},
       false,
       "interior-point method with inexact Krylov directions (Kleinert, Simeon and Obermayr)",
       make<IpmSolver>},
      {"vipm",
       "convex",
       {"bodies"},
       true,
       "predictor-corrector interior-point method in body-velocity space",
       make<VipmSolver>},
      {"lcp",
       "coulomb",
       {"bodies", "assembled"},
       false,
       "polyhedral friction by Lemke's method: the Coulomb LCP, or its convex relaxation",
       make<LcpSolver>},
  };
  return table;
}

}  // namespace

const std::vector<SolverEntry>& solver_entries() {
  return entries();
}

void add_solver(SolverEntry entry) {
  entries().push_back(std::move(entry));
}

const SolverEntry& solver_entry(const std::string& id) {
  std::vector<std::string> ids;
  for (const SolverEntry& entry : solver_entries()) {
    if (entry.id == id) return entry;
    ids.push_back(entry.id);
  }
  throw InputError("unknown solver '" + id + "'" + did_you_mean(id, ids) +
                   " (`ccpbench list solvers` shows all)");
}

std::unique_ptr<Solver> make_solver(const SolverSpec& spec) {
  auto solver = solver_entry(spec.id).make();
  OptionList options = solver->options();
  std::vector<std::string> given;
  for (const auto& [name, value] : spec.options) {
    options.set(name, value);
    given.push_back(name);
  }
  solver->check_options(given);
  return solver;
}

bool supports(const SolverEntry& entry, const ContactProblem& problem) {
  const char* form = problem.form == ContactProblem::Form::bodies ? "bodies" : "assembled";
  return std::find(entry.forms.begin(), entry.forms.end(), form) != entry.forms.end();
}

}  // namespace ccp
