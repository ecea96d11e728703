// The velocity-space interior-point method: its linear algebra against dense definitions, and what
// the method promises on the frozen piles.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/linear/block_pattern.hpp"
#include "solvers/linear/cholesky.hpp"
#include "solvers/registry.hpp"
#include "solvers/velocity_space/body_order.hpp"
#include "solvers/velocity_space/make_system.hpp"
#include "solvers/velocity_space/velocity_solver.hpp"
#include "solvers/vipm/contact_step.hpp"
#include "tests/hard_problems.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

std::vector<ContactProblem> random_problems() {
  return {random_problem({5, 12, true, true, 1}), random_problem({5, 12, false, true, 2}),
          random_problem({9, 30, true, false, 3}), random_problem({2, 3, true, true, 4})};
}

/// z and p in the system's own order of contacts.
std::vector<double> reordered(const VelocitySystem& system, const std::vector<double>& contact) {
  const auto order =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), system.contact_order());
  std::vector<double> result(contact.size());
  for (std::size_t c = 0; c < order.extent(0); ++c) {
    for (std::size_t k = 0; k < 3; ++k) result[3 * c + k] = contact[3 * order(c) + k];
  }
  return result;
}

/// Symmetric positive definite blocks [n], some of them nearly singular.
DeviceArray<Sym3*> random_blocks(std::size_t n, unsigned seed) {
  const DeviceArray<Sym3*> blocks("blocks", n);
  const auto host = Kokkos::create_mirror_view(blocks);
  const std::vector<double> g = random_vector(9 * n, seed);
  for (std::size_t c = 0; c < n; ++c) {
    host(c) = symmetric([&](int i, int j) {
      double sum = i == j ? 1e-6 : 0;
      for (std::size_t k = 0; k < 3; ++k) sum += g[9 * c + 3 * i + k] * g[9 * c + 3 * j + k];
      return (c % 4 == 0 ? 1e3 : 1) * sum;
    });
  }
  Kokkos::deep_copy(blocks, host);
  return blocks;
}

std::vector<double> apply_blocks(const DeviceArray<Sym3*>& blocks, const std::vector<double>& d) {
  const auto k = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), blocks);
  std::vector<double> p(d.size());
  for (std::size_t c = 0; c < d.size() / 3; ++c) {
    for (int i = 0; i < 3; ++i) {
      p[3 * c + i] = 0;
      for (int j = 0; j < 3; ++j) p[3 * c + i] += k(c)(i, j) * d[3 * c + j];
    }
  }
  return p;
}

/// S z by its definition, z + E^T K E z.
std::vector<double> by_definition(const VelocitySystem& system, const DeviceArray<Sym3*>& k,
                                  const std::vector<double>& z) {
  const VectorView d("d", 3 * k.extent(0)), f("f", z.size());
  system.contact_velocities(to_view(z), d);
  system.load(to_view(apply_blocks(k, to_host(ConstVectorView(d)))), f);
  std::vector<double> result = to_host(ConstVectorView(f));
  for (std::size_t i = 0; i < z.size(); ++i) result[i] += z[i];
  return result;
}

ContactProblem test_problem_1() {
  return read_problem(resolve_problem("test-problem-1"));
}

}  // namespace

TEST_CASE("E E^T of the velocity system is the Delassus operator") {
  for (const ContactProblem& host : random_problems()) {
    const Problem problem(host);
    for (const char* ordering : {"graph", "natural"}) {
      const auto system = make_velocity_system(problem, ordering, "block_ic0");
      CHECK(system->size() == static_cast<int>(host.bodies()) * (host.rotates() ? 6 : 3));
      const std::vector<double> gamma = random_vector(3 * host.contacts(), 7);
      const std::vector<double> u = multiply(dense_delassus(host), gamma);
      const VectorView f("f", system->size()), d("d", gamma.size());
      system->load(to_view(reordered(*system, world_axes(host, gamma))), f);
      system->contact_velocities(f, d);
      const std::vector<double> expected = reordered(*system, world_axes(host, u));
      CHECK(relative_difference(to_host(ConstVectorView(d)), expected) < 1e-13);
    }
  }
}

