#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "solvers/core/trilinos.hpp"
#include "solvers/linear/cholesky.hpp"
#include "solvers/linear/permuted_pattern.hpp"
#include "solvers/linear/supernodes.hpp"
#include "tests/support.hpp"

namespace ccp::test {
namespace {

/// The 7-point Laplacian of a k x k x k grid, plus `shift` on the diagonal: its lower triangle.
struct Grid {
  std::vector<std::int64_t> offsets{0};
  std::vector<int> rows;
  std::vector<double> values;

  Grid(int k, double shift) {
    const int n = k * k * k;
    for (int j = 0; j < n; ++j) {
      add(j, 6 + shift);
      if ((j + 1) % k != 0) add(j + 1, -1);
      if ((j / k + 1) % k != 0) add(j + k, -1);
      if (j + k * k < n) add(j + k * k, -1);
      offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
  }
  void add(int row, double value) {
    rows.push_back(row);
    values.push_back(value);
  }
  std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y(x.size(), 0.0);
    for (std::size_t j = 0; j < x.size(); ++j) {
      for (std::int64_t k = offsets[j]; k < offsets[j + 1]; ++k) {
        const auto i = static_cast<std::size_t>(rows[k]);
        y[i] += values[k] * x[j];
        if (i != j) y[j] += values[k] * x[i];
      }
    }
    return y;
  }
};

}  // namespace

//     | 4  2    |        | 2       |
// A = | 2  5  2 |,  L =  | 1  2    |,  b = A (1, 1, 1)
//     |    2  5 |        |    1  2 |
TEST_CASE("cholesky: three unknowns by hand") {
  SparseCholesky factor({0, 2, 4, 5}, {0, 1, 1, 2, 2});
  CHECK(factor.size() == 3);
  CHECK(factor.factor_entries() == 5);
  const double a[] = {4, 2, 5, 2, 5};
  REQUIRE(factor.factorize(a));
  const std::vector<double> b{6, 9, 7};
  std::vector<double> x(3);
  factor.solve(b.data(), x.data());
  CHECK(relative_difference(x, {1, 1, 1}) < 1e-15);
  x = b;
  factor.solve(x.data(), x.data());  // in place
  CHECK(relative_difference(x, {1, 1, 1}) < 1e-15);
}

//     | 1  2    |                                | 6  5    |
// A = | 2  3  5 |,  unknowns in order 2, 1, 0:   | 5  3  2 |
//     |    5  6 |                                |    2  1 |
TEST_CASE("permuted pattern: three unknowns by hand") {
  const PermutedPattern pattern({0, 2, 4, 5}, {0, 1, 1, 2, 2}, {2, 1, 0});
  CHECK(pattern.row_offset == std::vector<int>{0, 2, 5, 7});
  CHECK(pattern.column == std::vector<int>{0, 1, 0, 1, 2, 1, 2});
  CHECK(pattern.source == std::vector<int>{4, 3, 3, 2, 1, 1, 0});
}

TEST_CASE("permuted pattern: rows are those of both triangles in the order of the elimination") {
  const Grid grid(5, 0.5);
  const SparseCholesky factor(grid.offsets, grid.rows);
  const std::vector<int> order = factor.order();
  const auto n = static_cast<std::size_t>(factor.size());
  const PermutedPattern pattern(grid.offsets, grid.rows, order);
  REQUIRE(pattern.column.size() == 2 * grid.rows.size() - n);
  std::vector<double> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(1.0 + static_cast<double>(i));
  for (std::size_t i = 0; i < n; ++i) {
    for (int k = pattern.row_offset[i]; k < pattern.row_offset[i + 1]; ++k) {
      if (k > pattern.row_offset[i]) CHECK(pattern.column[k] > pattern.column[k - 1]);
      y[order[i]] += grid.values[pattern.source[k]] * x[order[pattern.column[k]]];
    }
  }
  CHECK(relative_difference(y, grid.times(x)) < 1e-14);
}

TEST_CASE("cholesky: one analysis serves many values") {
  const int k = 12;
  const Grid first(k, 1e-3), second(k, 2);
  SparseCholesky factor(first.offsets, first.rows);
  CHECK(factor.factor_entries() > static_cast<double>(first.rows.size()));
  CHECK(factor.flops() > factor.factor_entries());
  for (const Grid* grid : {&first, &second}) {
    const auto side = static_cast<std::size_t>(k);
    const auto x = random_vector(side * side * side, 3);
    REQUIRE(factor.factorize(grid->values.data()));
    std::vector<double> found(x.size());
    factor.solve(grid->times(x).data(), found.data());
    CHECK(relative_difference(found, x) < 1e-11);
  }
}

// Entries of L that are rounded to 24 bits are the factor of a matrix nearby: solutions have some
// seven digits, and products with its inverse are symmetric to more than that.
TEST_CASE("cholesky: a factor kept in single precision") {
  const int k = 12;
  const Grid first(k, 1e-3), second(k, 2);
  SparseCholesky rounded(first.offsets, first.rows, 1, true);
  REQUIRE(rounded.flops() >= 40 * rounded.factor_entries());  // by supernodes
  const auto n = static_cast<std::size_t>(rounded.size());
  const auto x = random_vector(n, 3), y = random_vector(n, 4);
  for (const Grid* grid : {&first, &second, &first}) {
    REQUIRE(rounded.factorize(grid->values.data()));
    std::vector<double> found(n), by_x(n), by_y(n);
    rounded.solve(grid->times(x).data(), found.data());
    const double error = relative_difference(found, x);
    CHECK(error < 1e-4);
    CHECK(error > 1e-9);
    rounded.solve(x.data(), by_x.data());
    rounded.solve(y.data(), by_y.data());
    const double one = std::inner_product(x.begin(), x.end(), by_y.begin(), 0.0),
                 other = std::inner_product(y.begin(), y.end(), by_x.begin(), 0.0);
    CHECK(std::abs(one - other) <
          1e-13 * std::inner_product(x.begin(), x.end(), by_x.begin(), 0.0));
  }
  Grid bad = first;
  bad.values[0] = -1;
  std::vector<double> nothing(n);
  CHECK_FALSE(rounded.factorize(bad.values.data()));
  CHECK_THROWS_AS(rounded.solve(nothing.data(), nothing.data()), std::logic_error);
  CHECK(rounded.factorize(first.values.data()));
}

TEST_CASE("supernodes: columns one by one and in groups") {
  // One supernode of seven columns and three rows below it, then one of three columns: the inverse
  // of L L^T takes back what L and L^T have done.
  const std::vector<std::int64_t> column{0, 7, 10}, row{0, 10, 13}, entry{0, 70};
  std::vector<std::int64_t> rows(13);
  std::iota(rows.begin(), rows.begin() + 10, 0);
  std::iota(rows.begin() + 10, rows.end(), 7);
  const Supernodes nodes{2, column.data(), row.data(), entry.data(), rows.data()};
  std::vector<float> l(79, 0.0F);
  double dense[10][10] = {};
  for (int node = 0; node < 2; ++node) {
    const int first = node == 0 ? 0 : 7, height = node == 0 ? 10 : 3, width = node == 0 ? 7 : 3;
    for (int j = 0; j < width; ++j) {
      for (int i = j; i < height; ++i) {
        const double value = i == j ? 2 + 0.25 * j : 0.125 * ((3 * i + 5 * j) % 7 - 3);
        const int place = (node == 0 ? 0 : 70) + j * height + i;
        l[place] = static_cast<float>(value);  // of few bits: exact
        dense[first + i][first + j] = value;
      }
    }
  }
  const auto x = random_vector(10, 7);
  std::vector<double> lower(10, 0.0), b(10, 0.0), work;
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) lower[i] += dense[j][i] * x[j];  // L^T x
  }
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) b[i] += dense[i][j] * lower[j];
  }
  solve_by_supernodes(nodes, l.data(), b.data(), work);
  CHECK(relative_difference(b, x) < 1e-14);
}

