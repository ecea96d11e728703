// The Delassus operator, the Newton system, block inverses and Krylov methods against dense
// matrices on the host. Dense matrices are in contact axes, the operators in world axes.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "solvers/core/extremes.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/ipm/newton_system.hpp"
#include "solvers/linear/block_diagonal.hpp"
#include "solvers/linear/krylov.hpp"
#include "solvers/linear/vector_kernels.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<ContactProblem> problems() {
  std::vector<ContactProblem> list = {
      random_problem({5, 12, true, true, 1}), random_problem({7, 90, false, true, 2}),
      random_problem({40, 300, true, false, 3}), random_problem({2, 1, true, true, 4})};
  list.push_back(assembled_form(list[0]));
  list.push_back(assembled_form(list[1]));
  list.push_back(compliant_form(list[0], 5));
  list.push_back(compliant_form(list[1], 6));
  list.push_back(assembled_form(list[6]));
  ContactProblem empty = list[8];  // no row has a diagonal block: with_compliance() makes them
  empty.delassus = BlockMatrix();
  empty.delassus.row_offsets.assign(empty.contacts() + 1, 0);
  list.push_back(empty);
  return list;
}

/// The dense N of either form.
std::vector<double> dense(const ContactProblem& p) {
  if (p.form == ContactProblem::Form::bodies) return dense_delassus(p);
  const std::size_t size = 3 * p.contacts();
  std::vector<double> matrix(size * size, 0.0);
  for (std::size_t row = 0; row < p.contacts(); ++row) {
    for (auto k = p.delassus.row_offsets[row]; k < p.delassus.row_offsets[row + 1]; ++k) {
      const std::size_t column = p.delassus.columns[k];
      for (std::size_t e = 0; e < 9; ++e) {
        matrix[(3 * row + e / 3) * size + 3 * column + e % 3] = p.delassus.blocks[9 * k + e];
      }
    }
    for (std::size_t k = 0; p.is_compliant() && k < 3; ++k) {
      matrix[(3 * row + k) * (size + 1)] += p.compliance[2 * row + (k > 0)];
    }
  }
  return matrix;
}

/// y = A x in contact axes through an operator in world axes.
std::vector<double> apply(const Operator& a, const ContactProblem& p,
                          const std::vector<double>& x) {
  const auto in = to_vector(world_axes(p, x)),
             out = to_vector(std::vector<double>(x.size(), not_a_number));
  a.apply(*in, *out);
  return contact_axes(p, to_host(*out));
}

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Solves A x = b by Gaussian elimination with pivoting.
std::vector<double> solve_dense(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
  return b;
}

}  // namespace

// ---- Delassus operator
// ----------------------------------------------------------------------------

TEST_CASE("the Delassus operator is N = J M^-1 J^T") {
  for (const ContactProblem& p : problems()) {
    REQUIRE_NOTHROW(p.validate("random"));
    const DelassusOperator n(p);
    const std::vector<double> matrix = dense(p);
    for (unsigned seed = 1; seed < 4; ++seed) {
      const auto x = random_vector(3 * p.contacts(), seed);
      CHECK(relative_difference(apply(n, p, x), multiply(matrix, x)) < 1e-13);
    }
    const auto x = random_vector(3 * p.contacts(), 8), y = random_vector(3 * p.contacts(), 9);
    CHECK(inner(y, apply(n, p, x)) == Approx(inner(x, apply(n, p, y))).epsilon(1e-12));
    CHECK(inner(x, apply(n, p, x)) >= 0);
  }
}

TEST_CASE("the Delassus operator scales and adds") {
  for (const ContactProblem& p : problems()) {
    const DelassusOperator n(p);
    const auto x = random_vector(3 * p.contacts(), 1), y = random_vector(3 * p.contacts(), 2);
    const auto nx = to_vector(x), out = to_vector(y);
    const auto plain = to_vector(y);
    n.apply(*nx, *plain);
    const std::vector<double> product = to_host(*plain);
    for (const auto& [alpha, beta] : {std::pair{-2.0, 0.0}, {1.0, 1.0}, {0.5, -3.0}, {0.0, 2.0}}) {
      const auto z = to_vector(y);
      n.apply(*nx, *z, Teuchos::NO_TRANS, alpha, beta);
      std::vector<double> expected(y.size());
      for (std::size_t i = 0; i < y.size(); ++i) expected[i] = alpha * product[i] + beta * y[i];
      CHECK(relative_difference(to_host(*z), expected) < 1e-14);
    }
    CHECK(to_host(*nx) == x);  // the argument is left alone
  }
}

