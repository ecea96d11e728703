#pragma once

#include <functional>
#include <string>

#include "harness/study.hpp"

namespace ccp {

struct StudyRunOptions {
  std::string output;         ///< folder for the result files; made if missing
  bool resume = false;        ///< keep finished runs whose key is the same, redo the others
  bool force = false;         ///< redo everything
  bool retry_failed = false;  ///< with resume: redo runs that crashed or were killed
  bool dry_run = false;       ///< only say what would be done and why
  bool quiet = false;
  std::string program;  ///< what to start for a run: this program
};

/// How a study went.
struct StudyOutcome {
  int runs = 0, skipped = 0, reached = 0, not_reached = 0, crashed = 0;
};

/// Makes all runs of a study, each in a process of its own: `program solve ... -o FILE`, killed
/// after 1.5 times its time limit and 10 s. A run that does not end by itself becomes a result file
/// with the status "crashed" or "killed".
/// @throws InputError before any run if the folder holds results and neither resume nor force is
/// set
StudyOutcome run_study(const Study& study, const StudyRunOptions& options);

}  // namespace ccp
