#include "harness/measure/measures.hpp"

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/options.hpp"

namespace ccp {

const std::array<std::string, measure_count>& measure_names() {
  static const std::array<std::string, measure_count> names = {"cost",
                                                               "feas",
                                                               "error",
                                                               "dual",
                                                               "primal",
                                                               "complementarity",
                                                               "residual",
                                                               "natural_map",
                                                               "velocity",
                                                               "energy",
                                                               "objective_gap",
                                                               "merit",
                                                               "coulomb_residual",
                                                               "coulomb_natural_map",
                                                               "coulomb_merit",
                                                               "normal_residual",
                                                               "coulomb_normal_residual",
                                                               "multiplier"};
  return names;
}

std::string Target::text() const {
  return name_of(measure) + "=" + number_text(value);
}

Target judged_by(Law law, Target target) {
  if (law == Law::convex) return target;
  if (target.measure == Measure::residual) target.measure = Measure::coulomb_residual;
  if (target.measure == Measure::natural_map) target.measure = Measure::coulomb_natural_map;
  if (target.measure == Measure::merit) target.measure = Measure::coulomb_merit;
  if (target.measure == Measure::normal_residual) {
    target.measure = Measure::coulomb_normal_residual;
  }
  return target;
}

Target parse_target(const std::string& text, const std::string& where) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw InputError(where, "", "MEASURE=VALUE, e.g. residual=1e-6", "'" + text + "'");
  }
  const std::string name = text.substr(0, equals), number = text.substr(equals + 1);
  const auto& names = measure_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw InputError(where + ": unknown measure '" + name + "'" + did_you_mean(name, names));
  }
  Target target;
  target.measure = static_cast<Measure>(found - names.begin());
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

}  // namespace ccp
