#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/app/app.hpp"
#include "harness/run/result.hpp"

namespace ccp::app {

/// What `solve --json` prints of a run.
nlohmann::ordered_json result_json(const RunResult& result, const std::string& start);

/// What `solve --batch` was asked for.
struct BatchArguments {
  std::vector<std::string> sources;
  RunRequest request;
  std::string output;  ///< a folder
  bool force, json, quiet;
};

/// Solves the problems of the sources at once: a result file for each, one table or JSON object.
/// Exit code 3 unless the referee finds the stop reached by all.
void solve_batch(const BatchArguments& arguments, Context& context);

}  // namespace ccp::app
