#include "problems/model/incidence.hpp"

#include <numeric>

namespace ccp {

Incidence incidence_of(const std::vector<std::int32_t>& bodies, std::size_t count) {
  const auto has_list = [&](std::int32_t body) {
    return body >= 0 && static_cast<std::size_t>(body) < count;
  };
  Incidence incidence;
  incidence.offset.assign(count + 1, 0);
  for (const std::int32_t body : bodies) {
    if (has_list(body)) ++incidence.offset[body + 1];
  }
  std::partial_sum(incidence.offset.begin(), incidence.offset.end(), incidence.offset.begin());
  incidence.side.resize(incidence.offset.back());
  std::vector<int> next(incidence.offset.begin(), incidence.offset.end() - 1);
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    if (has_list(bodies[k])) incidence.side[next[bodies[k]]++] = static_cast<int>(k);
  }
  return incidence;
}

}  // namespace ccp
