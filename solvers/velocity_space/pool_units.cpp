#include "solvers/velocity_space/pool_units.hpp"

namespace ccp {

PoolUnits pool_units(const Problem& problem) {
  const ConstraintPools& pools = problem.pools();
  const DeviceArray<double*> limits("ccp::PoolUnits::limit", pools.rolling());
  const DeviceArray<Sym3*> blocks("ccp::PoolUnits::compliance", pools.size());
  const auto unit_of = problem.pool_length();
  const auto rho = pools.rho();
  const auto given = pools.compliance();
  const int rolling = pools.rolling();
  Kokkos::parallel_for(
      "ccp::PoolUnits", range(pools.size()), KOKKOS_LAMBDA(const int j) {
        const double unit = unit_of(j);
        if (j < rolling) limits(j) = rho(j) / unit;
        if (given.extent(0) == 0) return;
        const Sym3 s = given(j);
        blocks(j) = symmetric([&](int p, int q) { return unit * unit * s(p, q); });
      });
  return {unit_of, limits, blocks};
}

}  // namespace ccp
