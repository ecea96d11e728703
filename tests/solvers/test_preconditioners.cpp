// The assembled Newton matrix, the preconditioners and the direct methods.
#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <cmath>
#include <map>

#include "harness/systems/frozen_systems.hpp"
#include "harness/systems/precond.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/ipm/newton_matrix.hpp"
#include "solvers/linear/spectrum.hpp"
#include "solvers/preconditioners/linear_solver.hpp"
#include "solvers/registry.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

namespace ccp::test {
namespace {

/// The operator's columns: entry (i, j) at j * size + i.
std::vector<double> dense(const Operator& a, std::size_t size) {
  std::vector<double> all;
  for (std::size_t j = 0; j < size; ++j) {
    std::vector<double> unit(size, 0.0);
    unit[j] = 1;
    const auto column = product_of(a, unit);
    all.insert(all.end(), column.begin(), column.end());
  }
  return all;
}

/// Inverse of a dense matrix by Gauss-Jordan with pivoting.
std::vector<double> inverse_of(std::vector<double> a) {
  const auto n = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(a.size()))));
  std::vector<double> b(a.size(), 0.0);
  for (std::size_t i = 0; i < n; ++i) b[i * n + i] = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
    }
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(a[k * n + j], a[best * n + j]);
      std::swap(b[k * n + j], b[best * n + j]);
    }
    const double pivot = a[k * n + k];
    for (std::size_t j = 0; j < n; ++j) a[k * n + j] /= pivot, b[k * n + j] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = a[i * n + k];
      if (i == k || factor == 0) continue;
      for (std::size_t j = 0; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
        b[i * n + j] -= factor * b[k * n + j];
      }
    }
  }
  return b;
}

/// A Newton system at a random interior point, and its matrix in both forms.
struct Assembled {
  ContactProblem host;
  Problem problem;
  Teuchos::RCP<NewtonSystem> system;
  NewtonMatrix matrix;

  explicit Assembled(ContactProblem data, unsigned seed = 1)
      : host(std::move(data)), problem(host), matrix(problem, {true, true}) {
    const std::size_t n = host.contacts();
    std::vector<double> rho(2 * n);
    for (std::size_t k = 0; k < 2 * n; ++k) rho[k] = 0.01 * static_cast<double>(1 + k % 3);
    system = Teuchos::rcp(
        new NewtonSystem(problem, upload<DeviceArray<double* [2]>>("ccp::test::rho", rho, n)));
    auto x = random_vector(3 * n, seed), y = random_vector(3 * n, seed + 1);
    for (std::size_t c = 0; c < n; ++c) {
      x[3 * c] = std::hypot(x[3 * c + 1], x[3 * c + 2]) + 0.2;
      y[3 * c] = std::hypot(y[3 * c + 1], y[3 * c + 2]) + 0.3;
      if (host.mu[c] == 0) x[3 * c + 1] = x[3 * c + 2] = y[3 * c + 1] = y[3 * c + 2] = 0;
    }
    system->set_scaling(to_view(world_axes(host, x)), to_view(world_axes(host, y)));
    matrix.update(*system);
  }

  PreconditionerInput input() const {
    return {problem.map(), problem.contacts(), matrix.diagonal(), matrix.crs(), matrix.block_crs()};
  }
};

void check_assembled(const ContactProblem& host) {
  const Assembled a(host);
  for (unsigned seed = 3; seed < 5; ++seed) {
    const auto x = random_vector(3 * host.contacts(), seed);
    const auto expected = product_of(*a.system, x);
    CHECK(relative_difference(product_of(*a.matrix.crs(), x), expected) < 1e-13);
    CHECK(relative_difference(product_of(*a.matrix.block_crs(), x), expected) < 1e-13);
  }
}

/// An input made of a matrix's blocks, for matrices that are no Newton matrices.
struct Blocks {
  Teuchos::RCP<const Map> map;
  Teuchos::RCP<CrsMatrix> crs;
  Teuchos::RCP<BlockCrsMatrix> block_crs;

  explicit Blocks(const BlockMatrix& matrix)
      : map(make_map(3 * (matrix.row_offsets.size() - 1))),
        crs(make_crs(matrix, map)),
        block_crs(make_block_crs(matrix, map)) {}
  PreconditionerInput input() const {
    return {map, static_cast<int>(map->getNodeNumElements() / 3), {}, crs, block_crs};
  }
};

/// The block matrix with a_ij I + (1 - kronecker) e on the given scalar pattern.
BlockMatrix blocks_of(const std::vector<std::vector<double>>& a, double skew) {
  BlockMatrix matrix;
  matrix.row_offsets = {0};
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) {
      if (a[i][j] == 0) continue;
      matrix.columns.push_back(static_cast<int>(j));
      for (int p = 0; p < 3; ++p) {
        for (int q = 0; q < 3; ++q) matrix.blocks.push_back(p == q ? a[i][j] : skew * a[i][j]);
      }
    }
    matrix.row_offsets.push_back(static_cast<std::int64_t>(matrix.columns.size()));
  }
  return matrix;
}

