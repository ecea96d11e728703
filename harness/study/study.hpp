#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/measure/measures.hpp"
#include "harness/run/provenance.hpp"
#include "harness/run/request.hpp"
#include "solvers/registry.hpp"

namespace ccp {

/// One condition of a study's `select`: a descriptor (problems/model/descriptors.hpp) in a range.
struct Selection {
  std::string descriptor;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above = false, below = false;  ///< strictly
  bool admits(double value) const {
    return (above ? value > low : value >= low) && (below ? value < high : value <= high);
  }
};

/// A range as studies write it: 5, 1e4..1e5, 100.., ..0.5, >100, >=100, <0.5, <=0.5.
/// @return false if `text` is none
bool parse_range(const std::string& text, Selection& range);

/// A study file with all it includes: which problems, which solvers, how long. See docs/studies.md.
struct Study {
  Study() { request.warm_up = 0.1; }

  std::string name;
  std::string description;
  std::vector<std::string> problem_files;  ///< resolved paths
  std::vector<Selection> select;           ///< only problems that meet all of these
  std::string select_place;                ///< file, line and column of `select`, for messages
  std::vector<SolverSpec> solvers;         ///< grids expanded, in their one spelling
  std::map<std::string, ExternalSolver> externals;  ///< those of `solvers` that are not ours
  std::vector<std::string> starts{"cold"};          ///< see start.hpp, in their one spelling
  std::map<std::string, std::string> written;  ///< how the file spells solvers and starts otherwise
  int repetitions = 1;
  std::vector<int> threads{1};
  std::vector<int> ranks{1};
  int seed = 1;  ///< of the order in which solvers take turns
  /// What all runs have in common: stop, targets, limits, ... (request_fields)
  RunRequest request;
};

/// Reads and checks a study. @throws InputError naming file, line, column and key: unknown keys,
/// wrong types, values out of range, unknown solvers, options, measures, descriptors or problems,
/// empty or repeated selections, files that include each other
Study read_study(const std::string& path);

/// The text with only letters that are safe in file names everywhere.
std::string safe_in_file_names(const std::string& text);

/// A catalogue name (harness/studies/NAME.yaml) or a path. @throws InputError
std::string resolve_study(const std::string& name_or_path);

/// Name and description of the studies that come with the project.
std::vector<std::pair<std::string, std::string>> study_entries();
/// Their names alone.
std::vector<std::string> study_names();

/// What a plan knows of a problem, so that it need not be read again.
struct InstanceSummary {
  std::string name, hash;
  Form form = Form::bodies;
  long contacts = 0, bodies = 0;
  std::vector<std::pair<std::string, double>> descriptors;
  std::map<std::string, std::string> starts;  ///< of the study, each with its identity
};

/// One run of a study, with the file its result goes to and the key that decides on resuming.
struct PlannedRun {
  RunRequest request;
  std::shared_ptr<const InstanceSummary> instance;
  std::string file_name;  ///< within the result folder
  /// What it was called when names had the study's own spelling; "" where that is the same.
  std::string former_name;
  KeyParts key_parts;  ///< everything that changes a result or its timing
  std::string key;     ///< digest_of(key_parts)
};

/// SHA-256 (hex) of the parts' names and values.
std::string digest_of(const KeyParts& parts);

/// All runs, in the order in which they are made: problem by problem, threads by threads, ranks by
/// ranks, repetition by repetition; within a repetition the solvers and starts take turns in a
/// random order that the seed fixes. A solver that cannot use a guess starts cold only, and what
/// does not run on several ranks, programs of others and starts from guesses included, runs on one.
/// @param jobs  how many runs are made at a time: they share the memory bus, so it is part of keys
/// @throws InputError if a problem cannot be read, or none meets the selection
std::vector<PlannedRun> plan(const Study& study, int jobs = 1);

}  // namespace ccp
