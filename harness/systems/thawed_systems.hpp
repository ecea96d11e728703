#pragma once

#include <memory>

#include "harness/systems/frozen_systems.hpp"
#include "solvers/ipm/newton_system.hpp"
#include "solvers/preconditioners/linear_solver.hpp"

namespace ccp {

/// Frozen systems on the device, one at a time, for a LinearSolver and for whoever judges it.
class ThawedSystems {
 public:
  virtual ~ThawedSystems() = default;
  /// Makes A that of the system. @return b
  virtual Teuchos::RCP<Vector> take(const FrozenSystem& system) = 0;
  /// A for a LinearSolver; ask anew for each.
  virtual ChangingMatrix& matrix() = 0;
  /// y = A x as the solver that made the systems multiplies, whatever LinearSolver does.
  virtual const Operator& judge() const = 0;
  /// Takes out of a vector what no system moves: the idle parts of contacts with mu = 0.
  virtual void clear_idle(Vector& x) const { (void)x; }
};

/// @param problem  theirs; it and the systems must outlive the result
std::unique_ptr<ThawedSystems> thaw(const FrozenSystems& systems, const Problem& problem);

/// R on the device.
DeviceArray<double* [2]> regularization_of(const FrozenSystems& systems);
/// Contact space: sets the scaling of a system of the same problem and R, and gives b on the
/// problem's map.
Teuchos::RCP<Vector> thaw(const FrozenSystem& frozen, const Problem& problem, NewtonSystem& system);

}  // namespace ccp
