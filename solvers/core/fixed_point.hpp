#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "problems/base/options.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/scales.hpp"
#include "solvers/core/solver.hpp"

namespace ccp {

/// When an iteration that repeats one step ends: options that its solvers share.
struct FixedPointLimits {
  double tolerance = 1e-12;       ///< >= 0: own residual [m/s] <= this * rms(r); 0: never by itself
  int max_iterations = 10000000;  ///< >= 1
  int check_interval = 50;        ///< >= 1: iterations from one own residual to the next

  void add_to(OptionList& list) {
    list.number("tolerance", tolerance, {0},
                "own residual to stop at, in multiples of rms(r) (0: never)")
        .integer("max_iterations", max_iterations, {1}, "limit of iterations")
        .integer("check_interval", check_interval, {1},
                 "iterations between evaluations of the own residual");
  }
};

/// What such a method says before its first iteration; without constraints that is all.
inline Info fixed_point_info(const Problem& problem, const std::string& own_residual_name) {
  Info info;
  info.own_residual_name = own_residual_name;
  if (problem.all_triples() == 0) {
    info.status = Status::converged;
  } else {
    info.own_residual = std::numeric_limits<double>::quiet_NaN();  // none yet
  }
  return info;
}

/// Repeats `step(measure)` until the limits, the observer or the own residual end it. A step that
/// is asked to measure returns the own residual in m/s, any other one anything. The own residual is
/// measured in iterations 1, 1 + check_interval, ...; one that is not finite, or 1e6 times the
/// first, is divergence. One below the tolerance is convergence if confirm() agrees; if not, the
/// iteration goes on, to a tenth of the residual at each time.
/// @param info   counters to go on from; gets all but `outer` from the steps
/// @return how it ended; `stagnated` with a message where nothing moves but confirm() does not
/// agree
template <class Step, class WriteGamma>
Status iterate(const FixedPointLimits& limits, const Problem& problem, Law law, Observer& observer,
               Info& info, const Step& step, const WriteGamma& write_gamma) {
  constexpr double growth_that_is_divergence = 1e6;
  if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
    return Status::stopped_by_observer;
  }
  double tolerance = limits.tolerance * velocity_scale(problem);
  double first = 0;
  while (info.counters.outer < limits.max_iterations) {
    const bool measure = info.counters.outer % limits.check_interval == 0;
    const double measured = step(measure);
    ++info.counters.outer;
    if (measure) {
      info.own_residual = measured;
      if (!std::isfinite(measured)) return Status::diverged;
      if (first == 0) first = measured;
      if (measured > growth_that_is_divergence * first) return Status::diverged;
    }
    if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
      return Status::stopped_by_observer;
    }
    if (!(measure && tolerance > 0 && measured <= tolerance)) continue;
    Vector answer(problem.map(), 1);
    write_gamma(answer);
    if (confirm(problem, law, answer, limits.tolerance, info.message)) {
      info.message.clear();
      return Status::converged;
    }
    if (measured == 0) return Status::stagnated;
    tolerance = measured / 10;
  }
  return Status::max_iterations;
}

}  // namespace ccp
