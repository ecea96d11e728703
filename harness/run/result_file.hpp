#pragma once

#include <optional>
#include <string>

#include "harness/run/provenance.hpp"
#include "harness/run/result.hpp"

namespace ccp {

/// Version of the result file's schema; see docs/result-format.md.
inline constexpr int result_schema_version = 1;

/// Writes one run to one HDF5 file, complete or not at all.
/// @param key  resume key, "" outside of studies
/// @throws InputError if the file exists (and `overwrite` is false) or cannot be written
void write_result(const std::string& path, const RunRequest& request, const RunResult& result,
                  const std::string& key, bool overwrite);

/// The same without waiting for the disk: what a process writes of itself while it runs.
void write_checkpoint(const std::string& path, const RunRequest& request, const RunResult& so_far);

/// What a study adds to the file a run's process wrote.
struct StudyStamp {
  int order = 0;  ///< the run's place in the study, from 1
  int jobs = 1;   ///< how many runs the study made at a time
  std::string key;
  KeyParts key_parts;  ///< what the key was made from
  /// A run whose process did not end by itself: its status, and the reason as message.
  std::optional<Status> failure;
  std::string failure_message;
  double wall_time = 0;    ///< s, of the process
  double peak_memory = 0;  ///< bytes, resident, as the parent saw it
};

/// Makes the file a study keeps, `path`, from the one that a process left, `from`; a file at `path`
/// is replaced. A checkpoint thereby becomes the row of a run that failed.
/// @throws InputError if `from` is no result file, or `path` cannot be written
void stamp_result(const std::string& from, const std::string& path, const StudyStamp& stamp);

/// Copies a result to `path` with the solver and the start in the spelling of this request, which
/// asks for the same. @throws InputError if `from` is no HDF5 file, or `path` cannot be written
void respell_result(const std::string& from, const std::string& path, const RunRequest& request);

/// What a study needs to know of a finished run.
struct ResultSummary {
  std::string instance, instance_hash, solver, start, message, key;
  Status status = Status::running;
  KeyParts key_parts;
  bool stop_reached = false;
  Measure residual_measure = Measure::residual;  ///< `residual`, judged by the law
  double time = 0, residual = 0;
  double error = 0;  ///< NaN under Coulomb's law: it measures solutions of the convex problem
  long outer = 0, krylov = 0;
};

/// What was asked for, of a result file that has /request; nothing of older files.
/// @throws InputError for a field that is unknown or cannot be read
std::optional<RunRequest> read_request(const std::string& path);

/// Reads and checks what a study needs of a result file. @throws InputError if it is not a valid
/// one
ResultSummary read_result(const std::string& path);

/// Checks all of a result file against docs/result-format.md: that everything is there, and that
/// it agrees with itself (counters and times do not run backwards, targets and the smallest values
/// are those of the curve, the stop was reached if the answer says so).
/// @throws InputError naming what is wrong
ResultSummary check_result(const std::string& path);

}  // namespace ccp