/// Whether (L L^T)_ij = a_ij on a's pattern, with (1 + shift) a_ii on the diagonal.
void check_incomplete(const Preconditioner& factor, const CrsMatrix& a, double shift) {
  const auto local = a.getLocalMatrixHost();
  const auto rows = static_cast<std::size_t>(local.numRows());
  const auto product = inverse_of(dense(*factor.inverse(), rows));
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = local.graph.row_map(i); k < local.graph.row_map(i + 1); ++k) {
      const auto j = static_cast<std::size_t>(local.graph.entries(k));
      const double expected = local.values(k) * (i == j ? 1 + shift : 1);
      largest = std::max(largest, std::abs(expected));
      worst = std::max(worst, std::abs(product[j * rows + i] - expected));
    }
  }
  CHECK(worst < 1e-10 * largest);
}

/// Systems of an ipm solve of a small pile, made once.
const FrozenSystems& pile_systems(const ContactProblem& pile) {
  static const FrozenSystems systems =
      freeze_systems(pile, SolverSpec::parse("ipm"), {3, 9}).systems;
  return systems;
}
const ContactProblem& pile() {
  static const ContactProblem problem = random_pile(200, 700, 5);
  return problem;
}

}  // namespace

TEST_CASE("the assembled Newton matrix is the matrix-free one: every scene") {
  for (const HandScene& entry : hand_scenes()) {
    const ContactProblem scene = make_scene(entry.name);
    if (scene.contacts() == 0) continue;
    INFO(entry.name);
    check_assembled(scene);
  }
}

TEST_CASE("the assembled Newton matrix is the matrix-free one: both forms, rotating or not") {
  for (const bool rotates : {false, true}) {
    INFO("rotates: " << rotates);
    const ContactProblem problem = random_problem({6, 40, rotates, true, 21});
    check_assembled(problem);
    check_assembled(assembled_form(problem));
  }
}

TEST_CASE("N as a matrix is the matrix-free N, and stores no more than it must") {
  for (const bool rotates : {false, true}) {
    const ContactProblem host = random_problem({6, 40, rotates, true, 22});
    const Problem problem(host);
    const BlockMatrix n = assemble_delassus(host);
    const auto x = random_vector(120, 4), expected = product_of(*problem.delassus(), x);
    const auto crs = make_crs(n, problem.map());
    CHECK(relative_difference(product_of(*crs, x), expected) < 1e-13);
    CHECK(relative_difference(product_of(*make_block_crs(n, problem.map()), x), expected) < 1e-13);
    const std::size_t off_diagonal = n.columns.size() - 40;
    CHECK(crs->getNodeNumEntries() == 9 * 40 + (rotates ? 9 : 3) * off_diagonal);
  }
}

TEST_CASE("an update of the assembled matrix forgets the one before") {
  Assembled a(random_problem({6, 40, true, true, 23}));
  const Assembled other(random_problem({6, 40, true, true, 23}), 50);
  a.system->set_scaling(other.system->scaling());
  a.matrix.update(*a.system);
  const auto x = random_vector(120, 5), expected = product_of(*other.system, x);
  CHECK(relative_difference(product_of(*a.matrix.crs(), x), expected) < 1e-13);
  CHECK(relative_difference(product_of(*a.matrix.block_crs(), x), expected) < 1e-13);
}

//   4 -1           The chain of blocks has no fill: the incomplete factorisation is the whole one.
//  -1  4 -1
//     -1  4 -1
//        -1  4
TEST_CASE("ic0 and block_ic0 without fill are Cholesky factorisations") {
  const Blocks a(blocks_of({{4, -1, 0, 0}, {-1, 4, -1, 0}, {0, -1, 4, -1}, {0, 0, -1, 4}}, 0.2));
  for (const char* id : {"ic0", "block_ic0"}) {
    INFO(id);
    const auto factor = make_preconditioner({id, {}});
    factor->setup(a.input());
    const PreconditionerReport report = factor->compute();
    CHECK(report.good);
    CHECK(report.restarts == 0);
    const auto x = random_vector(12, 6);
    CHECK(relative_difference(product_of(*factor->inverse(), product_of(*a.crs, x)), x) < 1e-14);
  }
}

TEST_CASE("ic0 and block_ic0 agree with the matrix on its pattern") {
  const Assembled a(random_pile(25, 60, 7));
  for (const char* id : {"ic0", "block_ic0"}) {
    INFO(id);
    const auto factor = make_preconditioner({id, {}});
    factor->setup(a.input());
    const PreconditionerReport report = factor->compute();
    CHECK(report.good);
    check_incomplete(*factor, *a.matrix.crs(), report.shift);
  }
}

// Kershaw's matrix (1978): positive definite, but the last pivot of its incomplete factor is not.
TEST_CASE("ic0 and block_ic0 start again with a shifted diagonal") {
  const Blocks a(blocks_of({{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}}, 0));
  for (const char* id : {"ic0", "block_ic0"}) {
    INFO(id);
    const auto factor = make_preconditioner({id, {{"shift", "0.01"}}});
    factor->setup(a.input());
    const PreconditionerReport report = factor->compute();
    CHECK(report.good);
    CHECK(report.restarts >= 1);
    CHECK(std::abs(report.shift / (0.01 * std::pow(3, report.restarts - 1)) - 1) < 1e-12);
    check_incomplete(*factor, *a.crs, report.shift);
  }
}

