#pragma once

#include <array>
#include <string>
#include <vector>

#include "solvers/core/law.hpp"

namespace ccp {

/// What the referee measures of a pair (gamma, u = N gamma + r); docs/measures.md has the formulas.
enum class Measure {
  cost,              ///< |gamma.u| / n, J (Kleinert 2014 Sect. 5.2)
  feas,              ///< largest violation of either cone, in m/s or N s as the papers mix them
  error,             ///< max(cost, feas)
  dual,              ///< max dist(u, K*) / q
  primal,            ///< max dist(gamma, K) s / q
  complementarity,   ///< |gamma.u| s / (n q^2)
  residual,          ///< largest of the three above: the headline
  natural_map,       ///< max |gamma - P_K(gamma - u/s)|_inf s / q
  velocity,          ///< largest body velocity error against the reference, m/s
  energy,            ///< sqrt(2 |gamma.u| s / (n q^2))
  objective_gap,     ///< f(gamma) - f(reference), J
  merit,             ///< g of Koziara 2019 eq. 40 for the convex law
  coulomb_residual,  ///< residual, with De Saxce's u + (mu |u_t|, 0, 0) for u
  coulomb_natural_map,
  coulomb_merit,
  normal_residual,  ///< mean of the natural map's normal parts, m/s (Wang 2016 Fig. 4 and 8)
  coulomb_normal_residual,
  multiplier,  ///< mean relative error of the normal impulses (Wang 2016 eq. 13)
};
inline constexpr std::size_t measure_count = 18;
/// The first so many were there from the beginning of the result schema; files of earlier
/// development versions lack the others.
inline constexpr std::size_t first_measure_count = 15;

/// The names of the enumerators, in order: what options, files and reports say.
const std::array<std::string, measure_count>& measure_names();
inline const std::string& name_of(Measure measure) {
  return measure_names()[static_cast<std::size_t>(measure)];
}

/// Values by measure. NaN: not defined for this problem (e.g. no reference), or not a number
/// indeed.
class Measures {
 public:
  Measures() { values_.fill(0); }
  double& operator[](Measure m) { return values_[static_cast<std::size_t>(m)]; }
  double operator[](Measure m) const { return values_[static_cast<std::size_t>(m)]; }
  const std::array<double, measure_count>& values() const { return values_; }

 private:
  std::array<double, measure_count> values_;
};

/// "MEASURE=VALUE": reached when the referee measures at most that.
struct Target {
  Measure measure = Measure::residual;
  double value = 1e-6;
  bool reached(const Measures& measures) const { return measures[measure] <= value; }
  std::string text() const;
};

/// What a target asks of a solver of that law: for Coulomb's, residual, natural_map and merit mean
/// their coulomb_ namesakes.
Target judged_by(Law law, Target target);

/// @param where  named in the error, e.g. "--stop"
/// @throws InputError for an unknown measure (with the nearest one) or a value that is not > 0
Target parse_target(const std::string& text, const std::string& where);
/// Comma-separated targets.
std::vector<Target> parse_targets(const std::string& text, const std::string& where);

}  // namespace ccp
