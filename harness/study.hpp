#pragma once

#include <string>
#include <vector>

#include "harness/measures.hpp"
#include "harness/run.hpp"

namespace ccp {

/// A study file: which problems, which solvers, how long. See docs/studies.md.
struct Study {
  std::string name;
  std::string description;
  std::vector<std::string> problem_files;  ///< resolved paths
  std::vector<SolverSpec> solvers;
  Target stop;
  std::vector<Target> targets;
  double time_limit = 60;  ///< s a run
  int repetitions = 1;
  std::vector<int> threads{1};
};

/// Reads and checks a study. @throws InputError naming file, line and key: unknown keys, wrong
/// types, values out of range, unknown solvers, options, measures or problems, empty or repeated
/// selections
Study read_study(const std::string& path);

/// A catalogue name (harness/studies/NAME.yaml) or a path. @throws InputError
std::string resolve_study(const std::string& name_or_path);

/// Name and description of the studies that come with the project.
std::vector<std::pair<std::string, std::string>> study_entries();

/// One run of a study, with the file its result goes to and the key that decides on resuming.
struct PlannedRun {
  RunRequest request;
  std::string file_name;  ///< within the result folder
  std::string key;
};

/// All runs, in the order in which they are made: repetitions interleaved across solvers.
/// The key covers instance, solver with every option, build, machine, threads, limits, targets and
/// referee version (design Sect. 6). @throws InputError if a problem cannot be read
std::vector<PlannedRun> plan(const Study& study);

}  // namespace ccp
