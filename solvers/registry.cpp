#include "solvers/registry.hpp"

#include <algorithm>

#include "problems/base/error.hpp"
#include "solvers/admm/admm.hpp"
#include "solvers/apgd/apgd.hpp"
#include "solvers/bb/bb.hpp"
#include "solvers/ipm/ipm.hpp"
#include "solvers/lcp/lcp.hpp"
#include "solvers/pgj/pgj.hpp"
#include "solvers/pgs/pgs.hpp"
#include "solvers/pqn/pqn.hpp"
#include "solvers/ssn/ssn.hpp"
#include "solvers/vipm/vipm.hpp"

namespace ccp {
namespace {

std::vector<SolverEntry>& entries() {
  static std::vector<SolverEntry> table = {
      {"pgj",
       {"convex"},
       {"bodies", "assembled", "compliant"},
       true,
       "projected Gauss-Jacobi (Tasora and Anitescu)",
       make<PgjSolver>},
      {"pgs",
       {"convex", "coulomb"},
       {"bodies", "assembled", "compliant"},
       true,
       "projected Gauss-Seidel, contact by contact or colour by colour",
       make<PgsSolver>},
      {"apgd",
       {"convex"},
       {"bodies", "assembled", "compliant"},
       true,
       "accelerated projected gradient descent (Nesterov; Mazhar et al.)",
       make<ApgdSolver>},
      {"bb",
       {"convex"},
       {"bodies", "assembled", "compliant"},
       true,
       "spectral projected gradient method (Barzilai and Borwein; Birgin et al.)",
       make<BbSolver>},
      {"ipm",
       {"convex"},
       {"bodies", "assembled", "compliant"},
       false,
       "interior-point method with inexact Krylov directions (Kleinert, Simeon and Obermayr)",
       make<IpmSolver>},
      {"admm",
       {"convex"},
       {"bodies", "assembled"},
       true,
       "alternating direction method of multipliers with one sparse factorisation",
       make<AdmmSolver>},
      {"pqn",
       {"coulomb", "convex"},
       {"bodies", "assembled", "compliant"},
       true,
       "projected quasi-Newton method with inexact GMRES steps (Koziara)",
       make<PqnSolver>},
      {"ssn",
       {"convex"},
       {"bodies"},
       true,
       "augmented Lagrangian with semismooth Newton steps in body-velocity space",
       make<SsnSolver>},
      {"vipm",
       {"convex"},
       {"bodies", "assembled", "compliant"},
       true,
       "predictor-corrector interior-point method in body-velocity space",
       make<VipmSolver>},
      {"lcp",
       {"coulomb", "convex"},
       {"bodies", "assembled"},
       false,
       "polyhedral friction by Lemke's method: the Coulomb LCP, or its convex relaxation",
       make<LcpSolver>},
  };
  return table;
}

bool solves(const SolverEntry& entry, const std::string& law) {
  return std::find(entry.laws.begin(), entry.laws.end(), law) != entry.laws.end();
}

/// A law that the solver does not know, asked of it, is worth more than "unknown option 'law'".
void refuse_other_laws(const SolverEntry& entry, const SolverSpec& spec) {
  for (const auto& [name, value] : spec.options) {
    if (name != "law" || solves(entry, value)) continue;
    std::string others;
    for (const SolverEntry& other : solver_entries()) {
      if (solves(other, value)) others += (others.empty() ? "" : ", ") + other.id;
    }
    throw InputError("solver " + entry.id, "law",
                     entry.laws.size() == 1 ? entry.laws.front() + ", the only one it solves"
                                            : "one of those it solves",
                     value + (others.empty() ? "" : ", which is solved by " + others));
  }
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
  const SolverEntry& entry = solver_entry(spec.id);
  auto solver = entry.make();
  refuse_other_laws(entry, spec);
  OptionList options = solver->options();
  std::vector<std::string> given;
  for (const auto& [name, value] : spec.options) {
    if (name == "law" && entry.laws.size() == 1) continue;  // the one it has
    options.set(name, value);
    given.push_back(name);
  }
  solver->check_options(given);
  return solver;
}

std::string why_unsupported(const SolverEntry& entry, const ContactProblem& problem) {
  const auto takes = [&](const char* kind) {
    return std::find(entry.forms.begin(), entry.forms.end(), kind) != entry.forms.end();
  };
  const char* form = problem.form == ContactProblem::Form::bodies ? "bodies" : "assembled";
  if (!takes(form)) return entry.id + " does not take problems in " + form + " form";
  if (problem.is_compliant() && !takes("compliant")) {
    return entry.id + " does not take problems with compliant contacts (/contacts/compliance)";
  }
  return "";
}

bool supports(const SolverEntry& entry, const ContactProblem& problem) {
  return why_unsupported(entry, problem).empty();
}

}  // namespace ccp
