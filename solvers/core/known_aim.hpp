#pragma once

#include "solvers/core/law.hpp"
#include "solvers/core/observer.hpp"

namespace ccp {

/// An observer that says beforehand what it waits for: how far a solver has to go may decide how it
/// gets there.
class KnownAim {
 public:
  virtual ~KnownAim() = default;

  /// The residual of that law (Optimality::residual) at which it is content; 0 where it waits for
  /// something else, or for nothing.
  virtual double aim(Law law) const = 0;
};

/// Of any observer; 0 of one that does not say.
inline double aim_of(const Observer& observer, Law law) {
  const auto* const known = dynamic_cast<const KnownAim*>(&observer);
  return known ? known->aim(law) : 0;
}

}  // namespace ccp
