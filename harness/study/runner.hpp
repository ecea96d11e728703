#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/run/result_file.hpp"
#include "harness/study/study.hpp"

namespace ccp {

struct StudyRunOptions {
  std::string output;          ///< folder for the result files; made if missing
  bool resume = false;         ///< keep finished runs whose key is the same, redo the others
  bool force = false;          ///< redo everything
  bool retry_failed = false;   ///< with resume: redo runs that did not end by themselves
  bool dry_run = false;        ///< only say what would be done and why
  int jobs = 1;                ///< runs at a time, each bound to cores of its own if there are more
  bool oversubscribe = false;  ///< runs may have more ranks than there are processors
  double grace = 10;           ///< s of wall time a run gets beyond 1.5 times its limits
  std::string program;         ///< what to start for a run: this program
  std::function<bool()> interrupted;  ///< asked now and then; true ends the study
};

/// How a study went.
struct StudyOutcome {
  int runs = 0, skipped = 0, reached = 0, not_reached = 0, crashed = 0;
  int doubtful = 0;  ///< runs begun while others wanted their processors, see StudyListener
  bool interrupted = false;
};

/// One run of a study, for those who watch it.
struct RunNews {
  int number = 0, total = 0;  ///< its place in the study, from 1
  const PlannedRun* run = nullptr;
  int repetitions = 1;
  std::string path;      ///< of its result
  std::string reason;    ///< why it is made; "": its result is kept
  ResultSummary result;  ///< only in `finished`
};

/// A run that is being made.
struct RunInFlight {
  RunNews news;
  double elapsed = 0;          ///< s since its process was started
  double time = 0, value = 0;  ///< s solved, and the stop's measure, at the last look; NaN: none
  long outer = 0;
};

/// Told how a study goes.
class StudyListener {
 public:
  virtual ~StudyListener() = default;
  virtual void planned(const RunNews&) {}   ///< dry runs: what would happen to each run
  virtual void finished(const RunNews&) {}  ///< a run was made, or its result kept
  /// A run is begun while its processors are wanted by others: the first time, with the reason.
  virtual void doubtful(const std::string&) {}
  /// Several times a second. @param left  s until the study is through, by guess; NaN: no idea
  virtual void progress(const std::vector<RunInFlight>&, double left) { (void)left; }
};

/// Makes all runs of a study, each in a process of its own: `program solve ...`, killed after 1.5
/// times its time limit and the grace, or when it holds more memory than it may. A run that does
/// not end by itself becomes a result file with the status "crashed", "killed" or "out_of_memory",
/// the reason, and the curve as far as it came.
/// @throws InputError before any run if the folder holds results and neither resume nor force is
/// set, if another study writes to the folder, or if there are too few processor cores (for ranks
/// only without oversubscribe); and when a result cannot be written
StudyOutcome run_study(const Study& study, const StudyRunOptions& options, StudyListener& listener);

/// Why a run must be made, or "" when the result at `path` stands.
std::string reason_to_run(const std::string& path, const PlannedRun& run,
                          const StudyRunOptions& options);

}  // namespace ccp
