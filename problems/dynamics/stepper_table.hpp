#pragma once

#include <memory>
#include <string>
#include <vector>

#include "problems/base/options.hpp"
#include "problems/dynamics/step_problem.hpp"
#include "problems/dynamics/steppers/dem.hpp"
#include "problems/dynamics/steppers/relaxation.hpp"

namespace ccp {

/// The options of all schemes; each looks at its own.
struct StepperSettings {
  GapOptions gap;
  DemOptions dem;
};

/// A time-stepping scheme of the table.
struct StepperEntry {
  std::string id;
  std::string summary;
  /// "convex" or "coulomb": the law that makes the scheme what it is; "": either
  std::string law;
  bool solves;  ///< whether its steps pose problems; if not, nobody is asked to solve
  OptionList (*options)(StepperSettings& settings);
  std::unique_ptr<Stepper> (*make)(const StepModel& model, const StepperSettings& settings);
};

const std::vector<StepperEntry>& stepper_entries();

/// @throws InputError for an unknown id, with the nearest known one
const StepperEntry& find_stepper(const std::string& id);

/// @param spec  id[option=value,...]; @throws InputError for it, or a model that does not suit
std::unique_ptr<Stepper> make_stepper(const std::string& spec, const StepModel& model);

}  // namespace ccp
