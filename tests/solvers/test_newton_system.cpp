// The Newton system of the interior-point method and the Krylov methods against dense matrices on
// the host. Dense matrices are in contact axes, the operators in world axes.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <stdexcept>

#include "solvers/core/vector_kernels.hpp"
#include "solvers/ipm/newton_system.hpp"
#include "solvers/linear/block_diagonal.hpp"
#include "solvers/linear/conjugate_gradients.hpp"
#include "solvers/linear/krylov.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

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

/// Hands it the diagonal blocks of the Newton system.
void set_blocks(BlockDiagonalInverse& inverse, const NewtonSystem& system, int contacts) {
  const DeviceArray<Sym3*> blocks("ccp::test::blocks", contacts);
  system.diagonal_blocks(blocks);
  inverse.update(blocks);
}

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

TEST_CASE("the Newton system is T P(w) T + N + R") {
  for (const bool rotates : {true, false}) {
    const Newton newton(random_problem({6, 40, rotates, true, 11}));
    for (unsigned seed = 1; seed < 4; ++seed) {
      const auto p = newton.vector(seed);
      CHECK(relative_difference(product_of(*newton.system, newton.host, p),
                                multiply(newton.matrix, p)) < 1e-12);
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
  const auto b = newton.vector(5), x = product_of(preconditioner, newton.host, b);
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

namespace {

/// diag(a), which counts its products.
class Diagonal : public Operator {
 public:
  explicit Diagonal(const std::vector<double>& a) : a_(to_vector(a)) {}
  Teuchos::RCP<const Map> getDomainMap() const override { return a_->getMap(); }
  Teuchos::RCP<const Map> getRangeMap() const override { return a_->getMap(); }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp, double, double) const override {
    if (++products_ == throws_at) throw std::runtime_error("no more");
    y.elementWiseMultiply(1, *a_->getVector(0), x, 0);
  }
  int products() const { return products_; }
  int throws_at = 0;

 private:
  Teuchos::RCP<Vector> a_;
  mutable int products_ = 0;
};

}  // namespace

// A = diag(1, 2, 4), M = diag(1, 1/2, 1): M A has the eigenvalues 1 and 4, for two iterations.
TEST_CASE("conjugate gradients apply the preconditioner once an iteration") {
  const auto a = Teuchos::rcp(new Diagonal({1, 2, 4})), m = Teuchos::rcp(new Diagonal({1, 0.5, 1}));
  const auto solved = [](const ConstVectorView& r) { return vector_kernels::dot(r, r) < 1e-24; };
  const auto never = [](int) { return false; };
  const auto b = to_vector({1, 2, 4}), x = to_vector({0, 0, 0});
  ConjugateGradients cg(a, m);
  const auto cold = cg.solve(*b, *x, solved, never);
  CHECK(cold.converged);
  CHECK(cold.iterations == 2);
  CHECK(cold.products == 2);  // none with a guess of zero
  CHECK(a->products() == 2);
  CHECK(m->products() == 2);
  CHECK(relative_difference(to_host(*x), {1, 1, 1}) < 1e-15);

  const auto again = cg.solve(*b, *x, solved, never);
  CHECK(again.converged);
  CHECK(again.iterations == 0);
  CHECK(again.products == 1);
  CHECK(m->products() == 2);

  const auto y = to_vector({5, 0, -2});
  const auto capped = cg.solve(*b, *y, solved, [](int iterations) { return iterations >= 1; });
  CHECK_FALSE(capped.converged);
  CHECK(capped.iterations == 1);
  const auto plain = ConjugateGradients(a, Teuchos::null).solve(*b, *y, solved, never);
  CHECK(plain.converged);
  CHECK(plain.iterations == 3);
  CHECK(relative_difference(to_host(*y), {1, 1, 1}) < 1e-14);

  m->throws_at = m->products() + 1;
  const auto z = to_vector({0, 0, 0});
  const auto broken = cg.solve(*b, *z, solved, never);
  CHECK(broken.breakdown);
  CHECK_FALSE(broken.converged);
  CHECK(broken.message == "no more");
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
