#include "solvers/linear/definiteness.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "solvers/linear/spectrum.hpp"

namespace ccp {

std::string Definiteness::text() const {
  return fmt::format("the eigenvalue {:.3g} beside {:.3g} 1/kg", least, largest);
}

Definiteness definiteness(const Problem& problem, int steps) {
  if (problem.contacts() == 0) return {};
  Vector start(problem.map(), 1);
  const VectorView view = overwrite_view(start);
  Kokkos::parallel_for(
      "ccp::definiteness::start", range(view.extent(0)), KOKKOS_LAMBDA(const int i) {
        view(i) = sin(1.0 + 2.3 * i);  // irregular, and the same every time
      });
  const Spectrum found = estimate_spectrum(*problem.delassus(), Teuchos::null, true, start,
                                           std::min(steps, 3 * problem.contacts()));
  return {found.low, found.high};
}

}  // namespace ccp
