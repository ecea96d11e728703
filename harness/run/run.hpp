#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/recorder.hpp"
#include "harness/run/provenance.hpp"
#include "problems/base/options.hpp"
#include "solvers/registry.hpp"

namespace ccp {

/// A program of somebody else as a solver, see external.hpp.
struct ExternalSolver {
  std::string name;
  std::vector<std::string> command;  ///< words with placeholders: {problem}, {output}, ...
  std::string folder;                ///< where it is started; "": where we are
  Law law = Law::convex;             ///< that it says it solves
  std::vector<double> tolerances;    ///< it is started for each; empty: once
};

/// One (problem, solver) run, as asked for.
struct RunRequest {
  std::string problem_file;
  SolverSpec solver;                                              ///< of an external one: its name
  std::optional<ExternalSolver> external;                         ///< instead of one of ours
  double memory_limit = std::numeric_limits<double>::infinity();  ///< bytes, of external ones
  RecorderOptions recorder;
  int threads = 1;
  std::string start = "cold";  ///< where the solve begins, see start.hpp
  bool keep_gamma = false;     ///< store the answer in the result file
  bool bare_check = false;     ///< solve once more without looking and record the difference
  double warm_up = 0;          ///< s; before the solve, see run()
  // Set by studies.
  std::string study;
  int repetition = 1;
};

/// What came of it.
struct RunResult {
  std::string instance, instance_hash;
  Form form = Form::bodies;
  long contacts = 0, bodies = 0;
  std::vector<std::pair<std::string, double>> descriptors;  ///< of the problem
  std::string solver;                                       ///< as asked for
  Law law = Law::convex;                                    ///< that it solves
  std::vector<OptionList::Entry> options;                   ///< all of them, with the values used
  Info info;                                                ///< the solver's own words
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
  std::vector<Sample> samples;
  std::vector<TargetRecord> targets;
  Measures final_measures, best;
  std::vector<double> gamma;  ///< with keep_gamma
  Provenance provenance;
};

/// What there is to know of the solver asked for, be it ours or not.
Law law_of(const RunRequest& request);
std::vector<OptionList::Entry> options_of(const RunRequest& request);

/// A result with all that is known before the solve.
RunResult describe(const RunRequest& request, const ContactProblem& problem,
                   const std::string& command_line);

/// Aims the stop and the targets at the law that the solver solves (judged_by).
void judge_by_law(RunRequest& request);

/// What the recorder holds, as the result that stands if nothing more comes.
void copy_looks(const Recorder& recorder, RunResult& result);

/// Who is told how a run goes. Both are called off the clock; either may be empty.
struct RunWatch {
  Recorder::Progressed progressed;  ///< after every look
  /// What would be lost if the process ended now; status running, no final measures. Called after
  /// looks, as often as takes at most 0.05 s and a twentieth of the wall time.
  std::function<void(const RunResult&)> checkpoint;
};

/// Reads the problem, sets the solver up, solves under the eyes of a Recorder. Kokkos must be
/// running.
///
/// The warm-up is the same work for every solver and bounded: two outer iterations of the solver on
/// a scene of three contacts, which load its code and start its threads, then products with the
/// problem's N until `warm_up` seconds are over, which wake the processor.
///
/// @throws InputError for bad input; numerical trouble is a status in the result
RunResult run(const RunRequest& request, const std::string& command_line,
              const RunWatch& watch = {});

}  // namespace ccp
