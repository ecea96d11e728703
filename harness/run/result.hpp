#pragma once

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/recorder.hpp"
#include "harness/run/provenance.hpp"
#include "harness/run/request.hpp"
#include "solvers/registry.hpp"

namespace ccp {

/// What came of a run.
struct RunResult {
  std::string instance, instance_hash;
  Form form = Form::bodies;
  long contacts = 0, bodies = 0;
  std::vector<std::pair<std::string, double>> descriptors;               ///< of the problem
  double reference_residual = std::numeric_limits<double>::quiet_NaN();  ///< of the certificate
  std::string solver;                                                    ///< in its one spelling
  Law law = Law::convex;                                                 ///< that it solves
  std::vector<OptionList::Entry> options;  ///< all of them, with the values used
  Info info;                               ///< the solver's own words
  /// The solver's status, except that a solve the recorder ended because a limit had passed is
  /// time_limit or max_iterations, and a process that did not end by itself crashed, killed or
  /// out_of_memory.
  Status status = Status::running;
  bool stop_reached = false;
  double time = 0;                ///< s, solve
  double setup_time = 0;          ///< s, Solver::setup
  double problem_time = 0;        ///< s, putting the problem on the device (shared by all solvers)
  double warm_up_time = 0;        ///< s
  double startup_time = 0;        ///< s, from the start of the process to setup, less the warm-up
  double memory_per_contact = 0;  ///< bytes, peak resident memory of the process above what it had
                                  ///< before the problem was read
  double bare_time = 0;           ///< s, solve without any look; 0 = not measured
  double bare_difference = 0;     ///< largest relative difference of gamma between the two solves;
                                  ///< NaN: the bare one was ended by the time limit
  std::vector<RankTimes> rank_times;  ///< of several ranks, of the solve without looks
  std::vector<Sample> samples;
  std::vector<TargetRecord> targets;
  Measures final_measures, best;
  std::vector<double> gamma;  ///< with keep_gamma
  Provenance provenance;
};

/// A result with all that is known before the solve.
RunResult describe(const RunRequest& request, const ContactProblem& problem,
                   const std::string& command_line);

/// What the recorder holds, as the result that stands if nothing more comes.
void copy_looks(const Recorder& recorder, RunResult& result);

/// Who is told how a run goes. Both are called off the clock; either may be empty.
struct RunWatch {
  Recorder::Progressed progressed;  ///< after every look
  /// What would be lost if the process ended now; status running, no final measures. Called after
  /// looks, as often as takes at most 0.05 s and a twentieth of the wall time.
  std::function<void(const RunResult&)> checkpoint;
};

}  // namespace ccp
