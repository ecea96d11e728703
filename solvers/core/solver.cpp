#include "solvers/core/solver.hpp"

#include <Trilinos_version.h>

namespace ccp {

std::string trilinos_version() {
  return TRILINOS_VERSION_STRING;
}

}  // namespace ccp