TEST_CASE("S on the body graph is 1 + E^T K E, as a product and for a direct solver") {
  for (const ContactProblem& host : random_problems()) {
    const Problem problem(host);
    const auto system = make_velocity_system(problem, "graph", "block_ic0");
    const auto k = random_blocks(host.contacts(), 3);
    system->assemble(k);
    const std::vector<double> z = random_vector(system->size(), 11);
    const std::vector<double> expected = by_definition(*system, k, z);
    CHECK(relative_difference(product_of(*system->matrix(), z), expected) < 1e-13);

    std::vector<std::int64_t> offsets;
    std::vector<int> rows;
    std::vector<double> values;
    system->lower_pattern(offsets, rows);
    system->lower_values(values);
    REQUIRE(values.size() == rows.size());
    CHECK(download(system->device_lower_values()) == values);  // where they are left on the device
    SparseCholesky cholesky(offsets, rows);
    REQUIRE(cholesky.factorize(values.data()));
    std::vector<double> solved(z.size());
    cholesky.solve(expected.data(), solved.data());
    CHECK(relative_difference(solved, z) < 1e-9);
  }
}

TEST_CASE("block incomplete Cholesky is exact where there is no fill") {
  // A chain of bodies on the ground fills nothing, whatever the order.
  for (const bool rotates : {false, true}) {
    ContactProblem host = random_problem({6, 6, rotates, false, 5});
    for (std::int32_t c = 0; c < 6; ++c) {
      host.contact_bodies[2 * c] = c - 1;
      host.contact_bodies[2 * c + 1] = c;
    }
    const Problem problem(host);
    for (const char* ordering : {"graph", "natural"}) {
      const auto system = make_velocity_system(problem, ordering, "block_ic0");
      system->assemble(random_blocks(host.contacts(), 4));
      CHECK(system->precondition().restarts == 0);
      const std::vector<double> z = random_vector(system->size(), 12);
      const std::vector<double> b = product_of(*system->matrix(), z);
      CHECK(relative_difference(product_of(*system->preconditioner(), b), z) < 1e-9);
    }
  }
}

