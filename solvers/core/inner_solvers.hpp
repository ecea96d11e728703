#pragma once

#include <functional>
#include <memory>
#include <string>

#include "solvers/core/solver.hpp"

namespace ccp {

/// What a solver that works with others must know of them: handed to it by the registry, in which
/// it stands beside them.
struct InnerSolvers {
  /// @throws InputError for an unknown solver or a bad option
  std::function<std::unique_ptr<Solver>(const SolverSpec&)> make;
  /// Why such a solver does not take the problem; "" if it does.
  std::function<std::string(const SolverSpec&, const ContactProblem&)> why_unsupported;
};

}  // namespace ccp
