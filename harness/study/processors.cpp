#include "harness/study/processors.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

namespace ccp {
namespace {

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

}  // namespace

ProcessorPool::ProcessorPool() : ProcessorPool(granted_cores()) {}

ProcessorPool::ProcessorPool(std::vector<std::vector<int>> cores)
    : cores_(std::move(cores)), busy_(cores_.size(), false) {}

int ProcessorPool::hardware_threads() const {
  std::size_t count = 0;
  for (const auto& core : cores_) count += core.size();
  return static_cast<int>(count);
}

bool ProcessorPool::has(int cores) const {
  return std::count(busy_.begin(), busy_.end(), false) >= cores;
}

std::vector<int> ProcessorPool::take(int cores) {
  std::vector<int> lent;
  for (std::size_t i = 0; i < busy_.size() && static_cast<int>(lent.size()) < cores; ++i) {
    if (busy_[i]) continue;
    busy_[i] = true;
    lent.push_back(static_cast<int>(i));
  }
  return lent;
}

void ProcessorPool::give_back(const std::vector<int>& lent) {
  for (const int core : lent) busy_[static_cast<std::size_t>(core)] = false;
}

std::vector<int> ProcessorPool::processors(const std::vector<int>& lent) const {
  std::vector<int> result;
  for (const int core : lent) {
    const auto& threads = cores_[static_cast<std::size_t>(core)];
    result.insert(result.end(), threads.begin(), threads.end());
  }
  return result;
}

}  // namespace ccp
