#include "solvers/core/gradient_metric.hpp"

#include <algorithm>

#include "solvers/core/constraint_cones.hpp"
#include "solvers/core/vector_kernels.hpp"

namespace ccp {
namespace {

/// The weights of the triples beside the contacts: pool_metric() or, plain, what delassus_scale()
/// is in their units. @return the largest ratio of the first to what is taken
double weigh_pools(const Problem& problem, bool plain, const DeviceArray<double* [4]>& weight) {
  const auto own = pool_metric(problem);
  const auto length = problem.pool_length();
  const int first = problem.pools().first();
  const double scale = problem.delassus_scale();
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::weigh_pools", range(own.extent(0)),
      KOKKOS_LAMBDA(const int j, double& maximum) {
        const double a = plain ? scale / (length(j) * length(j)) : own(j);
        weight(first + j, 0) = a;
        weight(first + j, 1) = weight(first + j, 2) = 1 / a;
        weight(first + j, 3) = 1;
        if (own(j) / a > maximum) maximum = own(j) / a;
      },
      Kokkos::Max<double>(largest));
  return largest;
}

}  // namespace

GradientMetric gradient_metric(const Problem& problem, const std::string& kind) {
  const ContactMetric own = contact_metric(problem.shared_delassus().diagonal_blocks(),
                                           problem.normal(), problem.delassus_scale());
  GradientMetric metric;
  metric.weight =
      DeviceArray<double* [4]>(to_be_filled("ccp::GradientMetric::weight"), problem.triples());
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
        const double a = plain ? scale : from(c, 0), b = plain ? scale : from(c, 1);
        weight(c, 0) = a;
        weight(c, 1) = 1 / a;
        weight(c, 2) = 1 / b;
        weight(c, 3) = b / a;
        const double relative = from(c, 0) / a > from(c, 1) / b ? from(c, 0) / a : from(c, 1) / b;
        if (relative > maximum) maximum = relative;
      },
      Kokkos::Max<double>(largest));
  if (!problem.pools().empty()) {
    largest = std::max(largest, weigh_pools(problem, plain, metric.weight));
  }
  largest = problem.ranks().largest(largest);
  metric.largest_curvature = std::max(largest, 1e-300) * problem.most_neighbours();
  return metric;
}

void project_step(const Problem& problem, const GradientMetric& metric, const ConstVectorView& from,
                  const ConstVectorView& u, double length, const VectorView& z) {
  const auto normal = problem.normal();
  const auto weight = metric.weight;
  Kokkos::parallel_for(
      "ccp::project_step", range(problem.triples()), KOKKOS_LAMBDA(const int t) {
        store3(z, t,
               load3(from, t) - stretch(length * weight(t, 1), length * weight(t, 2), load3(u, t),
                                        row3(normal, t)));
      });
  const ConstraintCones cones(problem);
  Kokkos::parallel_for(
      "ccp::project_cones", range(cones.size()),
      KOKKOS_LAMBDA(const int cone) { cones.project(cone, z, metric); });
}

void gradient_of(const Problem& problem, const DelassusOperator& delassus,
                 const DelassusOperator::Image& image, const VectorView& u) {
  delassus.product_of(image, u);
  vector_kernels::add(1, u, 1, problem.r(), u);
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
