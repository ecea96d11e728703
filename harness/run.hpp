#pragma once

#include <string>

#include "harness/provenance.hpp"
#include "harness/recorder.hpp"
#include "solvers/core/options.hpp"

namespace ccp {

/// One (problem, solver) run, as asked for.
struct RunRequest {
  std::string problem_file;
  SolverSpec solver;
  RecorderOptions recorder;
  int threads = 1;
  bool keep_gamma = false;  ///< store the answer in the result file
  bool bare_check = false;  ///< solve once more without looking and record the difference
  // Set by studies.
  std::string study;
  int repetition = 1;
};

/// What came of it.
struct RunResult {
  std::string instance, instance_hash;
  std::string form;
  long contacts = 0, bodies = 0;
  std::string solver;  ///< as asked for
  std::string law;
  std::vector<OptionList::Entry> options;  ///< all of them, with the values used
  Info info;                               ///< the solver's own words
  /// The solver's status, except that a solve the recorder ended because a limit had passed is
  /// "time_limit" or "max_iterations", and a process that did not end by itself "crashed" or
  /// "killed".
  std::string status;
  bool stop_reached = false;
  double time = 0;                ///< s, solve
  double setup_time = 0;          ///< s, Solver::setup
  double problem_time = 0;        ///< s, putting the problem on the device (shared by all solvers)
  double memory_per_contact = 0;  ///< bytes, peak resident memory of the process above what it had
                                  ///< before the problem was read
  double bare_time = 0;           ///< s, solve without any look; 0 = not measured
  double bare_difference = 0;     ///< largest relative difference of gamma between the two solves
  std::vector<Sample> samples;
  std::vector<TargetRecord> targets;
  Measures final_measures, best;
  std::vector<double> gamma;  ///< with keep_gamma
  Provenance provenance;
};

/// Reads the problem, sets the solver up, solves under the eyes of a Recorder. Kokkos must be
/// running.
/// @param progressed  called off the clock at every look; may be empty
/// @throws InputError for bad input; numerical trouble is a status in the result
RunResult run(const RunRequest& request, const std::string& command_line,
              const Recorder::Progressed& progressed = {});

}  // namespace ccp