TEST_CASE("a matrix without any incomplete factor is told, not thrown") {
  BlockMatrix matrix = blocks_of({{4, -1}, {-1, 4}}, 0);
  for (double& entry : matrix.blocks) entry = -entry;
  const Blocks negative(matrix);
  for (const char* id : {"ic0", "block_ic0"}) {
    const auto factor = make_preconditioner({id, {}});
    factor->setup(negative.input());
    const PreconditionerReport report = factor->compute();
    CHECK_FALSE(report.good);
    CHECK_FALSE(report.message.empty());
  }
}

TEST_CASE("incomplete Cholesky factors as operators: y = alpha M^-1 x + beta y") {
  const Blocks a(blocks_of({{4, -1}, {-1, 4}}, 0.1));
  for (const char* id : {"ic0", "block_ic0"}) {
    const auto factor = make_preconditioner({id, {}});
    factor->setup(a.input());
    factor->compute();
    const auto host_x = random_vector(6, 1), host_y = random_vector(6, 2);
    const auto x = to_vector(host_x), y = to_vector(host_y);
    auto expected = product_of(*factor->inverse(), host_x);
    for (std::size_t i = 0; i < 6; ++i) expected[i] = 2 * expected[i] - 3 * host_y[i];
    factor->inverse()->apply(*x, *y, Teuchos::NO_TRANS, 2, -3);
    CHECK(relative_difference(to_host(*y), expected) < 1e-15);
  }
}

// ---- blocks of 3 and of 6 ----------------------------------------------------------------------

namespace {

/// A symmetric positive definite matrix of blocks on a pattern with fill, each row with some
/// neighbours before it. Blocks of 3 off the diagonal are symmetric, as in body space.
template <class HasBlock>
HostBlocks random_symmetric_blocks(int block_size, int rows, unsigned seed, double diagonal,
                                   const HasBlock& has_block) {
  HostBlocks a;
  a.block_size = block_size;
  const auto size = static_cast<std::size_t>(block_size);
  const auto number = random_vector(size * size * static_cast<std::size_t>(rows * rows), seed);
  const double* next = number.data();
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j <= i; ++j) {
      if (j < i && !has_block(i, j)) continue;
      a.columns.push_back(j);
      for (std::size_t p = 0; p < size; ++p) {
        for (std::size_t q = 0; q < size; ++q) {
          const bool mirrored = q > p && (j == i || block_size == 3);
          const double value = next[mirrored ? size * q + p : size * p + q];
          a.values.push_back(value + (i == j && p == q ? diagonal : 0.0));
        }
      }
      next += size * size;
    }
    a.row_offsets.push_back(static_cast<std::int64_t>(a.columns.size()));
  }
  return a;
}

HostBlocks random_symmetric_blocks(int block_size, int rows, unsigned seed) {
  return random_symmetric_blocks(block_size, rows, seed, 6.0 * block_size,
                                 [](int i, int j) { return (i * 7 + j * 3) % 5 <= 1; });
}

/// Both triangles, entry (i, j) at i * size + j.
std::vector<double> dense(const HostBlocks& a) {
  const auto size = static_cast<std::size_t>(a.block_size), n = size * a.rows();
  std::vector<double> all(n * n, 0.0);
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
         k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
      const auto j = static_cast<std::size_t>(a.columns[k]);
      for (std::size_t p = 0; p < size; ++p) {
        for (std::size_t q = 0; q < size; ++q) {
          const double value = a.values[size * (size * k + p) + q];
          all[n * (size * i + p) + size * j + q] = all[n * (size * j + q) + size * i + p] = value;
        }
      }
    }
  }
  return all;
}

/// x = (L L^T)^-1 b with L by the definition of block incomplete Cholesky, written out densely:
/// Cholesky of scalar entries in which blocks outside the pattern are put to zero as they arise.
/// @param fill  the pattern also has the pairs (i, j) that a common earlier neighbour k joins
std::vector<double> solve_incomplete(const HostBlocks& a, bool fill, const std::vector<double>& b) {
  const auto size = static_cast<std::size_t>(a.block_size), rows = a.rows(), n = size * rows;
  std::vector<bool> own(rows * rows, false);
  for (std::size_t i = 0; i < rows; ++i) {
    for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      own[rows * i + static_cast<std::size_t>(a.columns[static_cast<std::size_t>(k)])] = true;
    }
  }
  std::vector<bool> pattern = own;
  for (std::size_t k = 0; fill && k < rows; ++k) {
    for (std::size_t i = k + 1; i < rows; ++i) {
      for (std::size_t j = k + 1; j < i; ++j) {
        if (own[rows * i + k] && own[rows * j + k]) pattern[rows * i + j] = true;
      }
    }
  }
  std::vector<double> l = dense(a);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double& entry = l[n * i + j];
      if (i / size != j / size && !pattern[rows * (i / size) + j / size]) entry = 0;
      if (i / size != j / size && !pattern[rows * (i / size) + j / size]) continue;
      for (std::size_t k = 0; k < j; ++k) entry -= l[n * i + k] * l[n * j + k];
      entry = i == j ? std::sqrt(entry) : entry / l[n * j + j];
    }
  }
  std::vector<double> x = b;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= l[n * i + k] * x[k];
    x[i] /= l[n * i + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= l[n * k + i] * x[k];
    x[i] /= l[n * i + i];
  }
  return x;
}

