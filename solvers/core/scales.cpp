#include "solvers/core/scales.hpp"

namespace ccp {

double root_mean_square_of_all_rows(const Problem& problem) {
  const ConstraintPools& pools = problem.pools();
  const int first = pools.first(), rolling = pools.rolling();
  const auto r = problem.r();
  const auto length = problem.pool_length();
  const auto rows = pools.rows();
  const FreeTwist free_twist = pools.free_twist();
  double sum = 0, count = 0;
  Kokkos::parallel_reduce(
      "ccp::root_mean_square", range(problem.triples()),
      KOKKOS_LAMBDA(const int t, double& squares, double& in_use) {
        const Vec3 v = t < first ? load3(r, t) : length(t - first) * load3(r, t);
        squares += dot(v, v);
        in_use += t < first             ? 3
                  : t < first + rolling ? free_twist.rows(t - first)
                                        : rows(t - first - rolling);
      },
      Kokkos::Sum<double>(sum), Kokkos::Sum<double>(count));
  return count > 0 ? std::sqrt(sum / count) : 0;
}

}  // namespace ccp
