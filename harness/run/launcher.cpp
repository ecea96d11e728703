#include "harness/run/launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "harness/run/child_process.hpp"
#include "problems/base/error.hpp"
#include "problems/base/options.hpp"

namespace ccp {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

constexpr const char* limit_variable = "CCPBENCH_LAUNCH_LIMIT";
constexpr const char* started_line = "started";

/// Watches a launcher whose ranks may die without its noticing.
class LaunchWatch {
 public:
  LaunchWatch(const ChildProcess& launcher, std::string program, int ranks, double limit)
      : launcher_(launcher), program_(std::move(program)), ranks_(ranks), limit_(limit) {}

  void ranks_have_started() { started_ = true; }
  /// Why there is no sense in waiting any longer; "" where there is. To be asked again and again.
  std::string problem() {
    constexpr double between_looks = 1;  // s
    constexpr int most_looks = 5;        // launchers take less than one to notice
    const double now = launcher_.elapsed();
    if (!started_ && now > limit_) {
      return fmt::format(
          "{} ranks have not found each other within {:g} s ({} sets another limit); their "
          "launcher and what is left of them were ended",
          ranks_, limit_, limit_variable);
    }
    if (now < next_look_) return "";
    next_look_ = now + between_looks;
    dead_looks_ = launcher_.has_unreaped(program_) ? dead_looks_ + 1 : 0;
    if (dead_looks_ < most_looks) return "";
    return fmt::format(
        "one of {} ranks ended before its time and the launcher went on waiting; it and the other "
        "ranks were ended",
        ranks_);
  }

 private:
  const ChildProcess& launcher_;
  std::string program_;
  int ranks_;
  double limit_, next_look_ = 0;
  int dead_looks_ = 0;  ///< in succession at which a rank was dead
  bool started_ = false;
};

/// A pipe whose writing end others may open by its place. Both ends stay open here, so that it does
/// not matter whether somebody does.
class Mailbox {
 public:
  Mailbox() {
    if (pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
      throw InputError("pipe", "", "to make one", std::strerror(errno));
    }
  }
  ~Mailbox() {
    for (const int end : ends_) close(end);
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  std::string place() const { return fmt::format("/proc/{}/fd/{}", getpid(), ends_[1]); }

  void wait() const {
    constexpr int limit = 50;  // ms
    pollfd descriptor{ends_[0], POLLIN, 0};
    poll(&descriptor, 1, limit);
  }
  /// Hands on every whole line that came.
  void read_lines(const std::function<void(const std::string&)>& act) {
    char buffer[4096];
    for (ssize_t got; (got = read(ends_[0], buffer, sizeof buffer)) > 0;) {
      rest_.append(buffer, static_cast<std::size_t>(got));
    }
    for (std::size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
      act(rest_.substr(0, end));
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  std::string rest_;
};

}  // namespace

LaunchReport::LaunchReport(const std::string& place) {
  if (!place.empty()) descriptor_ = open(place.c_str(), O_WRONLY | O_CLOEXEC);
}
LaunchReport::~LaunchReport() {
  if (descriptor_ >= 0) close(descriptor_);
}
void LaunchReport::line(const std::string& text) const {
  const std::string line = text + "\n";
  if (descriptor_ >= 0 && write(descriptor_, line.data(), line.size()) < 0) return;
}

void LaunchReport::started() const {
  line(started_line);
}

double launch_limit() {
  constexpr double by_default = 120;  // s
  const char* const wanted = std::getenv(limit_variable);
  if (!wanted) return by_default;
  double seconds = 0;
  if (!parse_number(wanted, seconds) || !(seconds > 0)) {
    throw InputError(limit_variable, "", "seconds > 0", wanted);
  }
  return seconds;
}

std::vector<std::string> mpiexec_command() {
  const char* const wanted = std::getenv("CCPBENCH_MPIEXEC");
  return words_of(wanted ? wanted : CCP_MPIEXEC);
}

int granted_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  return CPU_COUNT(&mask);
}

void check_processors(int ranks, int threads, bool oversubscribe) {
  const int granted = granted_processors();
  if (oversubscribe || ranks * threads <= granted) return;
  throw InputError("--ranks", "",
                   fmt::format("at most {}, {} per processor granted (--oversubscribe takes more, "
                               "whose times mean nothing)",
                               granted / threads,
                               threads == 1 ? "one" : fmt::format("one for {} threads", threads)),
                   fmt::format("{}", ranks));
}

LaunchEnd launch(int ranks, int threads, std::vector<std::string> command,
                 const std::function<void(const std::string&)>& reported) {
  Mailbox mailbox;
  std::vector<std::string> words = mpiexec_command();
  if (words.empty()) {
    throw InputError("CCPBENCH_MPIEXEC", "", "a launcher such as mpiexec", "nothing");
  }
  words.insert(words.end(), {CCP_MPIEXEC_NUMPROC_FLAG, fmt::format("{}", ranks)});
  words.insert(words.end(), command.begin(), command.end());
  words.push_back(mailbox.place());
  ChildProcess::Place place;
  place.environment = words_of(CCP_MPIEXEC_ENVIRONMENT);
  if (ranks * threads > granted_processors()) {
    for (std::string& word : words_of(CCP_MPIEXEC_CROWDED)) {
      place.environment.push_back(std::move(word));
    }
  }
  place.same_group = true;
  place.inherits_output = true;
  const std::string program = command.front();
  const double limit = launch_limit();
  ChildProcess process(words, place, {});
  LaunchWatch watch(process, program, ranks, limit);
  const auto heard = [&](const std::string& line) {
    if (line == started_line) return watch.ranks_have_started();
    reported(line);
  };
  while (!process.advance()) {
    mailbox.wait();
    mailbox.read_lines(heard);
    const std::string problem = watch.problem();
    if (!problem.empty()) return {problem};  // and `process` is ended
  }
  mailbox.read_lines(heard);
  const ChildProcess::End& end = process.end();
  if (end.exit_code == 0) return {};
  return {end.signal != 0
              ? fmt::format("the launcher of {} ranks was ended by signal {} ({})", ranks,
                            end.signal, strsignal(end.signal))
              : fmt::format("one of {} ranks ended before its time; the launcher's exit code is {}",
                            ranks, end.exit_code)};
}

}  // namespace ccp
