#include "solvers/core/solver.hpp"

#include <Trilinos_version.h>

namespace ccp {

std::string trilinos_version() {
  return TRILINOS_VERSION_STRING;
}

std::string to_string(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::max_iterations:
      return "max_iterations";
    case Status::time_limit:
      return "time_limit";
    case Status::stagnated:
      return "stagnated";
    case Status::diverged:
      return "diverged";
    case Status::numerical_error:
      return "numerical_error";
    case Status::unsupported:
      return "unsupported";
    case Status::stopped_by_observer:
      return "stopped_by_observer";
  }
  return "unknown";
}

}  // namespace ccp
