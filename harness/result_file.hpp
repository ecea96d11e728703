#pragma once

#include <string>

#include "harness/run.hpp"

namespace ccp {

/// Version of the result file's schema; see docs/result-format.md.
inline constexpr int result_schema_version = 1;

/// Writes one run to one HDF5 file, complete or not at all.
/// @param key  resume key, "" outside of studies
/// @throws InputError if the file exists (and `overwrite` is false) or cannot be written
void write_result(const std::string& path, const RunRequest& request, const RunResult& result,
                  const std::string& key, bool overwrite);

/// What a study needs to know of a finished run.
struct ResultSummary {
  std::string instance, solver, status, message, key;
  bool stop_reached = false;
  double time = 0, residual = 0, error = 0;
  long outer = 0, krylov = 0;
};

/// Reads and checks a result file. @throws InputError if it is not a valid one
ResultSummary read_result(const std::string& path);

}  // namespace ccp