TEST_CASE("the image of impulses gives their velocities and their energy") {
  for (const ContactProblem& p : problems()) {
    const DelassusOperator n(p);
    const auto x = random_vector(3 * p.contacts(), 3), product = multiply(dense(p), x);
    const VectorView impulses = to_view(world_axes(p, x));
    const auto image = n.make_image("image");
    n.compute_image(impulses, image);
    CHECK(n.energy(image, impulses) == Approx(inner(x, product)).epsilon(1e-6).margin(1e-12));
    const VectorView velocities("velocities", x.size());
    n.for_each_velocity(
        image, KOKKOS_LAMBDA(const int c, const Vec3& d) { store3(velocities, c, d); });
    CHECK(relative_difference(contact_axes(p, to_host(ConstVectorView(velocities))), product) <
          1e-13);
  }
}

TEST_CASE("diagonal blocks of the Delassus operator, and its scale") {
  for (const ContactProblem& p : problems()) {
    const Problem problem(p);
    const std::vector<double> matrix = dense(p),
                              blocks = to_host(problem.shared_delassus().diagonal_blocks());
    const std::size_t size = 3 * p.contacts();
    double trace = 0;
    for (std::size_t c = 0; c < p.contacts(); ++c) {
      for (std::size_t column = 0; column < 3; ++column) {
        // F B F^T e_column, with B the block in world axes.
        std::vector<double> unit(size, 0.0), image(size, 0.0);
        unit[3 * c + column] = 1;
        const auto world = world_axes(p, unit);
        for (std::size_t i = 0; i < 3; ++i) {
          for (std::size_t j = 0; j < 3; ++j)
            image[3 * c + i] += blocks[9 * c + 3 * i + j] * world[3 * c + j];
        }
        const auto contact = contact_axes(p, image);
        for (std::size_t row = 0; row < 3; ++row) {
          CHECK(contact[3 * c + row] ==
                Approx(matrix[(3 * c + row) * size + 3 * c + column]).margin(1e-12));
        }
        trace += matrix[(3 * c + column) * size + 3 * c + column];
      }
    }
    CHECK(problem.delassus_scale() == Approx(trace / static_cast<double>(size)));
  }
}

TEST_CASE("both forms of a problem have the same operator") {
  const ContactProblem bodies = random_problem({6, 40, true, true, 5}),
                       assembled = assembled_form(bodies);
  const Problem a(bodies), b(assembled);
  const auto x = random_vector(120, 1);
  CHECK(relative_difference(apply(*a.delassus(), bodies, x), apply(*b.delassus(), assembled, x)) <
        1e-13);
  CHECK(a.delassus_scale() == Approx(b.delassus_scale()));
}

TEST_CASE("clones do not disturb each other") {
  const ContactProblem p = random_problem({5, 30, true, true, 6});
  const Problem problem(p);
  const auto a = problem.delassus(), b = problem.delassus();
  const auto x = to_view(world_axes(p, random_vector(90, 1)));
  const auto y = to_vector(random_vector(90, 2)), z = to_vector(random_vector(90, 3));
  const auto velocities = a->body_velocities(x);
  const auto host = Kokkos::create_mirror_view(velocities),
             later = Kokkos::create_mirror(velocities);
  Kokkos::deep_copy(host, velocities);
  b->apply(*y, *z);
  Kokkos::deep_copy(later, velocities);
  for (std::size_t i = 0; i < host.extent(0); ++i) {
    for (std::size_t k = 0; k < host.extent(1); ++k) CHECK(host(i, k) == later(i, k));
  }
}