//     | 4 1   1    |
// A = | 1 4     1  |   two blocks of two unknowns
//     | 1   4   1  |
//     |   1 1   4  |
TEST_CASE("cholesky: unknowns in blocks") {
  const std::vector<std::int64_t> offsets{0, 4, 7, 9, 10};
  const std::vector<int> rows{0, 1, 2, 3, 1, 2, 3, 2, 3, 3};
  SparseCholesky factor(offsets, rows, 2);
  const double a[] = {4, 1, 1, 0, 4, 0, 1, 4, 1, 4};
  REQUIRE(factor.factorize(a));
  const std::vector<double> b{4 + 2 + 3, 1 + 8 + 4, 1 + 12 + 4, 2 + 3 + 16};  // A (1, 2, 3, 4)
  std::vector<double> x(4);
  factor.solve(b.data(), x.data());
  CHECK(relative_difference(x, {1, 2, 3, 4}) < 1e-15);
  CHECK_THROWS_AS(SparseCholesky(offsets, rows, 3), std::invalid_argument);
  CHECK_THROWS_AS(SparseCholesky({0, 3, 5, 7, 8}, {0, 1, 2, 1, 3, 2, 3, 3}, 2),
                  std::invalid_argument);
}

/// Of this process, by the kernel's account.
std::ptrdiff_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

