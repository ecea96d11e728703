#pragma once

#include <string>
#include <vector>

namespace ccp {

/// The processor cores this process may use, lent to runs so that no two share one: no two of this
/// pool, nor of any other pool of this machine as long as there are cores enough.
class ProcessorPool {
 public:
  /// What the system grants: the affinity mask, by cores with all their hardware threads; a CPU
  /// quota (cgroup v2) that is smaller leaves as many cores as it pays for.
  ProcessorPool();
  /// @param cores  hardware threads of each core; made-up ones, for which nobody else is asked
  explicit ProcessorPool(const std::vector<std::vector<int>>& cores);
  ~ProcessorPool();
  ProcessorPool(const ProcessorPool&) = delete;
  ProcessorPool& operator=(const ProcessorPool&) = delete;

  int cores() const { return static_cast<int>(cores_.size()); }
  int hardware_threads() const;
  /// Cores a run of so many threads takes: one per thread, and all where it has more than that.
  int cores_for(int threads) const { return threads < cores() ? threads : cores(); }
  bool has(int cores) const;
  /// Lends that many free cores: first those that no other pool has lent, of these the idle ones,
  /// of these neighbours. @return their numbers within the pool, ascending
  std::vector<int> take(int cores);
  /// Whether another pool has lent one of these, too.
  bool shared(const std::vector<int>& lent) const;
  void give_back(const std::vector<int>& lent);
  /// The hardware threads of lent cores, as the system numbers them.
  std::vector<int> processors(const std::vector<int>& lent) const;

 private:
  struct Core {
    std::vector<int> threads;
    bool lent = false;
    bool idle = true;     ///< when it was last watched, which is while it is not lent
    bool shared = false;  ///< while it is lent: by another pool, too
    int lock = -1;        ///< descriptor by which other pools see that it is lent; -1: none
  };
  /// What /proc/stat counts for a hardware thread, in ticks.
  struct Ticks {
    double busy = 0, all = 0;
  };
  static std::vector<Ticks> read_ticks();
  void watch();

  std::vector<Core> cores_;
  bool real_ = false;         ///< the system's
  bool watched_ = false;      ///< long enough to know which are idle
  std::vector<Ticks> ticks_;  ///< at the last look, by hardware thread
};

}  // namespace ccp
