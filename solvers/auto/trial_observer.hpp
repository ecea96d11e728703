#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "solvers/core/observer.hpp"
#include "solvers/core/optimality.hpp"

namespace ccp {

/// Watches the first solver of auto: measures its residual at counted iterations, and ends it when
/// it does not promise to arrive before the other solver would.
class TrialObserver : public Observer {
 public:
  struct Plan {
    double aim = 0;         ///< residual that will do
    double tolerance = 0;   ///< residual at which auto itself is done
    long trial = 24;        ///< iterations, > 0
    double enough = 0.16;   ///< residual after them with which it goes on
    double worth = 0;       ///< iterations that the second solver costs as much as
    double patience = 1.5;  ///< times `worth`: iterations that it gets at most
  };

  TrialObserver(const Problem& problem, Law law, const Plan& plan, Observer& outer)
      : problem_(problem), law_(law), plan_(plan), outer_(outer), next_(std::max(1L, plan.trial)) {}

  bool observe(const Progress& progress, const std::function<void(Vector&)>& write) override {
    counters_ = progress.counters;
    double own = std::numeric_limits<double>::quiet_NaN();
    if (counters_.outer >= next_) own = look(write);
    stopped_ = outer_.observe({counters_, own}, write);
    return stopped_ || done_ || hopeless_;
  }
  bool satisfied() const override { return outer_.satisfied(); }
  bool out_of_time() override { return outer_.out_of_time(); }

  /// By whoever is outside.
  bool stopped() const { return stopped_; }
  /// The residual is at most the tolerance.
  bool done() const { return done_; }
  /// The last residual that was measured; NaN if none was.
  double residual() const { return residual_; }

 private:
  static constexpr double growth = 1.5;  ///< of the iterations from look to look
  static constexpr double early = 0.3;   ///< times `worth`: before, rates say little

  double look(const std::function<void(Vector&)>& write) {
    const long now = counters_.outer;
    if (!gamma_) gamma_ = std::make_unique<Vector>(problem_.map(), 1);
    write(*gamma_);
    residual_ = optimality(problem_, law_, *gamma_).residual();
    done_ = residual_ <= plan_.tolerance;
    const double before = best_;
    best_ = std::min(best_, residual_);  // a NaN stays outside
    const double most = plan_.patience * plan_.worth;
    if (best_ <= plan_.aim) {
      hopeless_ = false;  // whoever is outside has not seen it yet
    } else if (last_ == 0) {
      hopeless_ = !(best_ <= plan_.enough);
    } else {
      const bool slow =
          static_cast<double>(now) > early * plan_.worth && !(left(before, now) <= plan_.worth);
      hopeless_ = slow || static_cast<double>(now) >= most;
    }
    last_ = now;
    const double later = growth * static_cast<double>(now);
    next_ = std::max(now + 1, std::lround(best_ > plan_.aim ? std::min(later, most) : later));
    return residual_;
  }

  /// Iterations to the aim at the rate of those since the last look.
  double left(double before, long now) const {
    const double gained = std::log(before / best_);
    return static_cast<double>(now - last_) * std::log(best_ / plan_.aim) / gained;
  }

  const Problem& problem_;
  Law law_;
  Plan plan_;
  Observer& outer_;
  std::unique_ptr<Vector> gamma_;  ///< made when it first looks
  Counters counters_;
  long next_, last_ = 0;
  double residual_ = std::numeric_limits<double>::quiet_NaN(),
         best_ = std::numeric_limits<double>::infinity();
  bool stopped_ = false, done_ = false, hopeless_ = false;
};

}  // namespace ccp