TEST_CASE("body velocities are M^-1 J^T gamma, and the immovable body's stay zero") {
  for (const bool rotates : {true, false}) {
    const ContactProblem p = random_problem({6, 50, rotates, true, 7});
    const auto gamma = random_vector(150, 4);
    const Problem problem(p);
    const auto delassus = problem.delassus();
    const auto v = delassus->body_velocities(to_view(world_axes(p, gamma)));
    const auto host = Kokkos::create_mirror_view(v);
    Kokkos::deep_copy(host, v);
    const auto expected = dense_body_velocities(p, gamma);
    REQUIRE(host.extent(0) == 7);
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t k = 0; k < host.extent(1); ++k) {
        CHECK(host(i, k) == Approx(expected[6 * i + k]).margin(1e-12));
      }
    }
    for (std::size_t k = 0; k < host.extent(1); ++k) CHECK(host(6, k) == 0);
  }
}

TEST_CASE("a problem turns triples to world axes and back, in place too") {
  for (const ContactProblem& p : problems()) {
    const Problem problem(p);
    const auto x = random_vector(3 * p.contacts(), 3);
    const VectorView view = to_view(x);
    problem.to_world_axes(view, view);
    CHECK(relative_difference(to_host(view), world_axes(p, x)) < 1e-15);
    problem.to_contact_axes(view, view);
    CHECK(relative_difference(to_host(view), x) < 1e-14);
    CHECK(relative_difference(to_host(problem.r()), world_axes(p, p.r)) < 1e-15);
  }
}

TEST_CASE("operators without contacts") {
  ContactProblem p;
  p.inverse_mass = {1, 2};
  const Problem problem(p);
  const auto x = to_vector({}), y = to_vector({});
  CHECK_NOTHROW(problem.delassus()->apply(*x, *y));
  CHECK(problem.delassus_scale() == 1);
}

// ---- block inverses and vector kernels
// --------------------------------------------------------------

namespace {

/// Hands the blocks (six numbers each) to the preconditioner.
void set_blocks(BlockDiagonalInverse& inverse, const std::vector<double>& six) {
  inverse.update(upload<DeviceArray<double* [6]>>("ccp::test::blocks", six, six.size() / 6));
}

/// Hands it the diagonal blocks of the Newton system.
void set_blocks(BlockDiagonalInverse& inverse, const NewtonSystem& system, int contacts) {
  const DeviceArray<double* [6]> blocks("ccp::test::blocks", contacts);
  system.diagonal_blocks(blocks);
  inverse.update(blocks);
}

constexpr int six_index[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

}  // namespace

TEST_CASE("block inverses undo their blocks") {
  std::vector<double> blocks;
  const std::size_t count = 400;
  for (std::size_t c = 0; c < count; ++c) {
    // L L^T, some with axes of very different scale as interior points near the boundary have.
    const auto l = random_vector(6, static_cast<unsigned>(c));
    const double s = c % 2 ? 1 : 1e6;
    const double d0 = s * (1.1 + l[0]), d1 = 1.1 + l[1], d2 = (1.1 + l[2]) / s;
    blocks.insert(blocks.end(), {d0 * d0, d0 * l[3], d0 * l[4], l[3] * l[3] + d1 * d1,
                                 l[3] * l[4] + d1 * l[5], l[4] * l[4] + l[5] * l[5] + d2 * d2});
    if (c % 2 == 0) blocks[blocks.size() - 1] += 1;  // keeps the test's own rounding out of it
  }
  const auto x = random_vector(3 * count, 77);
  std::vector<double> b(3 * count, 0.0);
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j)
        b[3 * c + i] += blocks[6 * c + six_index[i][j]] * x[3 * c + j];
    }
  }
  BlockDiagonalInverse inverse(make_map(3 * count), static_cast<int>(count));
  set_blocks(inverse, blocks);
  const auto in = to_vector(b), out = to_vector(std::vector<double>(3 * count, not_a_number));
  inverse.apply(*in, *out);
  CHECK(relative_difference(to_host(*out), x) < 1e-8);
  CHECK(inverse.applies() == 1);

  const auto sum = to_vector(x);
  inverse.apply(*in, *sum, Teuchos::NO_TRANS, -2, 0.5);
  std::vector<double> expected = to_host(*out);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = -2 * expected[i] + 0.5 * x[i];
  CHECK(relative_difference(to_host(*sum), expected) < 1e-14);
  CHECK(inverse.applies() == 2);
}

