// What everything else is summed and compared with: additions and products of vectors, largest and
// smallest values.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "solvers/core/extremes.hpp"
#include "solvers/core/vector_kernels.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("vector kernels against plain loops, also where arguments are the same") {
  for (const std::size_t size : {0, 1, 7, 8, 2048, 2049, 10007}) {
    const auto x = random_vector(size, 1), y = random_vector(size, 2);
    const double a = 0.3;
    for (const double b : {1.0, -1.7}) {
      std::vector<double> expected(size), doubled(size);
      for (std::size_t i = 0; i < size; ++i) expected[i] = a * x[i] + b * y[i];
      for (std::size_t i = 0; i < size; ++i) doubled[i] = (a + b) * x[i];
      VectorView u = to_view(x), v = to_view(y), z = to_view(x);
      vector_kernels::add(a, u, b, v, z);
      CHECK(relative_difference(to_host(z), expected) < 1e-15);
      vector_kernels::add(a, u, b, v, v);
      CHECK(relative_difference(to_host(v), expected) < 1e-15);
      v = to_view(y);
      vector_kernels::add(a, u, b, v, u);
      CHECK(relative_difference(to_host(u), expected) < 1e-15);
      u = to_view(x);
      vector_kernels::add(a, u, b, u, u);
      CHECK(relative_difference(to_host(u), doubled) < 1e-14);
    }
    CHECK(vector_kernels::dot(to_view(x), to_view(y)) == Approx(inner(x, y)).margin(1e-12));
  }
}

TEST_CASE("what has the coefficient zero is not read") {
  // Belos adds into vectors that nobody has filled; NaN times zero would be NaN.
  for (const double coefficient : {1.0, 2.0}) {
    VectorView x("x", 5), z("z", 5);
    const VectorView bad("bad", 5);
    Kokkos::deep_copy(x, 3.0);
    Kokkos::deep_copy(bad, not_a_number);
    const auto all = [](const VectorView& view, double value) {
      const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
      for (std::size_t i = 0; i < host.extent(0); ++i) CHECK(host(i) == value);
    };
    vector_kernels::add(coefficient, x, 0, bad, z);
    all(z, 3 * coefficient);
    vector_kernels::add(0, bad, coefficient, x, z);
    all(z, 3 * coefficient);
    Kokkos::deep_copy(z, not_a_number);
    vector_kernels::add(coefficient, x, 0, z, z);
    all(z, 3 * coefficient);
    Kokkos::deep_copy(z, not_a_number);
    vector_kernels::add(0, z, coefficient, x, z);
    all(z, 3 * coefficient);
    vector_kernels::add(coefficient, x, 0, x, x);
    all(x, 3 * coefficient);
    vector_kernels::add(0, bad, 0, bad, z);
    all(z, 0);
  }
}

TEST_CASE("the largest and the smallest value of a loop keep a NaN, wherever it is") {
  for (const std::size_t size : {1, 2, 100, 1000}) {
    const auto extremes = [&](const std::vector<double>& values) {
      const VectorView view = to_view(values);
      double largest = 0, smallest = 0;
      Kokkos::parallel_reduce(
          "extremes", range(size),
          KOKKOS_LAMBDA(const int i, double& high, double& low) {
            raise(high, view(i));
            lower(low, view(i));
          },
          Largest(largest), Smallest(smallest));
      return std::make_pair(smallest, largest);
    };
    std::vector<double> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = 1 + static_cast<double>(i);
    CHECK(extremes(values) == std::make_pair(1.0, static_cast<double>(size)));
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
      std::vector<double> broken = values;
      broken[at] = not_a_number;
      CHECK(std::isnan(extremes(broken).first));
      CHECK(std::isnan(extremes(broken).second));
    }
  }
}
