#include "harness/run/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "problems/base/error.hpp"

extern char** environ;

namespace ccp {
namespace {

constexpr std::size_t kept_output = 8192;  // bytes

/// The two ends of a pipe; what is not taken is closed.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw InputError("pipe", "", "to make one", std::strerror(errno));
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int take_reader() { return std::exchange(ends[0], -1); }
};

/// Binds this process, and thereby what it starts, to some processors for as long as it lives.
class Bound {
 public:
  explicit Bound(const std::vector<int>& processors) {
    if (processors.empty() || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &wanted);
    bound_ = sched_setaffinity(0, sizeof wanted, &wanted) == 0;
  }
  ~Bound() {
    if (bound_) sched_setaffinity(0, sizeof before_, &before_);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  cpu_set_t before_{};
  bool bound_ = false;
};

/// @param mark  is added to those that this process has itself
std::vector<std::string> extended_environment(const std::vector<std::string>& extra,
                                              const std::string& mark) {
  std::string marked = "CCPBENCH_PROCESS=";
  std::vector<std::string> settings;
  for (char** entry = environ; *entry; ++entry) {
    const std::string setting = *entry;
    if (setting.rfind(marked, 0) == 0) {
      marked = setting;
    } else {
      settings.push_back(setting);
    }
  }
  settings.push_back(marked + mark);
  for (const std::string& setting : extra) {
    if (!std::getenv(setting.substr(0, setting.find('=')).c_str())) settings.push_back(setting);
  }
  return settings;
}

/// A text that no other process has in its environment.
std::string new_mark() {
  static int count = 0;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return fmt::format("/{}.{}.{}", getpid(), ++count, now);
}

/// Kills every process whose environment has the mark. @return whether there was one
bool kill_marked(const std::string& mark) {
  bool found = false;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process <= 0 || process == getpid()) continue;
    std::ifstream stream(entry.path() / "environ", std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    if (text.str().find(mark) == std::string::npos) continue;
    kill(process, SIGKILL);
    found = true;
  }
  return found;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

/// Bytes of memory a process holds; 0 if it has gone.
double resident_memory(pid_t process) {
  std::ifstream stream(fmt::format("/proc/{}/statm", process));
  double size = 0, resident = 0;
  stream >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Processes that this one's threads have started and that are not waited for, ended ones included.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& thread :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), error)) {
    std::ifstream stream(thread.path() / "children");
    for (pid_t child = 0; stream >> child;) children.push_back(child);
  }
  return children;
}

/// What a process is called, at most 15 letters of it, and how it is: Z has ended.
struct NameAndState {
  std::string name;
  char state = ' ';
};
NameAndState name_and_state(pid_t process) {
  std::ifstream stream(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(stream, line);
  const std::size_t begin = line.find('('), end = line.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end + 2 >= line.size()) return {};
  return {line.substr(begin + 1, end - begin - 1), line[end + 2]};
}

bool has_unreaped_below(pid_t process, const std::string& name) {
  for (const pid_t child : children_of(process)) {
    const NameAndState found = name_and_state(child);
    if (found.state == 'Z' && found.name == name) return true;
    if (has_unreaped_below(child, name)) return true;
  }
  return false;
}

/// The last line with something in it, without control characters.
std::string last_line(const std::string& text) {
  std::string line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string candidate = text.substr(begin, end - begin);
    for (char& c : candidate) {
      if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
    }
    if (candidate.find_first_not_of(' ') != std::string::npos) line = candidate;
    begin = end + 1;
  }
  constexpr std::size_t longest = 300;
  return line.substr(0, longest);
}

/// Appends what can be read now and keeps the end of it; a process that never stops writing does
/// not keep us here. @return false at the end of the stream
bool read_some(int descriptor, std::string& text, std::size_t kept) {
  char buffer[4096];
  for (int part = 0; part < 64; ++part) {
    const ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > kept) text.erase(0, text.size() - kept);
  }
  return true;
}

