#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

const std::vector<std::string>& VelocitySystem::orderings() {
  static const std::vector<std::string> names = {"auto", "gravity", "graph", "natural"};
  return names;
}

const std::vector<std::string>& VelocitySystem::preconditioners() {
  static const std::vector<std::string> names = {"auto", "block_ic0", "block_ic1", "block_jacobi"};
  return names;
}

}  // namespace ccp
