#pragma once

#include <vector>

namespace ccp {

/// The processor cores this process may use, lent to runs so that no two share one.
class ProcessorPool {
 public:
  /// What the system grants: the affinity mask, by cores with all their hardware threads; a CPU
  /// quota (cgroup v2) that is smaller leaves as many cores as it pays for.
  ProcessorPool();
  /// @param cores  hardware threads of each core
  explicit ProcessorPool(std::vector<std::vector<int>> cores);

  int cores() const { return static_cast<int>(cores_.size()); }
  int hardware_threads() const;
  /// Cores a run of so many threads takes: one per thread, and all where it has more than that.
  int cores_for(int threads) const { return threads < cores() ? threads : cores(); }
  bool has(int cores) const;
  /// Lends that many free cores, neighbours first. @return their numbers within the pool
  std::vector<int> take(int cores);
  void give_back(const std::vector<int>& lent);
  /// The hardware threads of lent cores, as the system numbers them.
  std::vector<int> processors(const std::vector<int>& lent) const;

 private:
  std::vector<std::vector<int>> cores_;
  std::vector<bool> busy_;
};

}  // namespace ccp
