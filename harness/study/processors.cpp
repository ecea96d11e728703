#include "harness/study/processors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "problems/base/options.hpp"

namespace ccp {
namespace {

/// In that time a processor's ticks are enough to tell whether it is busy.
constexpr std::chrono::milliseconds look_back(60);

std::vector<std::vector<int>> granted_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::map<std::string, std::vector<int>>
      by_core;  // hardware threads by the list of their siblings
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(static_cast<std::size_t>(cpu), &mask)) continue;
      std::ifstream stream(
          fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
      std::string siblings;
      if (!std::getline(stream, siblings)) siblings = fmt::format("{}", cpu);
      by_core[siblings].push_back(cpu);
    }
  }
  std::vector<std::vector<int>> cores;
  for (auto& [siblings, threads] : by_core) cores.push_back(std::move(threads));
  std::sort(cores.begin(), cores.end());
  if (cores.empty()) cores = {{0}};
  std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (quota_file >> quota >> period && period > 0) {
    const double paid = std::max(1.0, quota / period);
    if (paid < static_cast<double>(cores.size())) cores.resize(static_cast<std::size_t>(paid));
  }
  return cores;
}

/// Locks a core that is lent, on its folder in /sys, which is there for all users and leaves
/// nothing behind. @param lock  the descriptor that holds it; -1 where the system has no such
/// folder
/// @return false if somebody else holds it
bool lock_core(const std::vector<int>& threads, int& lock) {
  const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}", threads.front());
  lock = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
  close(std::exchange(lock, -1));
  return false;
}

}  // namespace

ProcessorPool::ProcessorPool() : ProcessorPool(granted_cores()) {
  real_ = true;
  ticks_ = read_ticks();
}

ProcessorPool::ProcessorPool(const std::vector<std::vector<int>>& cores) {
  for (const std::vector<int>& threads : cores) cores_.push_back({threads});
}

ProcessorPool::~ProcessorPool() {
  for (const Core& core : cores_) {
    if (core.lock >= 0) close(core.lock);
  }
}

int ProcessorPool::hardware_threads() const {
  std::size_t count = 0;
  for (const Core& core : cores_) count += core.threads.size();
  return static_cast<int>(count);
}

bool ProcessorPool::has(int cores) const {
  return std::count_if(cores_.begin(), cores_.end(), [](const Core& core) { return !core.lent; }) >=
         cores;
}

std::vector<ProcessorPool::Ticks> ProcessorPool::read_ticks() {
  std::vector<Ticks> ticks;
  std::ifstream stream("/proc/stat");
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    int thread = 0;
    if (name.rfind("cpu", 0) != 0 || !parse_number(name.substr(3), thread)) continue;
    if (ticks.size() <= static_cast<std::size_t>(thread)) {
      ticks.resize(static_cast<std::size_t>(thread) + 1);
    }
    Ticks& counted = ticks[static_cast<std::size_t>(thread)];
    // user nice system idle iowait irq softirq steal
    double value = 0;
    for (int column = 0; column < 8 && words >> value; ++column) {
      counted.all += value;
      if (column != 3 && column != 4) counted.busy += value;
    }
  }
  return ticks;
}

/// Tells which of the cores that are not lent were idle since the last look.
void ProcessorPool::watch() {
  const std::vector<Ticks> now = read_ticks();
  constexpr double enough = 5, busy = 0.5;  // ticks, mostly of 10 ms; part of them
  const auto since = [&](int thread) {
    const auto at = static_cast<std::size_t>(thread);
    if (at >= now.size() || at >= ticks_.size()) return Ticks();
    return Ticks{now[at].busy - ticks_[at].busy, now[at].all - ticks_[at].all};
  };
  for (const Core& core : cores_) {
    if (since(core.threads.front()).all < enough) return;
  }
  watched_ = true;
  for (Core& core : cores_) {
    if (core.lent) continue;
    core.idle = std::all_of(core.threads.begin(), core.threads.end(), [&](int thread) {
      return since(thread).busy <= busy * since(thread).all;
    });
  }
  ticks_ = now;
}

std::vector<int> ProcessorPool::take(int cores) {
  if (real_) {
    // The first look needs something to look back on, where there is a choice.
    if (!watched_ && cores < this->cores()) std::this_thread::sleep_for(look_back);
    watch();
  }
  std::vector<int> lent;
  const auto lend = [&](bool alone, bool idle) {
    for (std::size_t i = 0; i < cores_.size() && static_cast<int>(lent.size()) < cores; ++i) {
      Core& core = cores_[i];
      if (core.lent || (idle && !core.idle)) continue;
      core.shared = real_ && !lock_core(core.threads, core.lock);
      if (alone && core.shared) continue;
      core.lent = true;
      lent.push_back(static_cast<int>(i));
    }
  };
  lend(true, true);
  lend(true, false);
  lend(false, false);
  std::sort(lent.begin(), lent.end());
  return lent;
}

bool ProcessorPool::shared(const std::vector<int>& lent) const {
  return std::any_of(lent.begin(), lent.end(),
                     [&](int core) { return cores_[static_cast<std::size_t>(core)].shared; });
}

void ProcessorPool::give_back(const std::vector<int>& lent) {
  for (const int number : lent) {
    Core& core = cores_[static_cast<std::size_t>(number)];
    core.lent = false;
    if (core.lock >= 0) close(std::exchange(core.lock, -1));
  }
}

std::vector<int> ProcessorPool::processors(const std::vector<int>& lent) const {
  std::vector<int> result;
  for (const int core : lent) {
    const auto& threads = cores_[static_cast<std::size_t>(core)].threads;
    result.insert(result.end(), threads.begin(), threads.end());
  }
  return result;
}

}  // namespace ccp
