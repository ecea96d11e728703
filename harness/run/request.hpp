#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/measure/recorder.hpp"
#include "harness/run/external_solver.hpp"
#include "harness/run/provenance.hpp"
#include "problems/base/options.hpp"

namespace ccp {

/// One (problem, solver) run, as asked for. request_fields() lists the fields.
struct RunRequest {
  RunRequest() { recorder.time_limit = 60; }

  std::string problem_file;
  SolverSpec solver;                       ///< of an external one: its name
  std::optional<ExternalSolver> external;  ///< instead of one of ours
  std::string start = "cold";              ///< where the solve begins, see start.hpp
  RecorderOptions recorder;
  double memory_limit = 0;  ///< GB the process may hold; 0: not said
  int threads = 1;
  int ranks = 1;            ///< processes that share the problem
  double warm_up = 0;       ///< s; before the solve, see run()
  bool keep_gamma = false;  ///< store the answer in the result file
  bool bare_check = false;  ///< solve once more without looking and record the difference
  int batch = 1;            ///< problems that were solved at once (run/batch.hpp)
  // Set by studies.
  std::string study;
  std::string study_description;
  int repetition = 1;
};

/// One field of a request: where it is read and written, and how. The command line of `ccpbench
/// solve`, the keys of study files, the arguments of a run's process, the resume key and the result
/// file all walk the one list of these in request.cpp, so a new field is one row there.
struct RequestField {
  enum class Shape {
    text,
    list,  ///< texts with commas between them; a list in study files
    number,
    numbers,  ///< with commas between them
    integer,
    choice,
    flag,
  };
  enum class InKey {
    never,
    unless_default,  ///< for fields that came later: keys without them stay as they were
    always,
  };
  using Value = std::variant<std::string, double, std::int64_t>;

  std::string name;  ///< in study files, resume keys and /request of result files
  Shape shape = Shape::text;
  std::string allowed;  ///< what its text must be: "a number > 0"
  std::string help;
  std::function<Value(const RunRequest&)> value;
  /// @param where  named in the error @throws InputError for a text that is not `allowed`
  std::function<void(RunRequest&, const std::string& text, const std::string& where)> set;

  std::string option;  ///< on the command line: "--time-limit", "problem" (by its place); "" none
  bool required = false;  ///< there
  bool hidden = false;    ///< there: for `ccpbench run`, whose child it goes to
  std::string needs;      ///< there: only with the field of that name
  bool in_study = false;  ///< a key of study files, for all runs of a study
  InKey in_key = InKey::never;
  std::function<std::string(const RunRequest&)> key_text;  ///< if it differs from text()
  bool root_attribute = false;                             ///< of result files, beside /request

  /// Its value as text that `set` takes.
  std::string text(const RunRequest& request) const;
  bool is_default(const RunRequest& request) const;
};
const std::vector<RequestField>& request_fields();

/// A request's arguments to `ccpbench solve`: all fields that are not at their defaults.
std::vector<std::string> request_arguments(const RunRequest& request);

/// What `solve` does once all fields are set: checks those that depend on each other, and judges by
/// law. @throws InputError
void complete(RunRequest& request);

/// Aims the stop and the targets at the law that the solver solves (judged_by).
void judge_by_law(RunRequest& request);

/// @throws InputError if the back end of this build does not have so many threads
void check_threads(int threads, const std::string& where);

/// What there is to know of the solver asked for, be it ours or not.
Law law_of(const RunRequest& request);
std::vector<OptionList::Entry> options_of(const RunRequest& request);

/// What a resume key is made from, but for build and machine: all that changes a result or its
/// timing.
/// @param instance  the problem's content hash @param start  start_identity of the request's start
/// @param jobs      how many runs share the machine
KeyParts key_parts(const RunRequest& request, const std::string& instance, const std::string& start,
                   int jobs);

}  // namespace ccp