TEST_CASE(
    "block incomplete Cholesky agrees with S on its pattern, and block Jacobi on the diagonal") {
  const ContactProblem host = random_pile(60, 180, 3);
  const Problem problem(host);
  for (const std::string preconditioner : {"block_ic0", "block_ic1", "block_jacobi"}) {
    const auto system = make_velocity_system(problem, "auto", preconditioner);
    system->assemble(random_blocks(host.contacts(), 6));
    REQUIRE(system->precondition().restarts == 0);
    // Columns of (L L^T)^-1, inverted by the dense Cholesky factorisation of a full pattern.
    const int n = system->size();
    std::vector<std::int64_t> offsets{0};
    std::vector<int> rows;
    std::vector<double> values;
    for (int j = 0; j < n; ++j) {
      std::vector<double> unit(n, 0.0);
      unit[j] = 1;
      const std::vector<double> column = product_of(*system->preconditioner(), unit);
      for (int i = j; i < n; ++i) {
        rows.push_back(i);
        values.push_back(column[i]);
      }
      offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
    SparseCholesky inverse(offsets, rows);
    REQUIRE(inverse.factorize(values.data()));
    double largest = 0, difference = 0;
    for (int j = 0; j < n; ++j) {
      std::vector<double> unit(n, 0.0), product(n);
      unit[j] = 1;
      inverse.solve(unit.data(), product.data());
      const std::vector<double> exact = product_of(*system->matrix(), unit);
      for (int i = 0; i < n; ++i) {
        const bool in_pattern = preconditioner == "block_jacobi" ? i / 3 == j / 3 : exact[i] != 0;
        if (!in_pattern) continue;
        largest = std::max(largest, std::abs(exact[i]));
        difference = std::max(difference, std::abs(exact[i] - product[i]));
      }
    }
    CHECK(difference < 1e-7 * largest);
  }
}

TEST_CASE("vipm with every linear solver, preconditioner and ordering") {
  std::vector<ContactProblem> problems = {make_scene("stack"), make_scene("mixed-friction-stack"),
                                          make_scene("hyperstatic-table")};
  for (ContactProblem& host : random_problems()) {
    make_feasible(host, 8);
    problems.push_back(host);
  }
  for (const ContactProblem& host : problems) {
    for (const char* options : {"linear_solver=cg", "linear_solver=cg,preconditioner=block_jacobi",
                                "linear_solver=cholesky", "ordering=graph",
                                "ordering=natural,linear_solver=cg", "refinements=0"}) {
      const Solved solved =
          solve_until(host, std::string("vipm[") + options + "]", Measure::residual, 1e-8);
      INFO(host.name << " " << options << ": " << to_string(solved.info.status) << " "
                     << solved.info.message << " after " << solved.info.counters.outer);
      CHECK(solved.measures[Measure::residual] <= 1e-8);
      CHECK(solved.info.counters.outer <= 40);
    }
  }
}

TEST_CASE("centrality: a correction takes the products of both sides into the band") {
  using namespace ccp::vipm;
  const Vec3 n{2.0 / 7, 3.0 / 7, 6.0 / 7};
  const Band band{0.3, 3};
  int changed = 0, far = 0;
  for (int k = 0; k < 200; ++k) {
    const std::vector<double> v = random_vector(12, 100 + k);
    const auto inside = [&](int i) {
      const Vec3 value{v[i], v[i + 1], v[i + 2]};
      const Split s = split(value, n);
      return s.t + (1.01 * s.size + 0.1) * n;
    };
    const Vec3 x = inside(0), y = inside(3), dx{v[6], v[7], v[8]}, dy{v[9], v[10], v[11]};
    const double theta = 0.8;
    // W = P(w)^1/2 with P(w) x = y, from w's eigenvalues.
    const jordan::ScalingPoint w = jordan::nt_scaling(x, y, n);
    const Split s = split(w.w, n);
    const double high = std::sqrt((s.n + s.size) / jordan::sqrt2),
                 low = std::sqrt((s.n - s.size) / jordan::sqrt2);
    const Vec3 root =
        ((high + low) / jordan::sqrt2) * n + ((high - low) / (jordan::sqrt2 * s.size)) * s.t;
    const auto scaled = [&](const Vec3& value) {
      return jordan::quadratic(root, high * low, value, n);
    };
    const auto unscaled = [&](const Vec3& value) {
      return jordan::quadratic(jordan::inverse(root, n), 1 / (high * low), value, n);
    };
    REQUIRE(norm(scaled(scaled(x)) - y) < 1e-12 * norm(y));
    const Vec3 product =
        jordan::sqrt2 * jordan::product(scaled(x + theta * dx), unscaled(y + theta * dy), n);
    const Vec3 h = centrality(make_scaling(x, y, n), x, dx, dy, jordan::det(x, n),
                              jordan::det(y, n), theta, band);
    const Vec3 change = jordan::sqrt2 * jordan::product(scaled(x), scaled(h), n);
    const Split before = split(product, n), after = split(product + change, n);
    // The change has the frame of the product, so that eigenvalues keep their places.
    const double tangent = dot(after.t, before.t) / before.size;
    const double was[] = {before.n - before.size, before.n + before.size};
    const double is[] = {after.n - tangent, after.n + tangent};
    for (int e = 0; e < 2; ++e) {
      const double wanted = std::clamp(was[e], band.low, band.high);
      const double expected = std::max(wanted, was[e] - band.high);
      CHECK(std::abs(is[e] - expected) < 1e-9 * (1 + std::abs(was[e])));
      changed += wanted != was[e] ? 1 : 0;
      far += expected != wanted ? 1 : 0;
    }
  }
  CHECK(changed > 100);
  CHECK(changed < 400);
  CHECK(far > 0);
}

TEST_CASE("vipm: centrality corrections save steps where there is a factor to reuse") {
  const ContactProblem host = test_problem_1();
  const auto solve = [&](const ContactProblem& problem, const std::string& corrections) {
    return solve_until(problem, "vipm[linear_solver=cholesky,corrections=" + corrections + "]",
                       Measure::residual, 1e-8);
  };
  const Solved without = solve(host, "0"), with = solve(host, "2");
  CHECK(without.measures[Measure::residual] <= 1e-8);
  CHECK(with.measures[Measure::residual] <= 1e-8);
  CHECK(with.info.counters.outer < without.info.counters.outer);
  CHECK(with.info.counters.outer <= 18);
  // Small problems take none: their steps are those of before, and of batches. Nor do problems of
  // which only N is known.
  for (const ContactProblem& other :
       {random_pile(40, 100, 1), assembled_form(random_pile(60, 150, 1))}) {
    CHECK((solve(other, "0").gamma == solve(other, "2").gamma));
  }
}

TEST_CASE("vipm on Test Problem 1: outer iterations and accuracy") {
  const ContactProblem host = test_problem_1();
  const Solved direct = solve_until(host, "vipm[linear_solver=cholesky]", Measure::residual, 1e-9);
  CHECK(direct.measures[Measure::residual] <= 1e-9);
  CHECK(direct.measures[Measure::error] <= 1e-9);
  CHECK(direct.info.counters.outer <= 25);
  CHECK(direct.info.counters.factorizations == direct.info.counters.outer);

  const Solved iterative = solve_until(host, "vipm[linear_solver=cg]", Measure::error, 5e-4);
  CHECK(iterative.measures[Measure::error] <= 5e-4);
  CHECK(iterative.info.counters.outer <= 10);
  CHECK(iterative.info.counters.krylov <= 200);
  CHECK(iterative.info.counters.factorizations == 0);

  const Solved jacobi =
      solve_until(host, "vipm[linear_solver=cg,preconditioner=block_jacobi]", Measure::error, 5e-4);
  CHECK(jacobi.info.counters.krylov > 2 * iterative.info.counters.krylov);
}

namespace {

/// Blocks between 1e-6 and 1e6, as near a solution.
DeviceArray<Sym3*> spread_blocks(std::size_t n) {
  const DeviceArray<Sym3*> blocks("blocks", n);
  const auto host = Kokkos::create_mirror_view(blocks);
  const std::vector<double> exponent = random_vector(n, 11);
  for (std::size_t c = 0; c < n; ++c) {
    const double size = std::pow(10, 6 * std::clamp(exponent[c], -1.0, 1.0));
    host(c) = {size, 0, 0, 0.1 * size, 0, 0.01 * size};
  }
  Kokkos::deep_copy(blocks, host);
  return blocks;
}

/// What a solve with S to a speed of 1e-6 m/s took.
Info solve_thinned(const ContactProblem& host, double thinning, double& error) {
  const Problem problem(host);
  const auto system = make_velocity_system(problem, "auto", "auto");
  system->assemble(spread_blocks(host.contacts()));
  Info info;
  IterationLimit limit(1);
  VelocitySolver::Options options;
  options.method = "cholesky";
  options.thinning = thinning;
  VelocitySolver linear(options, *system, limit, info);
  linear.matrix_changed();
  const auto b = Teuchos::rcp(new Vector(system->map(), 1)),
             x = Teuchos::rcp(new Vector(system->map(), 1)),
             product = Teuchos::rcp(new Vector(system->map(), 1));
  upload_to(overwrite_view(*b), random_vector(system->size(), 5));
  REQUIRE(linear.solve(b, x, 1e-6) == VelocitySolver::Outcome::solved);
  system->matrix()->apply(*x, *product);
  product->update(1, *b, -1);
  error = system->speed(read_view(*product));
  return info;
}

}  // namespace

TEST_CASE("a thinned factor preconditions: the whole of S is solved for, in few iterations") {
  const ContactProblem host = test_problem_1();
  double whole_error = 0, thin_error = 0, thinner_error = 0;
  const Info whole = solve_thinned(host, 0, whole_error),
             thin = solve_thinned(host, 0.1, thin_error),
             thinner = solve_thinned(host, 10, thinner_error);
  for (const double error : {whole_error, thin_error, thinner_error}) CHECK(error <= 2e-6);
  CHECK(whole.counters.krylov == 0);
  CHECK(thin.counters.krylov >= 1);
  CHECK(thin.counters.krylov <= 10);
  CHECK(thinner.counters.krylov > thin.counters.krylov);
  for (const Info& info : {whole, thin, thinner}) {
    CHECK(info.counters.factorizations == 1);
    // S to the host, and vectors there and back.
    CHECK(info.timers.at("transfer") > 0);
    CHECK(info.timers.at("transfer") <
          info.timers.at("factorization") + info.timers.at("direct_solve"));
  }
}

TEST_CASE("blocks below the diagonal that are not kept leave the factored triangle") {
  const ContactProblem host = test_problem_1();
  const Problem problem(host);
  const auto system = make_velocity_system(problem, "auto", "auto");
  system->assemble(spread_blocks(host.contacts()));
  std::vector<std::int64_t> offsets, kept_offsets;
  std::vector<int> rows, kept_rows;
  std::vector<double> values, kept_values;
  system->lower_pattern(offsets, rows);
  system->lower_values(values);
  const std::vector<double> norms = system->block_norms();
  std::vector<char> kept;
  for (const double norm : norms) kept.push_back(norm >= 0.1 ? 1 : 0);
  system->keep_blocks(kept);
  system->lower_pattern(kept_offsets, kept_rows);
  system->lower_values(kept_values);
  CHECK(kept_values.size() == kept_rows.size());
  // Column by column the kept entries are those of the whole, in its order; blocks are numbered as
  // their columns list them.
  const std::size_t block_columns = host.bodies();
  std::size_t number = 0;
  bool same = true;
  for (std::size_t j = 0; j < block_columns; ++j) {
    const std::size_t blocks =
        static_cast<std::size_t>(offsets[3 * j + 1] - offsets[3 * j]) / 3 - 1;
    for (std::size_t q = 0; q < 3; ++q) {
      auto next = static_cast<std::size_t>(kept_offsets[3 * j + q]);
      for (auto k = static_cast<std::size_t>(offsets[3 * j + q]),
                end = static_cast<std::size_t>(offsets[3 * j + q + 1]);
           k < end; ++k) {
        const std::size_t entry = k - static_cast<std::size_t>(offsets[3 * j + q]);
        if (entry >= 3 - q && kept[number + (entry - (3 - q)) / 3] == 0) continue;
        same = same && kept_rows.at(next) == rows[k] && kept_values.at(next) == values[k];
        ++next;
      }
      same = same && next == static_cast<std::size_t>(kept_offsets[3 * j + q + 1]);
    }
    number += blocks;
  }
  CHECK(number == norms.size());
  CHECK(same);
  CHECK(kept_rows.size() < rows.size());
  system->keep_blocks({});
  system->lower_pattern(kept_offsets, kept_rows);
  CHECK(kept_rows == rows);
}

TEST_CASE("vipm with a thinned factor takes the same steps") {
  const ContactProblem host = test_problem_1();
  const Solved thin = solve_until(host, "vipm[flop_rate=1e6]", Measure::residual, 1e-9);
  const Solved whole = solve_until(host, "vipm[flop_rate=1e6,thinning=0]", Measure::residual, 1e-9);
  CHECK(thin.measures[Measure::residual] <= 1e-9);
  CHECK(thin.info.counters.factorizations > 5);
  CHECK(std::abs(thin.info.counters.outer - whole.info.counters.outer) <= 1);
  const Solved last =
      solve_until(host, "vipm[tolerance=0,flop_rate=1e6]", Measure::residual, 1e-12);
  CHECK(last.measures[Measure::residual] <= 1e-12);
}

namespace {

/// Ends after some outer iterations. Every question whether time is up takes a while: a machine
/// whose conjugate gradients are slow, and whose factorisations are not.
class SlowIterations : public IterationLimit {
 public:
  SlowIterations(long outer, std::chrono::microseconds pause)
      : IterationLimit(outer), pause_(pause) {}
  bool out_of_time() override {
    std::this_thread::sleep_for(pause_);
    return false;
  }

 private:
  std::chrono::microseconds pause_;
};

Solved solve_slowly(const ContactProblem& host, const std::string& spec, int pause) {
  SlowIterations limit(16, std::chrono::microseconds(pause));
  return solve_once(host, spec, limit);
}

}  // namespace

TEST_CASE("the change from cg to Cholesky does not depend on the clock") {
  const ContactProblem host = test_problem_1();
  for (const std::string id : {"vipm", "ssn"}) {
    const Solved fast = solve_slowly(host, id, 0), slow = solve_slowly(host, id, 5000);
    INFO(id);
    CHECK((fast.gamma == slow.gamma));
    CHECK(fast.info.counters.krylov == slow.info.counters.krylov);
    CHECK(fast.info.counters.factorizations == slow.info.counters.factorizations);
  }
}

TEST_CASE("vipm starts warm") {
  const ContactProblem host = test_problem_1();
  const char* const spec = "vipm[linear_solver=cholesky]";
  const Solved cold = solve_until(host, spec, Measure::residual, 1e-6);
  const Solved rough = solve_until(host, spec, Measure::residual, 1e-4);
  const Solved warm = solve_until(host, spec, Measure::residual, 1e-6, rough.gamma);
  CHECK(warm.measures[Measure::residual] <= 1e-6);
  CHECK(2 * warm.info.counters.outer < cold.info.counters.outer);
}

TEST_CASE("vipm gives up with a reason and keeps the best it had") {
  const ContactProblem host = test_problem_1();
  const Solved capped =
      solve_until(host, "vipm[linear_solver=cg,cg_max_iterations=40]", Measure::residual, 1e-8);
  CHECK(capped.info.status == Status::stagnated);
  CHECK(capped.info.message.find("cg_max_iterations") != std::string::npos);
  CHECK(capped.measures[Measure::error] <= 0.1);

  const ContactProblem stack = assembled_form(make_scene("stack"));
  const Problem assembled(stack);
  const auto by_cg = make_solver(SolverSpec::parse("vipm[linear_solver=cg]"));
  check_parts(error_of([&] { by_cg->setup(assembled); }), {"linear_solver", "only N is known"});

  ContactProblem weightless = make_scene("stack");
  weightless.gravity = {};
  const Problem problem(weightless);
  const auto solver = make_solver(SolverSpec::parse("vipm[ordering=gravity]"));
  check_parts(error_of([&] { solver->setup(problem); }), {"ordering=gravity", "gravity"});
}

TEST_CASE("vipm refuses options that contradict each other") {
  const auto refused = [](const std::string& spec) {
    return error_of([&] { make_solver(SolverSpec::parse(spec)); });
  };
  check_parts(refused("vipm[linear_solver=cholesky,preconditioner=block_ic0]"),
              {"preconditioner", "only with conjugate gradients", "linear_solver=cholesky"});
  check_parts(refused("vipm[linear_solver=cg,refinements=2]"), {"refinements", "factorisation"});
}

TEST_CASE("vipm with a mass ratio of 1000") {
  ContactProblem host = test_problem_1();
  for (std::size_t i = 0; i < host.bodies(); i += 50) host.inverse_mass[i] /= 1000;
  const Solved solved = solve_until(host, "vipm", Measure::residual, 1e-8);
  CHECK(solved.measures[Measure::residual] <= 1e-8);
  CHECK(solved.info.counters.outer <= 40);
}

// ---- problems of which only N is known ----------------------------------------------------------

TEST_CASE("vipm: by N alone, S is 1 + N K and is factored by way of 1 + L^T N L") {
  for (const ContactProblem& bodies : random_problems()) {
    const ContactProblem host = assembled_form(bodies);
    const Problem problem(host);
    const auto system = make_velocity_system(problem, "auto", "auto");
    CHECK_FALSE(system->iterative());
    const std::size_t size = 3 * host.contacts();
    REQUIRE(system->size() == static_cast<int>(size));

    const std::vector<double> p = random_vector(size, 5);
    const VectorView f("f", size), d("d", size);
    system->load(to_view(p), f);
    system->contact_velocities(f, d);
    const std::vector<double> speeds = to_host(ConstVectorView(d));
    CHECK(relative_difference(speeds, multiply(dense_delassus(bodies), p)) < 1e-12);
    double fastest = 0;
    for (std::size_t c = 0; c < host.contacts(); ++c) {
      fastest = std::max(fastest, std::hypot(speeds[3 * c], speeds[3 * c + 1], speeds[3 * c + 2]));
    }
    CHECK(std::abs(system->speed(f) - fastest) < 1e-12 * fastest);

    const auto k = random_blocks(host.contacts(), 7);
    system->assemble(k);
    std::vector<std::int64_t> offsets;
    std::vector<int> rows;
    std::vector<double> values;
    system->lower_pattern(offsets, rows);
    system->lower_values(values);
    REQUIRE(values.size() == rows.size());
    CHECK(download(system->device_lower_values()) == values);  // where they are left on the device
    SparseCholesky cholesky(offsets, rows);
    REQUIRE(cholesky.factorize(values.data()));
    const std::vector<double> z = random_vector(size, 8);
    const std::vector<double> b = by_definition(*system, k, z);
    const VectorView x("x", size);
    system->to_factored(to_view(b), x);
    std::vector<double> y = to_host(ConstVectorView(x));
    cholesky.solve(y.data(), y.data());
    Kokkos::deep_copy(x, to_view(y));
    system->from_factored(to_view(b), x);
    CHECK(relative_difference(to_host(ConstVectorView(x)), z) < 1e-9);
  }
}

TEST_CASE("vipm: what is factored of an assembled N is as sparse as N") {
  const ContactProblem host = separate(800);
  const Problem problem(host);
  std::vector<std::int64_t> offsets;
  std::vector<int> rows;
  make_velocity_system(problem, "auto", "auto")->lower_pattern(offsets, rows);
  CHECK(rows.size() == 6 * 800);
  const Solved solved = solve_until(host, "vipm", Measure::residual, 1e-8);
  CHECK(solved.measures[Measure::residual] <= 1e-8);
  CHECK(solved.info.counters.outer <= 12);
}

TEST_CASE("vipm solves a planar wall from its banded N") {
  for (const ContactProblem& wall : {planar_wall(40, 5), planar_wall(70, 15)}) {
    const Solved solved = solve_until(wall, "vipm", Measure::residual, 1e-8);
    CHECK(solved.measures[Measure::residual] <= 1e-8);
  }
}

// Impulses of 1e5 q/s hold each other along the chain: of a sum of such products double precision
// leaves 1e-8.
TEST_CASE("vipm ends where only rounding is left, and says so") {
  const ContactProblem chain = planar_wall(2500, 1);
  const Solved solved = solve_once(chain, "vipm[tolerance=1e-12]");
  const Problem problem(chain);
  const double rounding = rounding_of_complementarity(problem, *to_vector(solved.gamma));
  INFO(to_string(solved.info.status) << " " << solved.info.message << ", rounding " << rounding);
  CHECK(solved.info.status == Status::stagnated);
  CHECK(solved.info.message.find("rounding alone is") != std::string::npos);
  CHECK(solved.info.counters.outer <= 60);
  CHECK(rounding > 1e-9);
  CHECK(rounding < 1e-6);
  CHECK(solved.measures[Measure::residual] <= 10 * rounding);
}

TEST_CASE("what conjugate gradients leave vanishes where bodies separate, too") {
  ContactProblem parting = random_pile(150, 500, 3);  // 450 unknowns
  for (std::size_t c = 0; c < parting.contacts(); ++c) {
    parting.r[3 * c] = std::abs(parting.r[3 * c]) + std::abs(parting.r[3 * c + 1]) +
                       std::abs(parting.r[3 * c + 2]);
  }
  for (const ContactProblem& problem : {make_scene("separating-spheres"), parting}) {
    for (const char* const spec :
         {"vipm[linear_solver=cg]", "vipm[linear_solver=cg,preconditioner=block_jacobi]"}) {
      const Solved solved = solve_once(problem, spec);
      INFO(spec << " " << to_string(solved.info.status) << " " << solved.info.message << " "
                << solved.info.own_residual);
      CHECK(solved.info.status == Status::converged);
      CHECK(solved.measures[Measure::residual] <= 1e-9);
    }
  }
}

TEST_CASE("vipm solves every scene from its N alone") {
  for (const HandScene& scene : hand_scenes()) {
    INFO(scene.name);
    const ContactProblem bodies = make_scene(scene.name);
    const bool assembled = bodies.form == ContactProblem::Form::assembled;
    const Solved solved =
        solve_until(assembled ? bodies : assembled_form(bodies), "vipm", Measure::residual, 1e-9);
    CHECK(solved.measures[Measure::residual] <= 1e-9);
  }
}

// Masses, lengths and times in other units: N times a, r times b.
TEST_CASE("vipm: units do not matter") {
  ContactProblem host = assembled_form(random_pile(60, 200, 1));
  const Solved first = solve_until(host, "vipm", Measure::residual, 1e-9);
  CHECK(first.measures[Measure::residual] <= 1e-9);
  for (const double a : {1e-5, 1e5}) {
    for (const double b : {1e-5, 1e5}) {
      ContactProblem other = host;
      for (double& value : other.delassus.blocks) value *= a;
      for (double& value : other.r) value *= b;
      const Solved solved = solve_until(other, "vipm", Measure::residual, 1e-9);
      CHECK(solved.measures[Measure::residual] <= 1e-9);
      CHECK(std::abs(solved.info.counters.outer - first.info.counters.outer) <= 1);
      const Solved by_ipm = solve_until(other, "ipm[krylov=cholmod,units=problem,start=100]",
                                        Measure::residual, 1e-7);
      CHECK(by_ipm.measures[Measure::residual] <= 1e-7);
    }
  }
}

TEST_CASE("vipm and mass ratios up to 1e8") {
  for (const double ratio : {1e4, 1e8}) {
    for (const bool assembled : {false, true}) {
      const ContactProblem bodies = mass_ratio(ratio);
      const ContactProblem given = assembled ? assembled_form(bodies) : bodies;
      const Solved solved = solve_until(given, "vipm", Measure::residual, 1e-6);
      // The rounding of N gamma alone may be more complementarity than that.
      const Problem problem(given);
      const double rounding = rounding_of_complementarity(problem, *to_vector(solved.gamma));
      INFO(ratio << " " << assembled << ": " << to_string(solved.info.status) << " "
                 << solved.info.message << ", rounding " << rounding);
      CHECK(solved.measures[Measure::residual] <= std::max(1e-6, assembled ? 10 * rounding : 0));
    }
  }
}

TEST_CASE("vipm solves the N that it was given, rounding and all") {
  const Solved solved = solve_until(rounded_box(), "vipm", Measure::residual, 1e-8);
  CHECK(solved.measures[Measure::residual] <= 1e-8);
  // To the end: the claim is about the same N.
  const Solved alone = solve_once(rounded_box(), "vipm");
  CHECK(alone.info.status == Status::converged);
  CHECK(alone.measures[Measure::residual] <= 1e-9);
}

// A cubic lattice of 20 x 20 x 20 bodies, each of which touches the next along every axis, in
// layers that are not quite level.
TEST_CASE("no body passes a neighbour in the order of elimination, and most neighbours are near") {
  constexpr int side = 20, step[3] = {1, side, side * side}, m = side * side * side;
  ContactProblem lattice;
  lattice.gravity = {0, 0, -9.81};
  lattice.inverse_mass.assign(m, 1.0);
  for (int i = 0; i < m; ++i) {
    for (int k = 0; k < 3; ++k) {
      const int at = i / step[k] % side;
      lattice.position.push_back(k == 2 ? at + 0.7 * std::fmod(0.618 * i, 1.0) : at);
      if (at + 1 == side) continue;
      lattice.contact_bodies.push_back(i);
      lattice.contact_bodies.push_back(i + step[k]);
    }
  }
  const auto height = [&](int i) { return lattice.position[3 * i + 2]; };
  std::vector<int> by_height(m), place(m);
  std::iota(by_height.begin(), by_height.end(), 0);
  std::sort(by_height.begin(), by_height.end(),
            [&](int a, int b) { return height(a) > height(b); });
  for (int k = 0; k < m; ++k) place[by_height[k]] = k;
  for (const bool fill : {false, true}) {
    const BodyOrder order = order_bodies(lattice, "gravity", fill);
    int near = 0, near_by_height = 0;
    for (std::size_t k = 0; k < lattice.contact_bodies.size(); k += 2) {
      const int a = lattice.contact_bodies[k], b = lattice.contact_bodies[k + 1];
      REQUIRE((order.position[a] < order.position[b]) == (height(a) > height(b)));
      if (std::abs(order.position[a] - order.position[b]) < 40) ++near;
      if (std::abs(place[a] - place[b]) < 40) ++near_by_height;
    }
    if (ExecSpace().concurrency() == 1) CHECK(near > 4 * near_by_height);
  }
}

TEST_CASE("a body with thousands of contacts is eliminated last, and its fill stays linear") {
  const ContactProblem problem = plate(500);
  for (const bool fill : {false, true}) {
    for (const char* ordering : {"graph", "natural"}) {
      const BodyOrder order = order_bodies(problem, ordering, fill);
      CHECK(order.body.back() == 0);  // the plate
    }
  }
  // Where a hub comes first all the same, nothing is joined.
  std::vector<std::pair<int, int>> star;
  for (int i = 1; i <= 500; ++i) star.emplace_back(i, 0);
  CHECK(with_fill(lower_rows(501, star)).column.size() == 500);
  const Solved solved = solve_until(problem, "vipm", Measure::residual, 1e-8);
  CHECK(solved.measures[Measure::residual] <= 1e-8);
}

TEST_CASE("vipm at its defaults reaches a stop on every scene made by hand") {
  for (const HandScene& scene : hand_scenes()) {
    const ContactProblem problem = make_scene(scene.name);
    if (problem.contacts() == 0) continue;
    INFO(scene.name);
    CHECK(solve_until(problem, "vipm", Measure::residual, 1e-6).measures[Measure::residual] <=
          1e-6);
  }
}

TEST_CASE("vipm hands back the best iterate that it had") {
  /// Keeps every own residual and iterate.
  struct Listener : Observer {
    std::vector<double> residuals;
    std::vector<std::vector<double>> iterates;
    Vector last;
    explicit Listener(const Problem& problem) : last(problem.map(), 1) {}
    bool observe(const Progress& progress, const std::function<void(Vector&)>& write) override {
      write(last);
      residuals.push_back(progress.own_residual);
      iterates.push_back(to_host(last));
      return false;
    }
  };
  // Exact steps to the end of what double precision has, and inexact ones with a mass ratio of 1e6.
  struct Trial {
    ContactProblem problem;
    const char* spec;
  };
  std::vector<Trial> trials;
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    trials.push_back(
        {random_pile(60, 150, seed), "vipm[linear_solver=cholesky,tolerance=0,max_outer=60]"});
  }
  trials.push_back({make_scene("mass-ratio-stack"),
                    "vipm[linear_solver=cg,preconditioner=block_jacobi,tolerance=0,max_outer=4]"});
  int worse = 0;  // problems of which the last iterate is not the best
  for (const Trial& trial : trials) {
    const Problem problem(trial.problem);
    const auto solver = make_solver(SolverSpec::parse(trial.spec));
    solver->setup(problem);
    Vector gamma(problem.map(), 1);
    Listener listener(problem);
    const Info info = solver->solve(gamma, listener);
    const auto best = std::min_element(listener.residuals.begin(), listener.residuals.end());
    CHECK(info.own_residual == *best);
    const auto at = static_cast<std::size_t>(best - listener.residuals.begin());
    CHECK(relative_difference(to_host(gamma), listener.iterates[at]) < 1e-9);
    worse += at + 1 < listener.residuals.size();
  }
  CHECK(worse > 0);
}
