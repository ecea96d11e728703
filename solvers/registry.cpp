#include "solvers/registry.hpp"

#include <algorithm>

#include "problems/base/error.hpp"
#include "solvers/admm/admm.hpp"
#include "solvers/apgd/apgd.hpp"
#include "solvers/auto/auto.hpp"
#include "solvers/bb/bb.hpp"
#include "solvers/core/limited_on_ranks.hpp"
#include "solvers/coulomb/coulomb.hpp"
#include "solvers/ipm/ipm.hpp"
#include "solvers/lcp/lcp.hpp"
#include "solvers/pgj/pgj.hpp"
#include "solvers/pgs/pgs.hpp"
#include "solvers/pqn/pqn.hpp"
#include "solvers/preconditioners/preconditioner.hpp"
#include "solvers/sap/sap.hpp"
#include "solvers/ssn/ssn.hpp"
#include "solvers/vipm/vipm.hpp"

namespace ccp {
namespace {

/// A solver that works with others gets them from the table that it is in itself.
template <class T>
std::unique_ptr<Solver> make_with_others() {
  return std::make_unique<T>(
      InnerSolvers{[](const SolverSpec& inner) { return make_solver(inner); },
                   [](const SolverSpec& inner, const ContactProblem& problem) {
                     return why_unsupported(inner, problem);
                   }});
}

std::vector<SolverEntry>& entries() {
  static std::vector<SolverEntry> table = {
      {"pgj",
       {Law::convex},
       {Form::bodies, Form::assembled},
       {Feature::compliant, Feature::rolling, Feature::equality, Feature::distributed,
        Feature::device},
       true,
       "projected Gauss-Jacobi (Tasora and Anitescu)",
       make<PgjSolver>},
      {"pgs",
       {Law::convex, Law::coulomb},
       {Form::bodies, Form::assembled},
       {Feature::compliant, Feature::rolling, Feature::equality, Feature::distributed},
       true,
       "projected Gauss-Seidel, contact by contact or colour by colour",
       make<PgsSolver>},
      {"apgd",
       {Law::convex},
       {Form::bodies, Form::assembled},
       {Feature::compliant, Feature::rolling, Feature::equality, Feature::distributed,
        Feature::device},
       true,
       "accelerated projected gradient descent (Nesterov; Mazhar et al.)",
       make<ApgdSolver>},
      {"bb",
       {Law::convex},
       {Form::bodies, Form::assembled},
       {Feature::compliant, Feature::rolling, Feature::equality, Feature::distributed,
        Feature::device},
       true,
       "spectral projected gradient method (Barzilai and Borwein; Birgin et al.)",
       make<BbSolver>},
      {"ipm",
       {Law::convex},
       {Form::bodies, Form::assembled},
       {Feature::compliant, Feature::rolling, Feature::equality, Feature::distributed},
       false,
       "interior-point method with inexact Krylov directions (Kleinert, Simeon and Obermayr)",
       make<IpmSolver>},
      {"admm",
       {Law::convex},
       {Form::bodies, Form::assembled},
       {Feature::compliant, Feature::rolling, Feature::equality},
       true,
       "alternating direction method of multipliers with one sparse factorisation",
       make<AdmmSolver>},
      {"pqn",
       {Law::coulomb, Law::convex},
       {Form::bodies, Form::assembled},
       {Feature::compliant},
       true,
       "projected quasi-Newton method with inexact GMRES steps (Koziara)",
       make<PqnSolver>},
      {"sap",
       {Law::convex},
       {Form::bodies},
       {Feature::compliant},
       true,
       "unconstrained primal of compliant contacts, Newton with exact line search (Castro et al.)",
       make<SapSolver>},
      {"ssn",
       {Law::convex},
       {Form::bodies},
       {},
       true,
       "augmented Lagrangian with semismooth Newton steps in body-velocity space",
       make<SsnSolver>},
      {"vipm",
       {Law::convex},
       {Form::bodies, Form::assembled},
       {Feature::compliant, Feature::rolling, Feature::equality, Feature::distributed},
       true,
       "predictor-corrector interior-point method in body-velocity space",
       make<VipmSolver>},
      {"coulomb",
       {Law::coulomb},
       {Form::bodies, Form::assembled},
       {Feature::compliant},
       true,
       "Coulomb's law through a convex solver: a fixed point in the De Saxce term",
       make_with_others<CoulombSolver>},
      {"auto",
       {Law::convex, Law::coulomb},
       {Form::bodies, Form::assembled},
       {Feature::compliant, Feature::rolling, Feature::equality},
       true,
       "apgd as long as it promises to arrive first, then vipm; Coulomb's law by coulomb",
       make_with_others<AutoSolver>},
      {"lcp",
       {Law::coulomb, Law::convex},
       {Form::bodies, Form::assembled},
       {Feature::equality},
       false,
       "polyhedral friction by Lemke's method: the Coulomb LCP, or its convex relaxation",
       make<LcpSolver>},
  };
  return table;
}

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// The options whose values differ between two lists of one owner.
std::vector<std::pair<std::string, std::string>> differing(const OptionList& set,
                                                           const OptionList& standard) {
  std::vector<std::pair<std::string, std::string>> options;
  const auto values = set.entries(), defaults = standard.entries();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].value == defaults[i].value) continue;
    options.emplace_back(values[i].name, values[i].value);
  }
  return options;
}

