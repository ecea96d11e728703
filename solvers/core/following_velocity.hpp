#pragma once

#include <functional>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// A free velocity r that follows the solution, as Coulomb's law makes it: r + mu |u_t| n. An
/// interior-point method that takes one finds its root in the same Newton steps as its own.
class FollowingVelocity {
 public:
  virtual ~FollowingVelocity() = default;

  /// By how much contact velocities change with r in the present step: du = (dU/dr) dr, 3n values
  /// each in world axes, m/s. One linear solve. @return false where that failed
  using Response = std::function<bool(const ConstVectorView& dr, const VectorView& du)>;

  /// The change of r in a Newton step.
  /// @param u   contact velocities, 3n values in world axes, m/s
  /// @param du  their change in the step if r stays; with dr it is du + response(dr)
  /// @param dr  out
  /// @return false where a linear solve failed
  virtual bool change(const ConstVectorView& u, const ConstVectorView& du, const Response& response,
                      const VectorView& dr) = 0;

  /// Takes the part theta of the step: writes the new r into Problem::r() of the solver's problem.
  virtual void advance(double theta) = 0;
};

/// A solver of the convex law that takes one.
class FollowsVelocity {
 public:
  virtual ~FollowsVelocity() = default;
  FollowingVelocity* following = nullptr;  ///< null: r stays. Must outlive the next solve
};

}  // namespace ccp
