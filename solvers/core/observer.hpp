#pragma once

#include <functional>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// Work done so far, counted by the solver.
struct Counters {
  long outer = 0;             ///< iterations of the method (each solver's README says what one is)
  long krylov = 0;            ///< iterations of inner linear solvers
  long operator_applies = 0;  ///< products with N or with a matrix that contains it
  long preconditioner_applies = 0;
  long factorizations = 0;
  long projections = 0;  ///< onto all n cones
};

/// What a solver says of itself after an outer iteration.
struct Progress {
  Counters counters;
  double own_residual = 0;  ///< the solver's own measure of convergence; NaN = none at this moment
};

/// Watches a solve from outside. Solvers call `observe` after every outer iteration (and once for
/// the initial guess) and know nothing else of whoever measures them.
class Observer {
 public:
  virtual ~Observer() = default;

  /// @param progress     counters and own residual
  /// @param write_gamma  writes the current iterate (3n values, N s, in the cone K_mu as far as the
  ///                     method keeps it there) into the vector it is given. Called only when the
  ///                     observer wants to look, and off the clock, so it may do work of its own.
  /// @return true to end the solve; it then ends as Status::stopped_by_observer
  virtual bool observe(const Progress& progress,
                       const std::function<void(Vector&)>& write_gamma) = 0;

  /// Whether it ended the solve because what it saw will do, not at a limit. The solver then hands
  /// back that very iterate: a better one by its own measure may be worse by the observer's.
  virtual bool satisfied() const { return false; }

  /// True once the limits are passed: for loops inside an outer iteration, which should then give
  /// up with what they have. Cheap; never looks at the iterate.
  virtual bool out_of_time() { return false; }
};

/// Thrown by operators out of a linear solve when out_of_time() says so; deliberately no
/// std::exception, which Belos and KrylovSolver take for numerical trouble.
struct OutOfTime {};

/// An observer that never looks and never stops: the bare run.
class NullObserver : public Observer {
 public:
  bool observe(const Progress&, const std::function<void(Vector&)>&) override { return false; }
};

/// The bare run, ended after a number of outer iterations.
class IterationLimit : public Observer {
 public:
  explicit IterationLimit(long outer) : outer_(outer) {}
  bool observe(const Progress& progress, const std::function<void(Vector&)>&) override {
    return progress.counters.outer >= outer_;
  }

 private:
  long outer_;
};

}  // namespace ccp
