#include "solvers/core/contact_metric.hpp"

#include "solvers/core/problem.hpp"

namespace ccp {

ContactMetric contact_metric(const DeviceArray<double* [3][3]>& blocks,
                             const DeviceArray<const double* [3]>& normal, double spare) {
  ContactMetric metric;
  metric.weight =
      DeviceArray<double* [2]>(to_be_filled("ccp::ContactMetric::weight"), blocks.extent(0));
  const auto weight = metric.weight;
  double defect = 0;  // largest relative difference of N_cc from diag(a, b, b)
  Kokkos::parallel_reduce(
      "ccp::contact_metric", range(blocks.extent(0)),
      KOKKOS_LAMBDA(const int c, double& largest) {
        const Vec3 n = row3(normal, c);
        Vec3 column;  // N n
        double trace = 0, squares = 0;
        for (int i = 0; i < 3; ++i) {
          trace += blocks(c, i, i);
          for (int j = 0; j < 3; ++j) squares += blocks(c, i, j) * blocks(c, i, j);
        }
        column.x = blocks(c, 0, 0) * n.x + blocks(c, 0, 1) * n.y + blocks(c, 0, 2) * n.z;
        column.y = blocks(c, 1, 0) * n.x + blocks(c, 1, 1) * n.y + blocks(c, 1, 2) * n.z;
        column.z = blocks(c, 2, 0) * n.x + blocks(c, 2, 1) * n.y + blocks(c, 2, 2) * n.z;
        const Split part = split(column, n);
        const double half = 0.5 * (trace - part.n);  // mean of the eigenvalues of N_tt
        const double spread =
            0.5 * (squares - part.n * part.n - 2 * part.size * part.size) - half * half;
        const double deviation = spread > 0 ? sqrt(spread) : 0;
        // A square root of what cancels: below 1e-7 it is rounding.
        const bool round = deviation <= 1e-7 * half && part.size <= 1e-12 * trace;
        const double a = round ? part.n : part.n + part.size;
        const double b = round ? half : half + deviation + part.size;
        constexpr double nothing = 1e-10;
        weight(c, 0) = a > nothing * b ? a : b > 0 ? b : spare;
        weight(c, 1) = b > nothing * a ? b : a > 0 ? a : spare;
        const double relative = round || trace <= 0 ? 0 : (deviation + part.size) / trace;
        if (relative > largest) largest = relative;
      },
      Kokkos::Max<double>(defect));
  metric.exact = !(defect > 0);
  return metric;
}

DeviceArray<double*> pool_metric(const Problem& problem) {
  const DeviceArray<double*> weight("ccp::pool_metric", problem.pools().size());
  const auto blocks = problem.pools().diagonal_blocks();
  const auto length = problem.pool_length();
  const double scale = problem.delassus_scale();
  Kokkos::parallel_for(
      "ccp::pool_metric", range(weight.extent(0)), KOKKOS_LAMBDA(const int j) {
        const double own = largest_eigenvalue(blocks(j)), spare = scale / (length(j) * length(j));
        weight(j) = own > 1e-10 * spare ? own : spare;
      });
  return weight;
}

}  // namespace ccp