PreconditionerInput body_input(const Teuchos::RCP<SymmetricBlocks>& a) {
  return {a->getDomainMap(), a->pattern().rows, {}, Teuchos::null, Teuchos::null, Space::body, a};
}

}  // namespace

TEST_CASE("symmetric blocks: the product, and back to the host as they came") {
  for (const int size : {3, 6}) {
    const HostBlocks host = random_symmetric_blocks(size, 9, 31);
    const auto a = make_symmetric_blocks(host);
    CHECK(a->block_size() == size);
    const auto x = random_vector(9 * static_cast<std::size_t>(size), 2);
    CHECK(relative_difference(product_of(*a, x), multiply(dense(host), x)) < 1e-14);
    const HostBlocks back = a->to_host();
    CHECK(back.row_offsets == host.row_offsets);
    CHECK(back.columns == host.columns);
    CHECK(back.values == host.values);
  }
}

TEST_CASE("block incomplete Cholesky is the dense one on its pattern: blocks of 3 and of 6") {
  for (const int size : {3, 6}) {
    const HostBlocks host = random_symmetric_blocks(size, 12, 32);
    const auto a = make_symmetric_blocks(host);
    const auto b = random_vector(12 * static_cast<std::size_t>(size), 3);
    for (const bool fill : {false, true}) {
      INFO(size << (fill ? ", with fill" : ""));
      const auto factor = make_preconditioner({fill ? "block_ic1" : "block_ic0", {}});
      factor->setup(body_input(a));
      REQUIRE(factor->compute().restarts == 0);
      const auto expected = solve_incomplete(host, fill, b);
      // block_ic1 keeps its blocks in single precision.
      CHECK(relative_difference(product_of(*factor->inverse(), b), expected) <
            (fill ? 1e-6 : 1e-13));
    }
    CHECK(relative_difference(solve_incomplete(host, true, b), solve_incomplete(host, false, b)) >
          1e-4);
  }
}

// Rows of three columns beside one that has dozens: lists so different in length are searched,
// others are looked up.
TEST_CASE("block incomplete Cholesky is the dense one where one body touches all others") {
  constexpr int rows = 60;
  for (const int size : {3, 6}) {
    for (const int hub : {40, rows - 1}) {
      INFO("blocks of " << size << ", hub " << hub);
      const HostBlocks host = random_symmetric_blocks(
          size, rows, 35, 2.0 * rows,
          [&](int i, int j) { return j == 0 || i - j <= 1 || i == hub || j == hub; });
      const auto a = make_symmetric_blocks(host);
      const auto b =
          random_vector(static_cast<std::size_t>(rows) * static_cast<std::size_t>(size), 8);
      const auto factor = make_preconditioner({"block_ic0", {}});
      factor->setup(body_input(a));
      REQUIRE(factor->compute().restarts == 0);
      CHECK(relative_difference(product_of(*factor->inverse(), b),
                                solve_incomplete(host, false, b)) < 1e-13);
    }
  }
}

TEST_CASE("block_ic0 of a Newton matrix is the dense one in the natural order of contacts") {
  for (const bool rotates : {false, true}) {
    const Assembled a(random_problem({15, 30, rotates, true, 33}));
    HostBlocks host;  // the lower triangle of the matrix's own blocks
    const auto graph = a.matrix.block_crs()->getCrsGraph().getLocalGraphHost();
    const auto values = a.matrix.block_crs()->getValuesHost();
    for (int i = 0; i < 30; ++i) {
      for (std::size_t k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
        if (graph.entries(k) > i) continue;
        host.columns.push_back(graph.entries(k));
        for (std::size_t e = 0; e < 9; ++e) host.values.push_back(values(9 * k + e));
      }
      host.row_offsets.push_back(static_cast<std::int64_t>(host.columns.size()));
    }
    const auto factor = make_preconditioner({"block_ic0", {}});
    factor->setup(a.input());
    const PreconditionerReport report = factor->compute();
    REQUIRE(report.good);
    for (std::size_t i = 0; i < host.rows(); ++i) {  // the diagonal block is the last of its row
      double* const own = &host.values[9 * static_cast<std::size_t>(host.row_offsets[i + 1] - 1)];
      for (int p = 0; p < 3; ++p) own[4 * p] *= 1 + report.shift;
    }
    const auto b = random_vector(90, 4);
    CHECK(relative_difference(product_of(*factor->inverse(), b), solve_incomplete(host, false, b)) <
          1e-10);
  }
}