TEST_CASE("a block that is not positive definite is replaced by its diagonal") {
  BlockDiagonalInverse inverse(make_map(3), 1);
  set_blocks(inverse, {2, 5, 1, 4, 0.5, 8});  // 2 * 4 < 5 * 5
  const auto in = to_vector({2, 4, 8}), out = to_vector({0, 0, 0});
  inverse.apply(*in, *out);
  CHECK(to_host(*out) == std::vector<double>{1, 1, 1});
}

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

// ---- Newton system and Krylov methods
// -----------------------------------------------------------------

namespace {

/// The Newton system of a problem at a random interior point, and the same as a dense matrix
/// A = T P(w) T + N + R in contact axes, with identity rows and empty columns where mu = 0.
struct Newton {
  ContactProblem host;
  Problem problem;
  Teuchos::RCP<NewtonSystem> system;
  std::vector<double> matrix;

  explicit Newton(ContactProblem p) : host(std::move(p)), problem(host) {
    const std::size_t n = host.contacts(), size = 3 * n;
    DeviceArray<double* [2]> regularization("ccp::test::regularization", n);
    const auto rho = Kokkos::create_mirror_view(regularization);
    for (std::size_t c = 0; c < n; ++c) rho(c, 0) = 1e-3, rho(c, 1) = 2e-3;
    Kokkos::deep_copy(regularization, rho);
    system = Teuchos::rcp(new NewtonSystem(problem, regularization));

    std::vector<double> x = random_vector(size, 21), y = random_vector(size, 22);
    for (std::size_t c = 0; c < n; ++c) {
      x[3 * c] = std::hypot(x[3 * c + 1], x[3 * c + 2]) + 0.2 + 0.1 * static_cast<double>(c % 5);
      y[3 * c] = std::hypot(y[3 * c + 1], y[3 * c + 2]) + 0.3;
      if (host.mu[c] == 0) x[3 * c + 1] = x[3 * c + 2] = y[3 * c + 1] = y[3 * c + 2] = 0;
    }
    system->set_scaling(to_view(world_axes(host, x)), to_view(world_axes(host, y)));

    matrix = dense_delassus(host);
    const auto at = [&](std::size_t i, std::size_t j) -> double& { return matrix[i * size + j]; };
    for (std::size_t c = 0; c < n; ++c) {
      const std::size_t k = 3 * c;
      if (host.mu[c] == 0) {
        for (std::size_t j = 0; j < size; ++j) {
          for (const std::size_t i : {k + 1, k + 2}) at(i, j) = at(j, i) = i == j;
        }
        at(k, k) += y[k] / x[k] + rho(c, 0);
        continue;
      }
      const Vec3 normal{1, 0, 0};
      const auto point =
          jordan::nt_scaling({x[k], x[k + 1], x[k + 2]}, {y[k], y[k + 1], y[k + 2]}, normal);
      const double t[3] = {host.mu[c], 1, 1}, r[3] = {rho(c, 0), rho(c, 1), rho(c, 1)};
      for (std::size_t j = 0; j < 3; ++j) {
        const Vec3 column = jordan::quadratic(
            point.w, point.det, {j == 0 ? 1.0 : 0, j == 1 ? 1.0 : 0, j == 2 ? 1.0 : 0}, normal);
        const double p[3] = {column.x, column.y, column.z};
        for (std::size_t i = 0; i < 3; ++i)
          at(k + i, k + j) += t[i] * p[i] * t[j] + (i == j ? r[i] : 0);
      }
    }
  }

  /// Random triples without a tangential part where mu = 0.
  std::vector<double> vector(unsigned seed) const {
    auto v = random_vector(3 * host.contacts(), seed);
    for (std::size_t c = 0; c < host.contacts(); ++c) {
      if (host.mu[c] == 0) v[3 * c + 1] = v[3 * c + 2] = 0;
    }
    return v;
  }
};

}  // namespace

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

