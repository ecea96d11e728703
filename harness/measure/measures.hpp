#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "solvers/core/law.hpp"

namespace ccp {

struct Look;  // look.hpp

/// What the referee measures of a pair (gamma, u = N gamma + r): a row of the table in
/// measures.cpp. These are the rows that code refers to by name, in their order; a row without a
/// name here is as good.
enum class Measure : std::size_t {
  cost,
  feas,
  error,
  dual,
  primal,
  complementarity,
  residual,  ///< the headline
  natural_map,
  velocity,
  energy,
  objective_gap,
  merit,
  coulomb_residual,
  coulomb_natural_map,
  coulomb_merit,
  normal_residual,
  coulomb_normal_residual,
  multiplier,
};

/// Which of two values is the better one. A target MEASURE=VALUE asks for at most VALUE either way.
enum class Better {
  lower,
  nearer_zero,  ///< may be negative
};
template <>
struct EnumTable<Better> {
  static constexpr EnumText<Better> rows[] = {{Better::lower, "lower"},
                                              {Better::nearer_zero, "nearer_zero"}};
};

/// One row of the table of measures.
struct MeasureEntry {
  std::string name;       ///< what options, files and reports say: letters, digits and _
  std::string summary;    ///< what it is, in one line
  std::string formula;    ///< in the symbols of docs/measures.md
  std::string unit;       ///< "" = none
  std::vector<Law> laws;  ///< it is zero at solutions under these
  double (*value)(const Look& look);
  Better better = Better::lower;
  /// The measure that stands for it where the solver solves Coulomb's law; "" = none.
  std::string under_coulomb = "";
  bool needs_reference = false;  ///< NaN where the problem has no reference solution
  /// Was there from the beginning of the result schema; files made before the others lack them.
  bool in_every_file = false;
};

/// All measures. Adding one is one row in measures.cpp, or a call of add_measure.
const std::vector<MeasureEntry>& measure_entries();

/// Adds a row while the program starts: before anything is measured.
/// @throws InputError if there is a measure of that name
void add_measure(MeasureEntry entry);

inline std::size_t measure_count() {
  return measure_entries().size();
}
inline const MeasureEntry& entry_of(Measure measure) {
  return measure_entries()[static_cast<std::size_t>(measure)];
}
inline const std::string& name_of(Measure measure) {
  return entry_of(measure).name;
}
std::vector<Measure> all_measures();
std::vector<std::string> measure_names();

/// Values by measure. NaN: not defined for this problem (e.g. no reference), or not a number
/// indeed.
class Measures {
 public:
  explicit Measures(double value = 0) : values_(measure_count(), value) {}
  double& operator[](Measure m) { return values_[static_cast<std::size_t>(m)]; }
  double operator[](Measure m) const { return values_[static_cast<std::size_t>(m)]; }

 private:
  std::vector<double> values_;
};

/// "MEASURE=VALUE": reached when the referee measures at most that.
struct Target {
  Measure measure = Measure::residual;
  double value = 1e-6;
  bool reached(const Measures& measures) const { return measures[measure] <= value; }
  std::string text() const;
};

/// Whether there are targets, and all of them hold.
bool all_reached(const std::vector<Target>& targets, const Measures& measures);

/// What a target asks of a solver of that law: for Coulomb's, a measure means the one that its row
/// names (`residual` the `coulomb_residual`).
Target judged_by(Law law, Target target);
/// The residual of a law.
inline Measure residual_of(Law law) {
  return judged_by(law, {Measure::residual}).measure;
}

/// @param where  named in the error, e.g. "--stop"
/// @throws InputError for an unknown measure (with the nearest one) or a value that is not > 0
Target parse_target(const std::string& text, const std::string& where);
/// Comma-separated targets.
std::vector<Target> parse_targets(const std::string& text, const std::string& where);
/// The same targets as text, with `separator` between them.
std::string targets_text(const std::vector<Target>& targets, const std::string& separator = ",");

}  // namespace ccp
