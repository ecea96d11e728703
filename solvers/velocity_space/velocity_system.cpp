#include "solvers/velocity_space/velocity_system.hpp"

#include "solvers/core/transfer.hpp"

namespace ccp {

const std::vector<std::string>& VelocitySystem::orderings() {
  static const std::vector<std::string> names = {"auto", "gravity", "graph", "natural"};
  return names;
}

std::vector<std::string> VelocitySystem::preconditioners() {
  std::vector<std::string> names = body_preconditioner_ids();
  names.insert(names.begin(), "auto");
  return names;
}

DeviceArray<double*> VelocitySystem::device_lower_values() const {
  std::vector<double> values;
  lower_values(values);
  return upload<DeviceArray<double*>>("ccp::VelocitySystem::values", values, values.size());
}

PosedSystem VelocitySystem::pose(long outer, const Teuchos::RCP<const Vector>& b) const {
  PosedSystem posed;
  posed.space = Space::body;
  posed.outer = outer;
  posed.matrix = matrix();
  posed.rhs = b;
  posed.blocks = blocks();
  if (!posed.blocks.is_null()) posed.block_size = posed.blocks->block_size();
  posed.body = body_order();
  return posed;
}

}  // namespace ccp
