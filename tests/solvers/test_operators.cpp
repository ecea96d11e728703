// The Delassus operator and block inverses against dense matrices on the host. Dense matrices are
// in contact axes, the operators in world axes.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "solvers/core/transfer.hpp"
#include "solvers/linear/block_diagonal.hpp"
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

}  // namespace

TEST_CASE("the Delassus operator is N = J M^-1 J^T") {
  for (const ContactProblem& p : problems()) {
    REQUIRE_NOTHROW(p.validate("random"));
    const DelassusOperator n(p);
    const std::vector<double> matrix = dense(p);
    for (unsigned seed = 1; seed < 4; ++seed) {
      const auto x = random_vector(3 * p.contacts(), seed);
      CHECK(relative_difference(product_of(n, p, x), multiply(matrix, x)) < 1e-13);
    }
    const auto x = random_vector(3 * p.contacts(), 8), y = random_vector(3 * p.contacts(), 9);
    CHECK(inner(y, product_of(n, p, x)) == Approx(inner(x, product_of(n, p, y))).epsilon(1e-12));
    CHECK(inner(x, product_of(n, p, x)) >= 0);
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
  CHECK(relative_difference(product_of(*a.delassus(), bodies, x),
                            product_of(*b.delassus(), assembled, x)) < 1e-13);
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

namespace {

void set_blocks(BlockDiagonalInverse& inverse, const std::vector<Sym3>& blocks) {
  inverse.update(upload<DeviceArray<Sym3*>>("ccp::test::blocks", blocks, blocks.size()));
}

}  // namespace

TEST_CASE("block inverses undo their blocks") {
  std::vector<Sym3> blocks;
  const std::size_t count = 400;
  for (std::size_t c = 0; c < count; ++c) {
    // L L^T, some with axes of very different scale as interior points near the boundary have.
    const auto l = random_vector(6, static_cast<unsigned>(c));
    const double s = c % 2 ? 1 : 1e6;
    const double d0 = s * (1.1 + l[0]), d1 = 1.1 + l[1], d2 = (1.1 + l[2]) / s;
    blocks.push_back({d0 * d0, d0 * l[3], d0 * l[4], l[3] * l[3] + d1 * d1, l[3] * l[4] + d1 * l[5],
                      l[4] * l[4] + l[5] * l[5] + d2 * d2});
    if (c % 2 == 0) blocks.back().zz += 1;  // keeps the test's own rounding out of it
  }
  const auto x = random_vector(3 * count, 77);
  std::vector<double> b(3 * count, 0.0);
  for (std::size_t c = 0; c < count; ++c) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) b[3 * c + i] += blocks[c](i, j) * x[3 * c + j];
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

TEST_CASE("a root keeps what is small beside what is large, which a sum has lost") {
  // (1 + sum v v^T)^-1 b = b for b across every v, of size 10^7 here: the sum's entries are rounded
  // at 10^-2.
  TriangularRoot<3> one = TriangularRoot<3>::of([](int i, int j) { return i == j ? 1.0 : 0.0; });
  double v[3] = {1e7, 2e7, 2e7}, b[3] = {2, -2, 1};
  one.add(v);
  one.solve(b);
  CHECK(b[0] == Approx(2).epsilon(1e-8));
  CHECK(b[1] == Approx(-2).epsilon(1e-8));
  CHECK(b[2] == Approx(1).epsilon(1e-8));

  TriangularRoot<6> six = TriangularRoot<6>::of([](int i, int j) { return i == j ? 1.0 : 0.0; });
  double p[6] = {0, 1e7, 0, 1e7, 2e7, 0}, q[6] = {1e7, 1e7, 3e7, 0, 0, 1e7},
         across[6] = {1, 2, -1, 0, -1, 0};
  six.add(p);
  six.add(q);
  six.solve(across);
  const double expected[6] = {1, 2, -1, 0, -1, 0};
  for (int i = 0; i < 6; ++i) CHECK(across[i] == Approx(expected[i]).margin(1e-7));
}

TEST_CASE("a root of a matrix and of squares is that of their sum") {
  const auto l = random_vector(36, 91), x = random_vector(6, 92);
  const auto entry = [&](int i, int j) {
    double sum = i == j ? 0.5 : 0;
    for (int k = 0; k < 6; ++k) sum += l[6 * i + k] * l[6 * j + k];
    return sum;
  };
  TriangularRoot<6> root = TriangularRoot<6>::of(entry);
  double v[6], b[6];
  for (int i = 0; i < 6; ++i) v[i] = x[5 - i];
  for (int i = 0; i < 6; ++i) {
    b[i] = 0;
    for (int j = 0; j < 6; ++j) b[i] += (entry(i, j) + v[i] * v[j]) * x[j];
  }
  root.add(v);
  root.solve(b);
  for (int i = 0; i < 6; ++i) CHECK(b[i] == Approx(x[i]).margin(1e-12));
}

TEST_CASE("a block that is not positive definite is replaced by its diagonal") {
  BlockDiagonalInverse inverse(make_map(3), 1);
  set_blocks(inverse, {{2, 5, 1, 4, 0.5, 8}});  // 2 * 4 < 5 * 5
  const auto in = to_vector({2, 4, 8}), out = to_vector({0, 0, 0});
  inverse.apply(*in, *out);
  CHECK(to_host(*out) == std::vector<double>{1, 1, 1});
}