void close_pipe(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const Place& place,
                           const Limits& limits)
    : mark_(new_mark()), limits_(limits), start_(std::chrono::steady_clock::now()) {
  Pipe report, output, failure;
  std::vector<std::string> words = command,
                           settings = extended_environment(place.environment, mark_);
  const std::vector<char*> arguments = pointers(words), variables = pointers(settings);
  {
    const Bound bound(place.processors);
    pid_ = fork();
    if (pid_ == 0) {
      // Other threads of the parent are gone, and so may be their locks: system calls only.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (!place.same_group) setpgid(0, 0);
      const int nothing = open("/dev/null", O_RDONLY);
      const bool prints = place.inherits_output || (dup2(output.ends[1], STDOUT_FILENO) >= 0 &&
                                                    dup2(output.ends[1], STDERR_FILENO) >= 0);
      if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && prints &&
          dup2(report.ends[1], report_descriptor) >= 0 &&
          (place.folder.empty() || chdir(place.folder.c_str()) == 0)) {
        execvpe(words[0].c_str(), arguments.data(), variables.data());
      }
      const int reason = errno;
      _exit(write(failure.ends[1], &reason, sizeof reason) > 0 ? 127 : 126);
    }
  }
  if (pid_ < 0) throw InputError(words[0], "", "to start a process", std::strerror(errno));
  if (!place.same_group) setpgid(pid_, pid_);  // whoever comes first
  report_pipe_ = report.take_reader();
  output_pipe_ = output.take_reader();
  close_pipe(failure.ends[1]);
  fcntl(failure.ends[0], F_SETFL, 0);  // blocks until the program has taken over, or could not
  int reason = 0;
  if (read(failure.ends[0], &reason, sizeof reason) > 0) {
    waitpid(std::exchange(pid_, -1), nullptr, 0);
    close_pipe(report_pipe_);
    close_pipe(output_pipe_);
    throw InputError(words[0], "", "to start a process", std::strerror(reason));
  }
  // Where memory runs out, the system shall end the run, and not the study.
  std::ofstream(fmt::format("/proc/{}/oom_score_adj", pid_)) << 1000;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill_all();
    waitpid(pid_, nullptr, 0);
  }
  close_pipe(report_pipe_);
  close_pipe(output_pipe_);
}

void ChildProcess::kill_all() const {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);  // should it have left its group
  }
  // More than once, for what was started meanwhile.
  for (int round = 0; round < 10 && kill_marked(mark_); ++round) {
  }
}

double ChildProcess::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool ChildProcess::has_unreaped(const std::string& program) const {
  constexpr std::size_t kept_by_the_system = 15;
  const std::string name = std::filesystem::path(program).filename().string();
  return pid_ > 0 && has_unreaped_below(pid_, name.substr(0, kept_by_the_system));
}

void ChildProcess::read_pipes() {
  if (report_pipe_ >= 0) {
    if (!read_some(report_pipe_, report_rest_, kept_output)) close_pipe(report_pipe_);
    const std::size_t end = report_rest_.rfind('\n');
    if (end != std::string::npos) {
      const std::size_t before = end == 0 ? std::string::npos : report_rest_.rfind('\n', end - 1);
      const std::size_t begin = before == std::string::npos ? 0 : before + 1;
      report_ = report_rest_.substr(begin, end - begin);
      report_rest_.erase(0, end + 1);
    }
  }
  if (output_pipe_ >= 0) {
    if (!read_some(output_pipe_, output_, kept_output)) close_pipe(output_pipe_);
  }
}

bool ChildProcess::advance() {
  if (pid_ < 0) return true;
  read_pipes();
  int state = 0;
  rusage usage{};
  const pid_t ended = wait4(pid_, &state, WNOHANG, &usage);
  if (ended == 0) {
    const double memory = resident_memory(pid_);
    end_.peak_memory = std::max(end_.peak_memory, memory);
    if (end_.killed == End::Killed::no) {
      if (memory > limits_.memory) end_.killed = End::Killed::memory;
      if (elapsed() > limits_.seconds) end_.killed = End::Killed::time;
      if (end_.killed != End::Killed::no) kill_all();
    }
    return false;
  }
  kill(-pid_, SIGKILL);  // what it started and left behind
  pid_ = -1;
  kill_all();
  read_pipes();
  if (WIFEXITED(state)) end_.exit_code = WEXITSTATUS(state);
  if (WIFSIGNALED(state)) end_.signal = WTERMSIG(state);
  end_.seconds = elapsed();
  end_.peak_memory = std::max(end_.peak_memory, 1024.0 * static_cast<double>(usage.ru_maxrss));
  end_.last_words = last_line(output_);
  return true;
}

void ChildProcess::wait(const std::vector<ChildProcess*>& children,
                        std::chrono::milliseconds limit) {
  std::vector<pollfd> descriptors;
  for (const ChildProcess* child : children) {
    for (const int descriptor : {child->report_pipe_, child->output_pipe_}) {
      if (descriptor >= 0) descriptors.push_back({descriptor, POLLIN, 0});
    }
  }
  poll(descriptors.data(), descriptors.size(), static_cast<int>(limit.count()));
}

}  // namespace ccp