// Kershaw's matrix again, as multiples of the identity of 3 or 6.
TEST_CASE("block_ic0 in body space starts again with a shifted diagonal; block_jacobi need not") {
  const double kershaw[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
  for (const int size : {3, 6}) {
    HostBlocks host;
    host.block_size = size;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j <= i; ++j) {
        if (kershaw[i][j] == 0) continue;
        host.columns.push_back(j);
        for (int p = 0; p < size; ++p) {
          for (int q = 0; q < size; ++q) host.values.push_back(p == q ? kershaw[i][j] : 0);
        }
      }
      host.row_offsets.push_back(static_cast<std::int64_t>(host.columns.size()));
    }
    const auto a = make_symmetric_blocks(host);
    const auto n = 4 * static_cast<std::size_t>(size);
    const auto factor = make_preconditioner({"block_ic0", {}});
    factor->setup(body_input(a));
    const PreconditionerReport report = factor->compute();
    CHECK(report.good);
    CHECK(report.restarts >= 1);
    CHECK(report.shift < 10);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> unit(n, 0.0);
      unit[i] = 1;
      CHECK(product_of(*factor->inverse(), unit)[i] > 0);
    }
    const auto jacobi = make_preconditioner({"block_jacobi", {}});
    jacobi->setup(body_input(a));
    CHECK(jacobi->compute().restarts == 0);
    auto third = random_vector(n, 5);
    const auto x = product_of(*jacobi->inverse(), third);
    for (double& value : third) value /= 3;
    CHECK(relative_difference(x, third) < 1e-15);
  }
}

//   0   1     Rows 0, 1 and 4 touch nothing before them; 2 touches 0 and 1, 3 touches 2.
//    \ /
//     2 - 3     4
TEST_CASE("levels of a pattern, in a list or as its rows are sorted") {
  const LowerRows lower = lower_rows(5, {{3, 2}, {2, 1}, {2, 0}, {2, 1}});
  CHECK(lower.offset == std::vector<int>{0, 0, 0, 2, 3, 3});
  CHECK(lower.column == std::vector<int>{0, 1, 2});
  const LevelOrder order = level_order(lower);
  CHECK(order.row == std::vector<int>{0, 1, 4, 2, 3});
  CHECK(order.level_offset == std::vector<int>{0, 3, 4, 5});
  const SortedRows sorted = sort_rows(lower, order.row);
  CHECK(sorted.rows.offset == std::vector<int>{0, 0, 0, 0, 2, 3});
  CHECK(sorted.rows.column == std::vector<int>{0, 1, 3});
  CHECK(sorted.source == std::vector<int>{0, 1, 2});
  // A pattern has the list of its levels, unless rows are sorted by them.
  const BlockPattern pattern = make_pattern(lower), in_order = make_pattern(sorted.rows);
  CHECK(download(pattern.level_row) == order.row);
  CHECK(download(pattern.level_offset) == order.level_offset);
  CHECK(in_order.level_row.extent(0) == 0);
  CHECK(download(in_order.level_offset) == order.level_offset);
  // Eliminating 0 joins nothing, 2's later neighbour is 3 alone; with a row 4 under both it would.
  CHECK(with_fill(lower).column == lower.column);
  CHECK(with_fill(lower_rows(3, {{1, 0}, {2, 0}})).column == std::vector<int>{0, 0, 1});
}

TEST_CASE("every preconditioner with every method solves real Newton systems, or says why not") {
  PrecondRequest request;
  request.methods = linear_methods();
  for (const std::string& id : contact_preconditioner_ids()) {
    request.preconditioners.push_back({id, {}});
  }
  request.preconditioners.push_back({"iluk", {{"level", "1"}}});
  request.preconditioners.push_back({"relaxation", {{"sweeps", "2"}}});
  request.tolerance = 1e-6;
  request.max_iterations = 2000;
  const auto rows = run_precond(request, pile_systems(pile()), pile());
  CHECK(rows.size() == 2 * (4 * request.preconditioners.size() + direct_methods().size()));
  std::map<std::string, long> iterations;
  for (const PrecondRow& row : rows) {
    INFO(row.method << " with " << row.preconditioner << " on system " << row.outer << ": "
                    << row.status << " " << row.message << ", residual " << row.residual);
    const bool direct = is_direct_method(row.method);
    const bool definite =
        direct || preconditioner_entry(SolverSpec::parse(row.preconditioner).id).definite;
    if (row.status == "refused") {
      CHECK(row.preconditioner == "ilut");
      CHECK((row.method == "cg" || row.method == "minres"));
    } else if (definite || row.status == "converged") {
      CHECK(row.status == "converged");
      CHECK(row.residual <= (direct ? 1e-9 : 1.5 * request.tolerance));
    } else {
      // An incomplete LU that has become indefinite: said, as in the paper.
      CHECK((row.status == "breakdown" || row.status == "max_iterations"));
    }
    if (row.method == "cg" && row.outer == 9) iterations[row.preconditioner] = row.iterations;
  }
  CHECK(iterations.at("block_diagonal") < iterations.at("none"));
  CHECK(iterations.at("relaxation") < iterations.at("block_diagonal"));
  CHECK(iterations.at("block_ic0") < iterations.at("relaxation"));
}

namespace {

/// M^-1 of block_ic0 or block_ic1, dense, column by column.
std::vector<double> dense_inverse(const PreconditionerInput& input, std::size_t n, const char* id,
                                  int sweeps) {
  const auto factor = make_preconditioner({id, {{"jacobi_sweeps", std::to_string(sweeps)}}});
  factor->setup(input);
  REQUIRE(factor->compute().good);
  return dense(*factor->inverse(), n);
}

/// Whether Cholesky's method finds positive pivots.
bool is_definite(std::vector<double> a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    if (!(a[n * j + j] > 0)) return false;
    for (std::size_t i = j + 1; i < n; ++i) {
      const double factor = a[n * i + j] / a[n * j + j];
      for (std::size_t k = j; k < n; ++k) a[n * i + k] -= factor * a[n * j + k];
    }
  }
  return true;
}

