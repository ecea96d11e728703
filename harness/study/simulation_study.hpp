#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/run/provenance.hpp"
#include "harness/simulation/simulation_summary.hpp"

namespace ccp {

/// One simulation of a study.
struct PlannedSimulation {
  SimulationRequest request;  ///< stepper and solver "": the scene's
  std::string file_name;      ///< within the result folder
  KeyParts key_parts;         ///< everything that changes a result or its timing
  std::string key;
};

/// A study of simulations: scenes x steppers x solvers x starts x time steps. docs/studies.md.
struct SimulationStudy {
  std::string name, description;
  double time_limit = 600;  ///< s of wall time, each
  double memory_limit = 0;  ///< GB, each; 0: what the machine has
  std::vector<PlannedSimulation> runs;
};

/// Whether a study file has `simulations` in place of problems. @throws InputError if it is no YAML
bool is_simulation_study(const std::string& path);

/// @throws InputError naming file, line, column and key, also for scenes, steppers and solvers that
/// are not there or do not fit together
SimulationStudy read_simulation_study(const std::string& path);

/// A simulation of a study, as a row.
struct SimulationRow {
  const PlannedSimulation* run = nullptr;
  int number = 0, total = 0;                 ///< its place in the study, from 1
  std::string reason;                        ///< why it is made; "": its result is kept
  std::string status;                        ///< finished, diverged, crashed, killed, out_of_memory
  std::string message;                       ///< how it ended, where that was not by itself
  std::optional<SimulationSummary> summary;  ///< of those that left a trajectory
};

struct SimulationStudyOptions {
  std::string output;  ///< folder; made if missing
  bool resume = false, force = false, dry_run = false;
  std::string program;                ///< what to start for a run: this program
  std::function<bool()> interrupted;  ///< asked now and then; true ends the study
};

/// Makes all simulations of a study, each in a process of its own, one after the other, and writes
/// `simulations.csv` with a row for each. Trajectories are kept as FILE_NAME in the folder.
/// @param watch  called for every row, made or kept
/// @throws InputError if the folder holds results and neither resume nor force is set
std::vector<SimulationRow> run_simulation_study(
    const SimulationStudy& study, const SimulationStudyOptions& options,
    const std::function<void(const SimulationRow&)>& watch);

}  // namespace ccp
