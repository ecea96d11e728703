#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ccp {

/// What runs on ranks tells the process that launched it: lines of text, from rank 0. Where nobody
/// listens, nothing happens.
class LaunchReport {
 public:
  /// @param place  what the launcher passed on; "" for none
  explicit LaunchReport(const std::string& place);
  ~LaunchReport();
  LaunchReport(const LaunchReport&) = delete;
  LaunchReport& operator=(const LaunchReport&) = delete;
  void line(const std::string& text) const;
  /// Says that all ranks have found each other, which the launcher waits for.
  void started() const;

 private:
  int descriptor_ = -1;
};

/// How a launch ended.
struct LaunchEnd {
  std::string problem;  ///< one sentence, where it did not end by itself and well; else ""
};

/// The command that starts ranks, and its options: CCPBENCH_MPIEXEC, or what was found when
/// ccpbench was configured.
std::vector<std::string> mpiexec_command();

/// Processors that this process may use.
int granted_processors();

/// @throws InputError if there are fewer processors than ranks times threads
void check_processors(int ranks, int threads, bool oversubscribe);

/// How long ranks may take to find each other, s: CCPBENCH_LAUNCH_LIMIT, or two minutes.
/// @throws InputError if the variable is not a positive number
double launch_limit();

/// Runs `command` on so many ranks, which print where this process prints, and waits. What was
/// started ends with this process, however that ends, and with the launcher's. A launcher that does
/// not end by itself is ended: where a rank has died and it has not noticed for some seconds, and
/// where its ranks have not found each other (LaunchReport::started) within launch_limit().
/// @param threads   of each rank: where ranks times threads is more than the processors granted,
///                  ranks that wait let others run
/// @param command   program and arguments; the place of the LaunchReport is appended
/// @param reported  gets every line that rank 0 reports
/// @throws InputError if there is no launcher
LaunchEnd launch(int ranks, int threads, std::vector<std::string> command,
                 const std::function<void(const std::string&)>& reported);

}  // namespace ccp
