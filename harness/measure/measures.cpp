#include "harness/measure/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/measure/look.hpp"
#include "problems/base/error.hpp"
#include "problems/base/options.hpp"

namespace ccp {
namespace {

// What the rows measure. Each takes a look at an iterate (look.hpp has its parts and their units).

double cost(const Look& look) {
  return std::abs(look.convex.dot) / look.n;
}
double feas(const Look& look) {
  return look.feas;
}
double error(const Look& look) {
  return std::isnan(look.feas) ? look.feas : std::max(cost(look), look.feas);
}
double primal(const Look& look) {
  return look.primal * look.s / look.q;
}

// The same under either law.
double dual(const Look& look, const LawTotals& law) {
  return law.dual / look.q;
}
double complementarity(const Look& look, const LawTotals& law) {
  return std::abs(law.dot) * look.s / (look.n * look.q * look.q);
}
double residual(const Look& look, const LawTotals& law) {
  return std::max({dual(look, law), primal(look), complementarity(look, law)});
}
double natural_map(const Look& look, const LawTotals& law) {
  return law.natural * look.s / look.q;
}
double merit(const Look& look, const LawTotals& law) {
  return look.merit_scale > 0 ? law.merit / look.merit_scale : law.merit;
}
double normal_residual(const Look& look, const LawTotals& law) {
  return law.normal * look.s / look.n;
}

template <double (*measure)(const Look&, const LawTotals&)>
double under_convex(const Look& look) {
  return measure(look, look.convex);
}
template <double (*measure)(const Look&, const LawTotals&)>
double under_coulomb(const Look& look) {
  return measure(look, look.coulomb);
}

double energy(const Look& look) {
  return std::sqrt(2 * complementarity(look, look.convex));
}
double velocity(const Look& look) {
  return look.velocity;
}
double objective_gap(const Look& look) {
  return look.objective_gap;
}
double multiplier(const Look& look) {
  return look.multiplier;
}

/// The first rows are those of the enumerators of Measure, in their order; docs/measures.md says
/// what each is good for. P is the projection onto K_mu, v = u + (mu |u_t|, 0, 0).
std::vector<MeasureEntry>& entries() {
  constexpr Law convex = Law::convex, coulomb = Law::coulomb;
  constexpr Better lower = Better::lower, nearer_zero = Better::nearer_zero;
  constexpr bool reference = true, none = false, always = true, since_later = false;
  static std::vector<MeasureEntry> table = {
      {"cost",
       "mean work of the impulses, a complementarity (Kleinert 2014 Sect. 5.2.4)",
       "|sum gamma_c.u_c| / n",
       "J",
       {convex},
       cost,
       lower,
       "",
       none,
       always},
      {"feas",
       "largest violation of either cone, in the papers' mixed units (Kleinert 2014)",
       "max_c max(0, mu |u_t| - u_n, |gamma_t| - mu gamma_n)",
       "m/s, N s",
       {convex},
       feas,
       lower,
       "",
       none,
       always},
      {"error",
       "cost or feas, whichever is larger (Kleinert 2014)",
       "max(cost, feas)",
       "J, m/s, N s",
       {convex},
       error,
       lower,
       "",
       none,
       always},
      {"dual",
       "velocities outside the dual cone: penetration, missing dissipation",
       "max_c dist(u_c, K*) / q",
       "",
       {convex},
       under_convex<dual>,
       lower,
       "",
       none,
       always},
      {"primal",
       "impulses outside the friction cone",
       "max_c dist(gamma_c, K) s / q",
       "",
       {convex, coulomb},
       primal,
       lower,
       "",
       none,
       always},
      {"complementarity",
       "the gap",
       "|sum gamma_c.u_c| s / (n q^2)",
       "",
       {convex},
       under_convex<complementarity>,
       lower,
       "",
       none,
       always},
      {"residual",
       "the headline: the largest of dual, primal and complementarity",
       "max(dual, primal, complementarity)",
       "",
       {convex},
       under_convex<residual>,
       lower,
       "coulomb_residual",
       none,
       always},
      {"natural_map",
       "zero at solutions only",
       "max_c |gamma_c - P(gamma_c - u_c/s)|_inf s / q",
       "",
       {convex},
       under_convex<natural_map>,
       lower,
       "coulomb_natural_map",
       none,
       always},
      {"velocity",
       "largest error of a body's velocity against the reference",
       "max over bodies |v(gamma) - v(gamma_ref)|, v = M^-1 D gamma",
       "m/s",
       {convex},
       velocity,
       lower,
       "",
       reference,
       always},
      {"energy",
       "bound of the relative velocity error in the energy norm, once u is feasible",
       "sqrt(2 complementarity)",
       "",
       {convex},
       energy,
       lower,
       "",
       none,
       always},
      {"objective_gap",
       "distance from the reference's objective; negative outside the cone",
       "f(gamma) - f(gamma_ref), f = gamma.N gamma/2 + r.gamma",
       "J",
       {convex},
       objective_gap,
       nearer_zero,
       "",
       reference,
       always},
      {"merit",
       "g of Koziara 2019 eq. 40, for the convex law",
       "sum C_c.N_cc^-1 C_c / sum r_c.N_cc^-1 r_c, C = gamma - P(gamma - u)",
       "",
       {convex},
       under_convex<merit>,
       lower,
       "coulomb_merit",
       none,
       always},
      {"coulomb_residual",
       "residual for Coulomb's law, with v for u",
       "residual of v",
       "",
       {coulomb},
       under_coulomb<residual>,
       lower,
       "",
       none,
       always},
      {"coulomb_natural_map",
       "natural_map for Coulomb's law, with v for u",
       "natural_map of v",
       "",
       {coulomb},
       under_coulomb<natural_map>,
       lower,
       "",
       none,
       always},
      {"coulomb_merit",
       "g of Koziara 2019 eq. 40, for Coulomb's law",
       "merit of v",
       "",
       {coulomb},
       under_coulomb<merit>,
       lower,
       "",
       none,
       always},
      {"normal_residual",
       "mean of natural_map's normal parts (Wang 2016 Figs. 4 and 8)",
       "mean_c s |gamma_c - P(gamma_c - u_c/s)|_n",
       "m/s",
       {convex},
       under_convex<normal_residual>,
       lower,
       "coulomb_normal_residual",
       none,
       since_later},
      {"coulomb_normal_residual",
       "normal_residual for Coulomb's law, with v for u",
       "normal_residual of v",
       "m/s",
       {coulomb},
       under_coulomb<normal_residual>,
       lower,
       "",
       none,
       since_later},
      {"multiplier",
       "mean relative error of the normal impulses (Wang 2016 eq. 13)",
       "mean_c |gamma_n - gamma_n,ref| / gamma_n,ref where gamma_n,ref is at least 1/1000 of its "
       "mean",
       "",
       {convex},
       multiplier,
       lower,
       "",
       reference,
       since_later},
  };
  return table;
}

}  // namespace

const std::vector<MeasureEntry>& measure_entries() {
  return entries();
}

void add_measure(MeasureEntry entry) {
  for (const MeasureEntry& other : entries()) {
    if (other.name == entry.name) {
      throw InputError("measure " + entry.name, "", "a name of its own", "one that is taken");
    }
  }
  entries().push_back(std::move(entry));
}

std::vector<Measure> all_measures() {
  std::vector<Measure> all;
  for (std::size_t m = 0; m < measure_count(); ++m) all.push_back(static_cast<Measure>(m));
  return all;
}

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (const MeasureEntry& entry : entries()) names.push_back(entry.name);
  return names;
}