void check_sweeps(const PreconditionerInput& input, std::size_t n, const char* id, int enough) {
  const auto exact = dense_inverse(input, n, id, 0);
  double before = 1e300;
  for (const int sweeps : {1, 2, 4}) {
    INFO(id << ", " << sweeps << " sweeps, " << n << " rows");
    const auto swept = dense_inverse(input, n, id, sweeps);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        CHECK(std::abs(swept[n * i + j] - swept[n * j + i]) <=
              1e-14 * std::sqrt(swept[n * i + i] * swept[n * j + j]));
      }
    }
    CHECK(is_definite(swept, n));
    const double now = relative_difference(swept, exact);
    CHECK(now <= before);
    if (sweeps == 1) CHECK(now > 1e-6);
    before = std::max(now, 1e-13);
  }
  CHECK(relative_difference(dense_inverse(input, n, id, enough), exact) < 1e-13);
}

}  // namespace

TEST_CASE(
    "triangular solves by Jacobi sweeps: symmetric, definite, exact after as many as levels") {
  for (const int size : {3, 6}) {
    const auto a = make_symmetric_blocks(random_symmetric_blocks(size, 12, 32));
    const std::size_t n = 12 * static_cast<std::size_t>(size);
    for (const char* const id : {"block_ic0", "block_ic1"}) check_sweeps(body_input(a), n, id, 11);
  }
  const Assembled contact(random_pile(25, 60, 7));
  check_sweeps(contact.input(), 180, "block_ic0", 59);
}

TEST_CASE("colored_ic0 agrees with the matrix on its pattern, in both spaces") {
  const Assembled contact(random_pile(25, 60, 7));
  const auto factor = make_preconditioner({"colored_ic0", {}});
  factor->setup(contact.input());
  check_incomplete(*factor, *contact.matrix.crs(), factor->compute().shift);
  for (const int size : {3, 6}) {
    const HostBlocks host = random_symmetric_blocks(size, 12, 32);
    const auto a = make_symmetric_blocks(host);
    const auto body = make_preconditioner({"colored_ic0", {}});
    body->setup(body_input(a));
    REQUIRE(body->compute().restarts == 0);
    const auto n = 12 * static_cast<std::size_t>(size);
    const auto product = inverse_of(dense(*body->inverse(), n)), matrix = dense(host);
    double worst = 0;
    for (std::size_t i = 0; i < n * n; ++i) {
      if (matrix[i] != 0) worst = std::max(worst, std::abs(product[i] - matrix[i]));
    }
    CHECK(worst < 1e-11);
  }
}

namespace {

/// (D + L) D^-1 (D + L)^T of a matrix whose rows of blocks are taken by colour, first fit.
std::vector<double> dense_sgs_by_color(const HostBlocks& host) {
  const auto size = static_cast<std::size_t>(host.block_size), rows = host.rows(), n = size * rows;
  const std::vector<double> a = dense(host);
  const auto touch = [&](std::size_t i, std::size_t j) {
    for (std::size_t k = 0; k < size * size; ++k) {
      if (a[n * (size * i + k / size) + size * j + k % size] != 0) return true;
    }
    return false;
  };
  std::vector<std::size_t> color(rows, 0);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (touch(i, j) && color[j] == color[i]) {
        ++color[i];
        j = static_cast<std::size_t>(-1);  // again, from the first row
      }
    }
  }
  std::vector<double> lower(n * n, 0.0), diagonal(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t row = i / size, column = j / size;
      if (row == column) diagonal[n * i + j] = a[n * i + j];
      const bool before = color[column] < color[row];
      if (row == column || before) lower[n * i + j] = a[n * i + j];
    }
  }
  const std::vector<double> inverse = inverse_of(diagonal);
  const auto times = [n](const std::vector<double>& x, const std::vector<double>& y, bool turned) {
    std::vector<double> z(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) {
          z[n * i + j] += x[n * i + k] * (turned ? y[n * j + k] : y[n * k + j]);
        }
      }
    }
    return z;
  };
  return times(times(lower, inverse, false), lower, true);
}

}  // namespace

TEST_CASE("colored_sgs is symmetric Gauss-Seidel by colour") {
  for (const int size : {3, 6}) {
    const HostBlocks host = random_symmetric_blocks(size, 12, 32);
    const auto a = make_symmetric_blocks(host);
    const auto sgs = make_preconditioner({"colored_sgs", {}});
    sgs->setup(body_input(a));
    REQUIRE(sgs->compute().good);
    const auto product = inverse_of(dense(*sgs->inverse(), 12 * static_cast<std::size_t>(size)));
    CHECK(relative_difference(product, dense_sgs_by_color(host)) < 1e-11);
  }
}

