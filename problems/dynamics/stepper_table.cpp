#include "problems/dynamics/stepper_table.hpp"

#include <fmt/format.h>

#include "problems/base/error.hpp"
#include "problems/dynamics/steppers/moreau.hpp"
#include "problems/dynamics/steppers/rattle.hpp"
#include "problems/dynamics/steppers/spook.hpp"

namespace ccp {
namespace {

template <const char* const& id>
OptionList no_options(StepperSettings&) {
  return OptionList(id, "stepper");
}

OptionList gap_options(const char* id, GapOptions& gap) {
  return OptionList(id, "stepper")
      .number("theta", gap.theta, {0, 1, true, false}, "Part of a gap that a step closes")
      .flag("stabilised", gap.stabilised, "Gaps enter the rows")
      .flag("project", gap.project, "Positions are projected onto gaps >= 0 after every step");
}
OptionList relaxation_options(StepperSettings& settings) {
  return gap_options("relaxation", settings.gap)
      .flag("lagged", settings.gap.lagged,
            "Adds mu |v_t| of the step before to r_n: Coulomb's law, a step late");
}
OptionList lcp_options(StepperSettings& settings) {
  return gap_options("lcp", settings.gap);
}
OptionList dem_options(StepperSettings& settings) {
  return OptionList("dem", "stepper")
      .flag("hertz", settings.dem.hertz, "Hertz's law, or linear springs")
      .number("tangential", settings.dem.tangential, OptionList::Range::at_least(0),
              "Tangential stiffness over the normal one");
}

std::unique_ptr<Stepper> make_gap(const StepModel& model, const StepperSettings& settings) {
  return std::make_unique<GapStepper>(model, settings.gap);
}
std::unique_ptr<Stepper> make_dem(const StepModel& model, const StepperSettings& settings) {
  return std::make_unique<DemStepper>(model, settings.dem);
}
template <class S>
std::unique_ptr<Stepper> make_plain(const StepModel& model, const StepperSettings&) {
  return std::make_unique<S>(model);
}

const char* const shake = "shake";
const char* const rattle = "rattle";
const char* const moreau = "moreau";
const char* const spook = "spook";

}  // namespace

const std::vector<StepperEntry>& stepper_entries() {
  static const std::vector<StepperEntry> rows = {
      {"shake", "Gaps closed at the end of the step (Kleinert 2014 and 2017)", "", true,
       no_options<shake>, make_gap},
      {"rattle", "The same, and a problem for the velocities (Kleinert 2017 eq. 21)", "", true,
       no_options<rattle>, make_plain<RattleStepper>},
      {"relaxation", "Gaps closed in part, or not at all; convex law (Anitescu slides)", "convex",
       true, relaxation_options, make_gap},
      {"lcp", "Gaps closed in part, or not at all; Coulomb's law (Anitescu slides)", "coulomb",
       true, lcp_options, make_gap},
      {"moreau", "Midpoint configuration, closed contacts, no gaps (Koziara 2019)", "", true,
       no_options<moreau>, make_plain<MoreauStepper>},
      {"spook", "Hertz's law, regularised, with a stage of impacts (Wang 2016)", "", true,
       no_options<spook>, make_plain<SpookStepper>},
      {"dem", "Explicit penalty forces, no solver", "coulomb", false, dem_options, make_dem},
  };
  return rows;
}

const StepperEntry& find_stepper(const std::string& id) {
  std::vector<std::string> names;
  for (const StepperEntry& entry : stepper_entries()) {
    if (entry.id == id) return entry;
    names.push_back(entry.id);
  }
  throw InputError(fmt::format("unknown stepper '{}'{} (there are: {})", id,
                               did_you_mean(id, names), fmt::join(names, ", ")));
}

std::unique_ptr<Stepper> make_stepper(const std::string& spec, const StepModel& model) {
  const SolverSpec parsed = SolverSpec::parse(spec);
  const StepperEntry& entry = find_stepper(parsed.id);
  StepperSettings settings;
  OptionList options = entry.options(settings);
  for (const auto& [name, value] : parsed.options) options.set(name, value);
  return entry.make(model, settings);
}

}  // namespace ccp
