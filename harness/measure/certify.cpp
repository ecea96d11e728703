#include "harness/measure/certify.hpp"

#include <cmath>

#include "harness/measure/referee.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {

Measures certify(ContactProblem& problem) {
  if (!problem.reference) return Measures(std::nan(""));
  Reference& reference = *problem.reference;
  reference.measures.clear();
  reference.velocity.clear();
  const Problem device(problem);
  Vector gamma(device.map(), 1);
  const auto values = upload<VectorView>("ccp::certify", reference.gamma, reference.gamma.size());
  Kokkos::deep_copy(overwrite_view(gamma), values);
  Referee referee(device);
  const Measures measures = referee.measure(gamma);
  for (const Measure m : {Measure::residual, Measure::dual, Measure::primal,
                          Measure::complementarity, Measure::cost, Measure::feas}) {
    reference.measures[name_of(m)] = measures[m];
  }
  if (problem.form == ContactProblem::Form::bodies) {
    const auto delassus = device.delassus();
    const VectorView impulse("ccp::certify::impulse", values.extent(0));
    device.to_world_axes(values, impulse);
    const auto v = delassus->body_velocities(impulse);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
    reference.velocity.assign(6 * problem.bodies(), 0.0);
    for (std::size_t i = 0; i < problem.bodies(); ++i) {
      for (std::size_t k = 0; k < host.extent(1); ++k) reference.velocity[6 * i + k] = host(i, k);
    }
  }
  return measures;
}

}  // namespace ccp