namespace {

/// The measure of that name, or nothing.
std::optional<Measure> find_measure(const std::string& name) {
  for (const Measure m : all_measures()) {
    if (name_of(m) == name) return m;
  }
  return std::nullopt;
}

}  // namespace

std::string Target::text() const {
  return name_of(measure) + "=" + number_text(value);
}

bool all_reached(const std::vector<Target>& targets, const Measures& measures) {
  return !targets.empty() && std::all_of(targets.begin(), targets.end(), [&](const Target& target) {
    return target.reached(measures);
  });
}

Target judged_by(Law law, Target target) {
  if (law == Law::coulomb) {
    target.measure = find_measure(entry_of(target.measure).under_coulomb).value_or(target.measure);
  }
  return target;
}

Target parse_target(const std::string& text, const std::string& where) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw InputError(where, "", "MEASURE=VALUE, e.g. residual=1e-6", "'" + text + "'");
  }
  const std::string name = text.substr(0, equals), number = text.substr(equals + 1);
  const std::optional<Measure> measure = find_measure(name);
  if (!measure) {
    throw InputError(where + ": unknown measure '" + name + "'" +
                     did_you_mean(name, measure_names()) +
                     fmt::format(" (there are {})", fmt::join(measure_names(), ", ")));
  }
  Target target;
  target.measure = *measure;
  if (!parse_number(number, target.value) || !(target.value > 0) || !std::isfinite(target.value)) {
    throw InputError(where, name, "a number > 0", "'" + number + "'");
  }
  return target;
}

std::vector<Target> parse_targets(const std::string& text, const std::string& where) {
  std::vector<Target> targets;
  if (text.empty()) return targets;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    targets.push_back(parse_target(text.substr(begin, end - begin), where));
    begin = end + 1;
  }
  return targets;
}

std::string targets_text(const std::vector<Target>& targets, const std::string& separator) {
  std::string text;
  for (const Target& target : targets) text += (text.empty() ? "" : separator) + target.text();
  return text;
}

}  // namespace ccp
