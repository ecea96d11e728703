#include "solvers/velocity_space/factor_choice.hpp"

namespace ccp {

double cg_bytes(const VelocitySystem& system) {
  // The iteration and the stopping rule read or write a vector some 15 times.
  return system.iteration_bytes() + 15.0 * sizeof(double) * system.size();
}

bool factoring_pays(double cost, const std::vector<ThinnedFactor*>& factors,
                    const std::function<double(double)>& sum) {
  const auto all = [&](double (ThinnedFactor::*seconds)()) {
    double own = 0;
    for (ThinnedFactor* factor : factors) own += (factor->*seconds)();
    return sum(own);
  };
  if (cost <= all(&ThinnedFactor::cost_of_first_analysis)) return false;
  for (ThinnedFactor* factor : factors) {
    if (!factor->analysed()) factor->analyse();
  }
  if (cost <= all(&ThinnedFactor::cost)) return false;
  for (ThinnedFactor* factor : factors) {
    if (!factor->analysis_serves()) factor->analyse();
  }
  return cost > all(&ThinnedFactor::cost);
}

}  // namespace ccp
