#pragma once

#include <sys/types.h>

#include <chrono>
#include <limits>
#include <string>
#include <vector>

namespace ccp {

/// A process that is watched: its time, its memory, what it says, how it ends. What it has started
/// and left behind ends with it, in whatever group or session: all of it inherits a mark, the
/// variable CCPBENCH_PROCESS.
///
/// It runs in a process group of its own (Ctrl-C at the terminal reaches the parent alone; but see
/// Place), reads nothing, and what it prints goes to the parent, which keeps the end of it. On file
/// descriptor `report_descriptor` it may report lines.
class ChildProcess {
 public:
  static constexpr int report_descriptor = 3;

  struct Limits {
    double seconds = std::numeric_limits<double>::infinity();  ///< wall time from its start
    double memory = std::numeric_limits<double>::infinity();   ///< bytes, resident
  };
  struct End {
    enum class Killed { no, time, memory };
    Killed killed = Killed::no;  ///< by us, at a limit
    int exit_code = -1;          ///< -1: ended by a signal
    int signal = 0;              ///< 0: ended by itself
    double seconds = 0;          ///< wall time
    double peak_memory = 0;      ///< bytes, resident
    std::string last_words;      ///< the last line it printed
  };

  /// Where and how it runs.
  struct Place {
    std::vector<int> processors;  ///< it is bound to these; empty: to those of this process
    std::vector<std::string> environment;  ///< NAME=VALUE, where the name is not set already
    std::string folder;                    ///< it starts there; "": where this process is
    /// It stays in the process group of this process, and whoever ends that ends both.
    bool same_group = false;
    bool inherits_output = false;  ///< it prints where this process prints, and has no last words
  };

  /// Starts `command`, a program found as the shell would find it, and its arguments. It is killed
  /// when this process ends, however it ends.
  /// @throws InputError if it cannot be started
  ChildProcess(const std::vector<std::string>& command, const Place& place, const Limits& limits);
  /// Kills it, and what it started, if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Reads what it wrote and holds it to its limits. @return true once it has ended
  bool advance();
  /// Valid after advance() returned true.
  const End& end() const { return end_; }
  double elapsed() const;
  /// Whether a program of that name, which it started or what it started, has ended and is still
  /// not waited for. False where the system does not list children (CONFIG_PROC_CHILDREN).
  bool has_unreaped(const std::string& program) const;
  /// The last whole line it reported, "" if there is none.
  const std::string& report() const { return report_; }

  /// Waits until one of them writes or ends, at most so long.
  static void wait(const std::vector<ChildProcess*>& children, std::chrono::milliseconds limit);

 private:
  void read_pipes();
  void kill_all() const;

  pid_t pid_ = -1;
  std::string mark_;  ///< by which all that it starts is found, see kill_all
  int report_pipe_ = -1, output_pipe_ = -1;
  Limits limits_;
  std::chrono::steady_clock::time_point start_;
  std::string report_, report_rest_, output_;
  End end_;
};

}  // namespace ccp
