// The kernels of the velocity-space interior-point method.
#include "harness/micro/micro.hpp"
#include "solvers/velocity_space/make_system.hpp"
#include "solvers/vipm/contact_state.hpp"

namespace {

using namespace ccp;
using namespace ccp::micro;

/// An iterate inside the cones with everything assembled and factorised.
struct Iterate {
  std::unique_ptr<VelocitySystem> system;
  vipm::ContactState state{device(), system->contact_order(), false};
  Vector z{system->map(), 1}, out{system->map(), 1};
  VectorView d{"ccp::micro::d", 3 * host().contacts()};
  VectorView target{"ccp::micro::target", 3 * host().contacts()};
  VectorView load{"ccp::micro::load", 3 * host().contacts()};

  explicit Iterate(const std::string& ordering = "auto",
                   const std::string& preconditioner = "block_ic0")
      : system(make_velocity_system(device(), ordering, preconditioner)) {
    z.putScalar(1e-3);
    state.start_impulses(0.01);
    system->contact_velocities(read_view(z), d);
    state.start_velocities(d, 0.1);
    state.scale(d);
    system->assemble(state.k());
    system->precondition();
  }
};

Iterate& iterate() {
  static auto* one = new Iterate;  // outlives main's Kokkos session on purpose
  return *one;
}

template <class Kernel>
void measure_on_iterate(benchmark::State& state, double bytes, const Kernel& kernel) {
  Iterate& it = iterate();
  measure(state, bytes, [&] { kernel(it); });
}

/// With bodies in that order. A benchmark is called several times; at 10^7 contacts what it needs
/// is made once.
Iterate& ordered(const std::string& ordering) {
  static Iterate* one = nullptr;
  static std::string its_ordering;
  if (!one || its_ordering != ordering) {
    delete one;
    one = new Iterate(ordering, "block_diagonal");  // outlives main's Kokkos session on purpose
    its_ordering = ordering;
  }
  return *one;
}

// Bytes: per pair of bodies two stored blocks and two indices; about one pair per contact. The
// order of the bodies decides how near in memory the velocities of those that touch are: vipm's is
// one for eliminations, the other that of the problem.
void matrix_apply(benchmark::State& state, const char* ordering) {
  Iterate& it = ordered(ordering);
  measure(state, 104, [&] { it.system->matrix()->apply(it.z, it.out); });
}
void vipm_matrix_apply(benchmark::State& state) {
  matrix_apply(state, "auto");
}
BENCHMARK(vipm_matrix_apply)->Unit(benchmark::kMicrosecond);
void vipm_matrix_apply_natural(benchmark::State& state) {
  matrix_apply(state, "natural");
}
BENCHMARK(vipm_matrix_apply_natural)->Unit(benchmark::kMicrosecond);

// Two sweeps, each over a block of 9 numbers with its index.
void vipm_ic0_apply(benchmark::State& state) {
  measure_on_iterate(state, 152,
                     [](Iterate& it) { it.system->preconditioner()->apply(it.z, it.out); });
}
BENCHMARK(vipm_ic0_apply)->Unit(benchmark::kMicrosecond);

void vipm_ic0_factorize(benchmark::State& state) {
  measure_on_iterate(state, 48 + 144, [](Iterate& it) { it.system->precondition(); });
}
BENCHMARK(vipm_ic0_factorize)->Unit(benchmark::kMicrosecond);

// K by the diagonal blocks twice, by the blocks once; two stored blocks written.
void vipm_assemble(benchmark::State& state) {
  measure_on_iterate(state, 3 * 48 + 96, [](Iterate& it) { it.system->assemble(it.state.k()); });
}
BENCHMARK(vipm_assemble)->Unit(benchmark::kMicrosecond);

// gamma, u, r, d, normal, mu in; residual and K out.
void vipm_scale(benchmark::State& state) {
  measure_on_iterate(state, 5 * 24 + 8 + 24 + 48, [](Iterate& it) { it.state.scale(it.d); });
}
BENCHMARK(vipm_scale)->Unit(benchmark::kMicrosecond);

// gamma, u, residual, d, normal, mu, K in; the direction out.
void vipm_direction(benchmark::State& state) {
  measure_on_iterate(state, 5 * 24 + 8 + 48 + 48, [](Iterate& it) { it.state.predictor(it.d); });
}
BENCHMARK(vipm_direction)->Unit(benchmark::kMicrosecond);

// gamma, u, the direction, normal, mu in; the target out.
void vipm_corrector_target(benchmark::State& state) {
  measure_on_iterate(state, 5 * 24 + 8 + 24, [](Iterate& it) { it.state.corrector_target(1e-6); });
}
BENCHMARK(vipm_corrector_target)->Unit(benchmark::kMicrosecond);

// The same and K in; the target out, then the target and what of it goes to the bodies.
void vipm_centrality_target(benchmark::State& state) {
  measure_on_iterate(state, 5 * 24 + 8 + 48 + 3 * 24, [](Iterate& it) {
    it.state.centrality_target(0.5, {1e-7, 1e-5}, it.target, it.load);
  });
}
BENCHMARK(vipm_centrality_target)->Unit(benchmark::kMicrosecond);

// Per contact its velocity and two bodies' numbers; per contact and side an impulse.
void vipm_contact_velocities(benchmark::State& state) {
  measure_on_iterate(state, 24 + 8,
                     [](Iterate& it) { it.system->contact_velocities(read_view(it.z), it.d); });
}
BENCHMARK(vipm_contact_velocities)->Unit(benchmark::kMicrosecond);

void vipm_load(benchmark::State& state) {
  measure_on_iterate(state, 2 * 24 + 8,
                     [](Iterate& it) { it.system->load(it.d, overwrite_view(it.out)); });
}
BENCHMARK(vipm_load)->Unit(benchmark::kMicrosecond);

}  // namespace
