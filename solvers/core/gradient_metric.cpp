#include "solvers/core/gradient_metric.hpp"

#include <algorithm>
#include <vector>

namespace ccp {
namespace {

/// Contacts on the body that has most; in assembled form, blocks in the longest row of N. The
/// largest eigenvalue of N is at most that many times the one of its diagonal blocks (Cauchy and
/// Schwarz, body by body).
double most_neighbours(const ContactProblem& problem) {
  std::vector<std::int64_t> count;
  if (problem.form == ContactProblem::Form::assembled) {
    const auto& offsets = problem.delassus.row_offsets;
    for (std::size_t c = 0; c + 1 < offsets.size(); ++c) {
      count.push_back(offsets[c + 1] - offsets[c]);
    }
  } else {
    count.assign(problem.bodies(), 0);
    for (const std::int32_t body : problem.contact_bodies) {
      if (body >= 0) ++count[body];
    }
  }
  return count.empty() ? 1 : static_cast<double>(*std::max_element(count.begin(), count.end()));
}

}  // namespace

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
