#include "solvers/velocity_space/make_system.hpp"

#include "solvers/velocity_space/assembled_system.hpp"
#include "solvers/velocity_space/body_system.hpp"

namespace ccp {

std::unique_ptr<VelocitySystem> make_velocity_system(const Problem& problem,
                                                     const std::string& ordering,
                                                     const std::string& preconditioner) {
  if (problem.shared_delassus().is_assembled()) return make_assembled_system(problem);
  return make_body_system(problem, ordering, preconditioner);
}

}  // namespace ccp