TEST_CASE("the Newton system is T P(w) T + N + R") {
  for (const bool rotates : {true, false}) {
    const Newton newton(random_problem({6, 40, rotates, true, 11}));
    for (unsigned seed = 1; seed < 4; ++seed) {
      const auto p = newton.vector(seed);
      CHECK(relative_difference(apply(*newton.system, newton.host, p), multiply(newton.matrix, p)) <
            1e-12);
    }
    CHECK(newton.system->applies() == 3);
    const auto x = to_vector(newton.vector(1)), y = to_vector(newton.vector(2));
    CHECK_THROWS_AS(newton.system->apply(*x, *y, Teuchos::NO_TRANS, 2, 0), std::invalid_argument);
    CHECK_THROWS_AS(newton.system->apply(*x, *y, Teuchos::NO_TRANS, 1, 1), std::invalid_argument);
  }
}

TEST_CASE("the preconditioner inverts the diagonal blocks of the Newton system") {
  const Newton newton(random_problem({6, 40, true, true, 12}));
  BlockDiagonalInverse preconditioner(newton.problem.map(), 40);
  set_blocks(preconditioner, *newton.system, 40);
  const auto b = newton.vector(5), x = apply(preconditioner, newton.host, b);
  for (std::size_t c = 0; c < 40; ++c) {
    std::vector<double> block(9), part(b.begin() + 3 * c, b.begin() + 3 * c + 3);
    for (std::size_t e = 0; e < 9; ++e)
      block[e] = newton.matrix[(3 * c + e / 3) * 120 + 3 * c + e % 3];
    const auto expected = solve_dense(block, part);
    for (std::size_t k = 0; k < 3; ++k) CHECK(x[3 * c + k] == Approx(expected[k]).margin(1e-11));
  }
}

TEST_CASE("velocity, direction, impulse and right-hand side of the Newton system") {
  const Newton newton(random_problem({6, 40, true, true, 13}));
  const ContactProblem& p = newton.host;
  const std::vector<double> n = dense_delassus(p), x = newton.vector(1), dgamma = newton.vector(2);
  // Without friction T^-1 and T keep the normal part only.
  const auto scaled = [&](const std::vector<double>& v, bool inverse) {
    std::vector<double> out = v;
    for (std::size_t c = 0; c < p.contacts(); ++c) {
      if (p.mu[c] == 0)
        out[3 * c + 1] = out[3 * c + 2] = 0;
      else
        out[3 * c] *= inverse ? 1 / p.mu[c] : p.mu[c];
    }
    return out;
  };
  const VectorView a("ccp::test::a", 120), b("ccp::test::b", 120);
  newton.system->velocity(to_view(world_axes(p, x)), a);
  auto u = multiply(n, scaled(x, true));
  for (std::size_t i = 0; i < u.size(); ++i) u[i] += p.r[i];
  CHECK(relative_difference(contact_axes(p, to_host(a)), scaled(u, true)) < 1e-13);
  newton.system->direction(to_view(world_axes(p, dgamma)), a, b);
  CHECK(relative_difference(contact_axes(p, to_host(a)), scaled(dgamma, false)) < 1e-13);
  CHECK(relative_difference(contact_axes(p, to_host(b)), scaled(multiply(n, dgamma), true)) <
        1e-13);
  newton.system->impulse(to_view(world_axes(p, x)), a);
  CHECK(relative_difference(contact_axes(p, to_host(a)), scaled(x, true)) < 1e-13);
  const VectorView rhs = to_view(world_axes(p, x));
  newton.system->scale_rhs(rhs);
  CHECK(relative_difference(contact_axes(p, to_host(rhs)), scaled(x, false)) < 1e-13);
}