/// The id of a preconditioner that is named by its alias; other texts as they are.
std::string without_alias(const std::string& name) {
  for (const PreconditionerEntry& entry : preconditioner_entries()) {
    if (!name.empty() && entry.alias == name) return entry.id;
  }
  return name;
}

/// A law that the solver does not know, asked of it, is worth more than "unknown option 'law'".
void refuse_other_laws(const SolverEntry& entry, const SolverSpec& spec) {
  for (const auto& [name, value] : spec.options) {
    if (name != "law") continue;
    const std::optional<Law> law = parse_enum<Law>(value);
    if (law && entry.solves(*law)) continue;
    std::string others;
    for (const SolverEntry& other : solver_entries()) {
      if (law && other.solves(*law)) others += (others.empty() ? "" : ", ") + other.id;
    }
    throw InputError("solver " + entry.id, "law",
                     entry.laws.size() == 1
                         ? to_string(entry.laws.front()) + ", the only one it solves"
                         : "one of those it solves",
                     value + (others.empty() ? "" : ", which is solved by " + others));
  }
}

}  // namespace

bool SolverEntry::solves(Law law) const {
  return contains(laws, law);
}
bool SolverEntry::takes(Form form) const {
  return contains(forms, form);
}
bool SolverEntry::has(Feature feature) const {
  return contains(features, feature);
}

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
    options.set(name, name == "preconditioner" ? without_alias(value) : value);
    given.push_back(name);
  }
  solver->check_options(given);
  return solver;
}

SolverSpec canonical_solver(const SolverSpec& spec) {
  const auto solver = make_solver(spec), standard = solver_entry(spec.id).make();
  return {spec.id, differing(solver->options(), standard->options())};
}

SolverSpec canonical_preconditioner(const SolverSpec& spec) {
  const PreconditionerEntry& entry = preconditioner_entry(spec.id);
  const auto preconditioner = make_preconditioner(spec), standard = entry.make();
  return {entry.id, differing(preconditioner->options(), standard->options())};
}

std::vector<Feature> features_of(const ContactProblem& problem) {
  std::vector<Feature> features;
  if (problem.is_compliant()) features.push_back(Feature::compliant);
  if (problem.has(ConstraintKind::rolling)) features.push_back(Feature::rolling);
  if (problem.has(ConstraintKind::equality)) features.push_back(Feature::equality);
  return features;
}

std::string words_of(Feature feature) {
  switch (feature) {
    case Feature::compliant:
      return "compliant contacts (/contacts/compliance)";
    case Feature::rolling:
      return "rolling resistance (/rolling)";
    case Feature::equality:
      return "equality constraints (/equality)";
    case Feature::distributed:
      return "several ranks";
    case Feature::device:
      return "a device";
  }
  return to_string(feature);
}

std::string why_unsupported(const SolverEntry& entry, const ContactProblem& problem) {
  if (!entry.takes(problem.form)) {
    return entry.id + " does not take problems in " + to_string(problem.form) + " form";
  }
  for (const Feature feature : features_of(problem)) {
    if (!entry.has(feature)) {
      return entry.id + " does not take problems with " + words_of(feature);
    }
  }
  return "";
}

std::string why_unsupported(const SolverSpec& spec, const ContactProblem& problem) {
  const std::string reason = why_unsupported(solver_entry(spec.id), problem);
  return reason.empty() ? make_solver(spec)->why_unsupported(problem) : reason;
}

std::string why_unsupported_on_ranks(const SolverSpec& spec) {
  if (solver_entry(spec.id).has(Feature::distributed)) {
    const auto solver = make_solver(spec);
    const auto* const limited = dynamic_cast<const LimitedOnRanks*>(solver.get());
    return limited ? limited->why_not_on_ranks() : "";
  }
  std::string others;
  for (const SolverEntry& other : solver_entries()) {
    if (other.has(Feature::distributed)) others += (others.empty() ? "" : ", ") + other.id;
  }
  return spec.id + " does not run on several ranks; " + others + " do";
}

bool supports(const SolverEntry& entry, const ContactProblem& problem) {
  return why_unsupported(entry, problem).empty();
}

bool supports(const SolverSpec& spec, const ContactProblem& problem) {
  return why_unsupported(spec, problem).empty();
}

}  // namespace ccp