// CHOLMOD takes four threads where OpenMP is told one. OpenMP keeps threads that
// it has started, so that the last look finds them, too, should the factorisation be too quick for
// the others.
TEST_CASE("cholesky: no more threads than the run has") {
  if (!std::filesystem::exists("/proc/self/task")) SKIP("no /proc here");
  const Grid grid(24, 1);
  SparseCholesky factor(grid.offsets, grid.rows);
  std::atomic<bool> done = false;
  std::atomic<std::ptrdiff_t> most = 0;
  std::thread watcher([&] {
    while (!done) most = std::max(most.load(), threads_of_process());
  });
  const bool good = factor.factorize(grid.values.data());
  done = true;
  watcher.join();
  CHECK(good);
  const std::ptrdiff_t allowed = backend_threads();
  CHECK(most <= allowed + 1);  // and the watcher
  CHECK(threads_of_process() <= allowed);
}

TEST_CASE("cholesky: what is not positive definite is said, and forgotten with the next values") {
  for (const int k : {4, 12}) {  // column by column, and by supernodes
    Grid grid(k, 0);
    SparseCholesky factor(grid.offsets, grid.rows);
    const double good = grid.values[0];
    std::vector<double> x(static_cast<std::size_t>(factor.size()));
    CHECK((factor.flops() >= 40 * factor.factor_entries()) == (k == 12));
    for (const double bad : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
      grid.values[0] = bad;
      CHECK_FALSE(factor.factorize(grid.values.data()));
      CHECK_THROWS_AS(factor.solve(x.data(), x.data()), std::logic_error);
    }
    grid.values[0] = good;
    CHECK(factor.factorize(grid.values.data()));
  }
}

TEST_CASE("cholesky: no unknowns, and patterns that are none") {
  SparseCholesky nothing({0}, {});
  CHECK(nothing.factorize(nullptr));
  nothing.solve(nullptr, nullptr);
  CHECK_THROWS_AS(SparseCholesky({}, {}), std::invalid_argument);
  CHECK_THROWS_AS(SparseCholesky({0, 1, 3}, {0, 0, 1}), std::invalid_argument);  // upper triangle
  CHECK_THROWS_AS(SparseCholesky({0, 1, 2}, {0, 2}), std::invalid_argument);     // beyond the end
  CHECK_THROWS_AS(SparseCholesky({0, 2, 2}, {1, 0}), std::invalid_argument);     // not ascending
  CHECK_THROWS_AS(SparseCholesky({0, 2, 1}, {0}), std::invalid_argument);
}

}  // namespace ccp::test