TEST_CASE("every Krylov method solves a Newton system, with and without preconditioner") {
  const Newton newton(random_problem({20, 120, true, true, 14}));
  const auto b = newton.vector(3), expected = solve_dense(newton.matrix, b);
  const auto preconditioner = Teuchos::rcp(new BlockDiagonalInverse(newton.problem.map(), 120));
  set_blocks(*preconditioner, *newton.system, 120);
  int plain_iterations = 0, preconditioned_iterations = 0;
  for (const std::string& method : krylov_methods()) {
    for (const bool preconditioned : {false, true}) {
      INFO(method << (preconditioned ? ", preconditioned" : ""));
      KrylovOptions options;
      options.method = method;
      options.max_iterations = 2000;
      KrylovSolver krylov(
          options, newton.system,
          preconditioned ? Teuchos::RCP<const Operator>(preconditioner) : Teuchos::null);
      // A second solve with the same object must not remember the first.
      for (const double tolerance : {1e-3, 1e-10}) {
        const auto rhs = to_vector(world_axes(newton.host, b));
        const auto x = to_vector(std::vector<double>(b.size(), 0.0));
        const KrylovResult result = krylov.solve(rhs, x, tolerance);
        CHECK(result.converged);
        CHECK_FALSE(result.breakdown);
        CHECK(result.iterations > 0);
        const auto solution = contact_axes(newton.host, to_host(*x));
        auto residual = multiply(newton.matrix, solution);
        for (std::size_t i = 0; i < b.size(); ++i) residual[i] -= b[i];
        // On the true residual: a left preconditioner measures its own, so it gets some room.
        const double room = method == "cg" && preconditioned ? 100 : 1.01;
        CHECK(std::sqrt(inner(residual, residual) / inner(b, b)) <= room * tolerance);
        if (tolerance < 1e-9) {
          CHECK(relative_difference(solution, expected) < 1e-5);
          (preconditioned ? preconditioned_iterations : plain_iterations) += result.iterations;
        }
      }
    }
  }
  CHECK(preconditioned_iterations < plain_iterations);
}

TEST_CASE("a Krylov method says so when its limit ends it") {
  const Newton newton(random_problem({20, 120, true, true, 14}));
  for (const std::string& method : krylov_methods()) {
    INFO(method);
    KrylovOptions options;
    options.method = method;
    options.max_iterations = 3;
    KrylovSolver krylov(options, newton.system, Teuchos::null);
    const auto rhs = to_vector(world_axes(newton.host, newton.vector(3)));
    const auto x = to_vector(std::vector<double>(360, 0.0));
    const KrylovResult result = krylov.solve(rhs, x, 1e-12);
    CHECK_FALSE(result.converged);
    CHECK_FALSE(result.breakdown);
    CHECK(result.iterations >= 3);
    CHECK(result.iterations <= 6);
    for (const double value : to_host(*x)) CHECK(std::isfinite(value));
  }
  KrylovOptions options;
  options.method = "sor";
  check_parts(error_of([&] { KrylovSolver(options, newton.system, Teuchos::null); }),
              {"expected cg, bicgstab, gmres or minres, found 'sor'"});
}

TEST_CASE("a Krylov solve that starts at its solution ends there") {
  const Newton newton(random_problem({6, 20, true, true, 15}));
  const auto b = newton.vector(3), solution = solve_dense(newton.matrix, b);
  for (const std::string& method : krylov_methods()) {
    INFO(method);
    KrylovOptions options;
    options.method = method;
    KrylovSolver krylov(options, newton.system, Teuchos::null);
    const auto zero = to_vector(std::vector<double>(60, 0.0));
    const auto x = to_vector(std::vector<double>(60, 0.0));
    CHECK_FALSE(krylov.solve(zero, x, 1e-6).breakdown);
    CHECK(relative_difference(to_host(*x), std::vector<double>(60, 0.0)) == 0);
    const auto rhs = to_vector(world_axes(newton.host, b));
    const auto y = to_vector(world_axes(newton.host, solution));
    CHECK_FALSE(krylov.solve(rhs, y, 1e-6).breakdown);
    CHECK(relative_difference(contact_axes(newton.host, to_host(*y)), solution) < 1e-6);
  }
}

TEST_CASE("what a product throws leaves a Krylov method, which can be used again") {
  struct Enough {};
  const Newton newton(random_problem({20, 120, true, true, 14}));
  for (const std::string& method : krylov_methods()) {
    INFO(method);
    KrylovOptions options;
    options.method = method;
    KrylovSolver krylov(options, newton.system, Teuchos::null);
    const auto rhs = to_vector(world_axes(newton.host, newton.vector(3)));
    const auto x = to_vector(std::vector<double>(360, 0.0)),
               y = to_vector(std::vector<double>(360, 0.0));
    int products = 0;
    newton.system->on_apply = [&products] {
      if (++products == 4) throw Enough{};
    };
    CHECK_THROWS_AS(krylov.solve(rhs, x, 1e-8), Enough);
    CHECK(products == 4);
    newton.system->on_apply = nullptr;
    CHECK(krylov.solve(rhs, y, 1e-8).converged);
  }
}