TEST_CASE("preconditioners without levels on systems of vipm: spectra and iterations") {
  for (const bool rotates : {false, true}) {
    ContactProblem host = rotates ? random_problem({60, 200, true, true, 4}) : pile();
    if (rotates) make_feasible(host, 5);
    const FrozenSystems systems =
        freeze_systems(host, SolverSpec::parse("vipm[linear_solver=cg]"), {2, 6}).systems;
    PrecondRequest request;
    request.methods = {"cg"};
    for (const char* const id :
         {"block_diagonal", "block_chebyshev", "colored_sgs", "colored_ic0", "block_ic0"}) {
      request.preconditioners.push_back({id, {}});
    }
    request.preconditioners.push_back({"block_ic0", {{"jacobi_sweeps", "3"}}});
    request.tolerance = 1e-6;
    request.max_iterations = 2000;
    request.eigenvalue_steps = 60;
    std::map<std::string, long> iterations;
    for (const PrecondRow& row : run_precond(request, systems, host)) {
      INFO(row.preconditioner << " on system " << row.outer << ", " << row.iterations);
      CHECK(row.status == "converged");
      CHECK(row.low > 0);
      // No eigenvalue of D^-1 S is above 2; the polynomial of degree 3 on [2/30, 2] keeps
      // 1 - lambda q(lambda) within 1/T_4 there.
      if (row.preconditioner == "block_diagonal") CHECK(row.high <= 2 + 1e-9);
      if (row.preconditioner == "block_chebyshev") {
        const double middle = (1 + 1.0 / 30) / (1 - 1.0 / 30);
        CHECK(row.high <= 1 + 1 / std::cosh(4 * std::acosh(middle)) + 1e-9);
      }
      iterations[row.preconditioner] += row.iterations;
    }
    CHECK(iterations.at("block_chebyshev") < iterations.at("block_diagonal"));
    CHECK(iterations.at("colored_sgs") < iterations.at("block_diagonal"));
    CHECK(iterations.at("block_ic0[jacobi_sweeps=3]") < iterations.at("block_diagonal"));
  }
}

TEST_CASE("the assembled operators take the iterations of the matrix-free one") {
  std::map<std::string, long> iterations;
  for (const std::string& op : linear_operators()) {
    PrecondRequest request;
    request.methods = {"cg"};
    request.preconditioners = {{"block_diagonal", {}}};
    request.apply = op;
    const auto rows = run_precond(request, pile_systems(pile()), pile());
    iterations[op] = rows.back().iterations;
    CHECK(rows.back().status == "converged");
  }
  CHECK(std::abs(iterations.at("crs") - iterations.at("matrix_free")) <= 1);
  CHECK(std::abs(iterations.at("block_crs") - iterations.at("matrix_free")) <= 1);
}

namespace {

/// -1 times the identity: as indefinite as a preconditioner can be.
class Minus : public Operator {
 public:
  explicit Minus(Teuchos::RCP<const Map> map) : map_(std::move(map)) {}
  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp, double, double) const override {
    y.scale(-1, x);
  }

 private:
  Teuchos::RCP<const Map> map_;
};

}  // namespace

TEST_CASE("an indefinite preconditioner is a breakdown with a message, not a crash") {
  const Assembled a(random_pile(40, 100, 8));
  for (const char* method : {"cg", "minres"}) {
    INFO(method);
    KrylovOptions options;
    options.method = method;
    options.watch = true;
    KrylovSolver krylov(options, a.system, Teuchos::rcp(new Minus(a.problem.map())));
    const auto b = to_vector(random_vector(300, 1)), x = to_vector(std::vector<double>(300, 0.0));
    const KrylovResult result = krylov.solve(b, x, 1e-6);
    CHECK(result.breakdown);
    CHECK(result.indefinite);
    check_parts(result.message, {"r.Mr", "application 1"});
    CHECK(krylov.preconditioner_applies() == 1);
  }
}

TEST_CASE("ipm ends with a status where its preconditioner breaks down") {
  // Without regularisation and with stacks of contacts between two bodies, A is nearly singular.
  const Problem problem(pile());
  const auto solver = make_solver(SolverSpec::parse("ipm[preconditioner=iluk,level=1]"));
  solver->setup(problem);
  Vector gamma(problem.map(), 1);
  NullObserver nobody;
  const Info info = solver->solve(gamma, nobody);
  CHECK((info.status == Status::converged || info.status == Status::numerical_error ||
         info.status == Status::stagnated || info.status == Status::max_iterations));
  if (info.status == Status::numerical_error) CHECK_FALSE(info.message.empty());
}

