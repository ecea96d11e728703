#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/clock.hpp"
#include "harness/measure/referee.hpp"
#include "solvers/core/known_aim.hpp"
#include "solvers/core/rank_times.hpp"
#include "solvers/core/ranks.hpp"
#include "solvers/core/solver.hpp"

namespace ccp {

/// What a run records, and when it ends.
struct RecorderOptions {
  /// The solve ends when one look finds all of these reached; the first is the leading one. None:
  /// the solver ends by itself or by the limits.
  std::vector<Target> stop{Target{}};
  std::vector<Target> targets;  ///< when each is first reached is recorded
  double time_limit = std::numeric_limits<double>::infinity();  ///< s of solve time
  long iteration_limit = std::numeric_limits<long>::max();      ///< outer iterations
  double growth = 1.2;        ///< look when iterations or time grew by this factor
  double fine_growth = 1.02;  ///< the same while a target is within `near` of what is measured
  double near = 3;
  double budget = 0.2;         ///< looks may take this part of the solve time ...
  long free_iterations = 100;  ///< ... without those up to this one, all of them granted
};

/// One look at the iterate.
struct Sample {
  Counters counters;
  double time = 0;           ///< s of solving
  double time_excluded = 0;  ///< s the clock stood still before this look
  double own_residual = 0;   ///< the solver's claim
  Measures measures;
};

/// The first look at which a target held.
struct TargetRecord {
  Target target;
  std::optional<Sample> reached;
};

/// Looks at a solve from outside: the clock is stopped, after a device fence,
/// while it does. It looks when iterations or time have grown by a factor, when the solver's own
/// residual crosses a half decade, and at the end; it checks the limits at every call.
///
/// On several ranks each has one, and all go by the clock of rank 0, so that they agree when to
/// look and when to end; every function is collective but the ones that say what was found.
class Recorder : public Observer, public KnownAim {
 public:
  using Judge = std::function<Measures(const Vector&)>;
  using Progressed = std::function<void(const Sample&)>;

  /// @param judge       measures an iterate; the referee, except in tests of the clock
  /// @param progressed  called off the clock after every look; may be empty
  Recorder(Teuchos::RCP<const Map> map, RecorderOptions options, Judge judge,
           Progressed progressed = {});

  void start() {
    rank_times() = {};
    clock_.start();
  }
  /// Takes the final look at the answer. Call right after solve() returned.
  void finish(const Info& info, const Vector& gamma);

  /// Judges an iterate that somebody else timed: a sample of our own clock's is made by looking.
  /// Samples must be given in the order of their times. @param sample  all but the measures
  void record(Sample sample, const Vector& gamma);

  bool observe(const Progress& progress, const std::function<void(Vector&)>& write_gamma) override;
  bool satisfied() const override { return stop_reached_; }
  bool out_of_time() override;
  /// Where the residual of that law is all that ends the solve.
  double aim(Law law) const override;

  const std::vector<Sample>& samples() const { return samples_; }
  const std::vector<TargetRecord>& targets() const { return targets_; }
  bool stop_reached() const { return stop_reached_; }
  bool limit_passed() const { return limit_passed_; }
  /// Smallest value seen of every measure.
  const Measures& best() const { return best_; }
  /// s on the solve clock, and while it stood still: rank 0's.
  double elapsed() const { return ranks_.of_first(clock_.elapsed()); }
  double excluded() const { return ranks_.of_first(clock_.excluded()); }
  /// What this rank's solve has spent with the others, without looks; after finish().
  const RankTimes& spent_with_ranks() const { return spent_with_ranks_; }

 private:
  bool wants_to_look(const Progress& progress, double elapsed) const;
  void look(const Progress& progress, const Vector& gamma);
  bool near_a_target() const;

  Ranks ranks_;
  RecorderOptions options_;
  Judge judge_;
  Progressed progressed_;
  SolveClock clock_;
  Vector gamma_;
  std::vector<Sample> samples_;
  std::vector<TargetRecord> targets_;
  Measures best_;
  RankTimes spent_with_ranks_;
  double growth_;
  SolveClock::Time::time_point look_began_{};
  double cost_of_a_look_ = 0;  ///< s of judging, without what `progressed` does
  double spent_looking_ = 0;   ///< the same, of all looks after the free ones
  double smallest_half_decade_ = std::numeric_limits<double>::infinity();
  bool stop_reached_ = false, limit_passed_ = false, looked_last_ = false;
};

}  // namespace ccp
