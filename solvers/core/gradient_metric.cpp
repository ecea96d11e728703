#include "solvers/core/gradient_metric.hpp"

#include <algorithm>

#include "solvers/core/constraint_map.hpp"

namespace ccp {

GradientMetric gradient_metric(const Problem& problem, const std::string& kind) {
  const ContactMetric own =
      contact_metric(problem.shared_delassus().diagonal_blocks(), problem.normal());
  GradientMetric metric;
  metric.weight = DeviceArray<double* [4]>("ccp::GradientMetric::weight", problem.contacts());
  metric.normal = problem.normal();
  metric.mu = problem.mu();
  const auto weight = metric.weight;
  const auto from = own.weight;
  const bool plain = kind == "plain";
  const double scale = problem.delassus_scale();
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::gradient_metric", range(problem.contacts()),
      KOKKOS_LAMBDA(const int c, double& maximum) {
        const bool moves = from(c, 0) > 0 && from(c, 1) > 0;
        const double a = plain ? scale : from(c, 0), b = plain ? scale : from(c, 1);
        weight(c, 0) = moves ? a : 0;
        weight(c, 1) = moves ? 1 / a : 0;
        weight(c, 2) = moves ? 1 / b : 0;
        weight(c, 3) = moves ? b / a : 1;
        if (!moves) return;
        const double relative = from(c, 0) / a > from(c, 1) / b ? from(c, 0) / a : from(c, 1) / b;
        if (relative > maximum) maximum = relative;
      },
      Kokkos::Max<double>(largest));
  metric.largest_curvature = std::max(largest, 1e-300) * most_neighbours(problem.host());
  return metric;
}

void add_image(const DelassusOperator::Image& image, double factor,
               const DelassusOperator::Image& other) {
  const int columns = static_cast<int>(image.extent(1));
  Kokkos::parallel_for(
      "ccp::add_image", range(image.extent(0)), KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < columns; ++k) image(i, k) += factor * other(i, k);
      });
}

}  // namespace ccp
