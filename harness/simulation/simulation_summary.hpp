#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/simulation/simulation.hpp"

namespace ccp {

/// What came of a simulation in a few numbers; the file keeps it in /summary.
struct SimulationSummary {
  std::string status;  ///< finished, diverged, running
  /// steps, time, ... by their names, in the order in which they are printed
  std::vector<std::pair<std::string, double>> numbers;
  SceneValues values;
};

/// @param wall  s, all of it
SimulationSummary summary_of(const Simulation& simulation, double wall);

/// Whether a number of the summary counts something.
bool is_count(const std::string& number);

void write_summary(Hdf5File& file, const SimulationSummary& summary);
/// @throws InputError for a trajectory without one
SimulationSummary read_summary(const Hdf5File& file);

}  // namespace ccp