TEST_CASE("the ends of a known spectrum: Lanczos and Arnoldi") {
  // diag(1, 2, ..., 60): found exactly once the space is exhausted, and well before it.
  std::vector<std::vector<double>> a(20, std::vector<double>(20, 0.0));
  for (std::size_t i = 0; i < 20; ++i) a[i][i] = static_cast<double>(i + 1);
  const Blocks diagonal(blocks_of(a, 0));
  const auto start = to_vector(random_vector(60, 3));
  for (const bool symmetric : {true, false}) {
    const Spectrum spectrum =
        estimate_spectrum(*diagonal.crs, Teuchos::null, symmetric, *start, 100);
    CHECK(spectrum.method == (symmetric ? "lanczos" : "arnoldi"));
    CHECK(std::abs(spectrum.low - 1) < 1e-8);
    CHECK(std::abs(spectrum.high - 20) < 1e-8);
    CHECK(spectrum.imaginary == 0);
  }
  // A symmetric, indefinite preconditioner: Lanczos gives up, Arnoldi finds the negative spectrum.
  const Spectrum negative =
      estimate_spectrum(*diagonal.crs, Teuchos::rcp(new Minus(diagonal.map)), true, *start, 100);
  CHECK(negative.method == "arnoldi");
  CHECK(std::abs(negative.low + 20) < 1e-8);
  CHECK(std::abs(negative.high + 1) < 1e-8);
}

TEST_CASE("the registry of preconditioners: names, options, defaults that agree") {
  check_parts(error_of([] {
                make_preconditioner({"ic", {}});
              }),
              {"unknown preconditioner 'ic'", "did you mean 'ic0'?"});
  check_parts(error_of([] {
                make_preconditioner({"iluk", {{"level", "-1"}}});
              }),
              {"preconditioner iluk: option level: expected integer >= 0", "'-1'"});
  check_parts(error_of([] {
                make_preconditioner({"none", {{"level", "1"}}});
              }),
              {"unknown option 'level'"});
  CHECK(&preconditioner_entry("block_jacobi") == &preconditioner_entry("block_diagonal"));
  std::string texts;  // in their one spelling
  for (const SolverSpec& spec : parse_preconditioners(
           "block_jacobi,ilut[fill=2.0,drop_tolerance=1e-2],ic0[shift=0.001]", "--x")) {
    texts += spec.text() + " ";
  }
  CHECK(texts == "block_diagonal ilut[drop_tolerance=0.01] ic0 ");
  check_parts(error_of([] { parse_preconditioners("none,iluk,iluk[level=0]", "--x"); }),
              {"--x: expected each entry once, found 'iluk[level=0]', which is iluk"});
  CHECK(takes(preconditioner_entry("block_ic1"), Space::body, 6));
  CHECK_FALSE(takes(preconditioner_entry("block_ic1"), Space::contact, 3));
  CHECK_THROWS_AS(add_preconditioner(preconditioner_entry("none")), std::invalid_argument);
  std::map<std::string, std::string> seen;  // ipm offers each name once
  for (const PreconditionerEntry& entry : preconditioner_entries()) {
    for (const auto& option : entry.make()->options().entries()) {
      const std::string text = option.value + " " + option.allowed;
      CHECK(seen.try_emplace(option.name, text).first->second == text);
    }
  }
}

TEST_CASE("ipm refuses options that contradict each other") {
  const std::map<std::string, std::vector<std::string>> faults = {
      {"ipm[preconditioner=none,level=1]", {"option level", "iluk, block_iluk", "=none"}},
      {"ipm[level=1]", {"option level", "preconditioner=block_diagonal"}},
      {"ipm[preconditioner=iluk,sweeps=2]", {"option sweeps", "relaxation"}},
      {"ipm[krylov=cholmod,preconditioner=ic0]", {"cholmod is a direct method"}},
      {"ipm[krylov=cholmod,krylov_tolerance=1e-3]", {"option krylov_tolerance", "direct"}},
      {"ipm[krylov=cholmod,operator=crs]", {"option operator", "direct"}},
      {"ipm[krylov=cholmod,shift=1e-2]", {"option shift", "krylov=cholmod"}},
      {"ipm[gmres_restart=20]", {"option gmres_restart", "krylov=gmres"}},
      {"ipm[preconditioner=ilut]", {"cg needs a symmetric preconditioner"}},
      {"ipm[preconditioner=ilu]", {"option preconditioner", "iluk"}}};
  for (const auto& [text, parts] : faults) {
    INFO(text);
    check_parts(error_of([text = text] { make_solver(SolverSpec::parse(text)); }), parts);
  }
  for (const char* text :
       {"ipm[level=1,preconditioner=iluk]", "ipm[krylov=cholmod,preconditioner=none]",
        "ipm[krylov=cholmod]", "ipm[krylov=gmres,preconditioner=ilut,fill=3]",
        "ipm[preconditioner=block_relaxation,sweeps=2,operator=block_crs]"}) {
    INFO(text);
    CHECK_NOTHROW(make_solver(SolverSpec::parse(text)));
  }
}

TEST_CASE("direct methods make the directions of ipm exact") {
  const ContactProblem small = random_pile(60, 200, 1);
  const Problem problem(small);
  for (const std::string& krylov : direct_methods()) {
    INFO(krylov);
    const auto solver = make_solver(SolverSpec::parse("ipm[krylov=" + krylov + "]"));
    solver->setup(problem);
    Vector gamma(problem.map(), 1);
    NullObserver nobody;
    const Info info = solver->solve(gamma, nobody);
    CHECK(info.status == Status::converged);
    CHECK(info.counters.krylov == 0);
    CHECK(info.counters.factorizations == info.counters.outer);
    for (const char* part : {"assembly", "factorization", "direct_solve"}) {
      CHECK(info.timers.count(part) == 1);
    }
  }
}

}  // namespace ccp::test
