// The splitting method: its linear algebra against dense definitions, a scene by hand, and what it
// needs on a frozen pile.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/admm/shifted_delassus.hpp"
#include "solvers/registry.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

TEST_CASE("N (N + D)^-1 D by one factorisation, in both forms") {
  for (const ContactProblem& bodies :
       {random_problem({5, 12, true, true, 1}), random_problem({5, 12, false, true, 2})}) {
    for (const ContactProblem& host : {bodies, assembled_form(bodies)}) {
      const Problem problem(host);
      const auto matrix = ShiftedDelassus::make(problem);
      Info info;
      NullObserver nobody;
      matrix->begin(nobody, info);
      const int n = static_cast<int>(host.contacts());
      const auto order =
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matrix->contact_order());
      const std::vector<double> dense = dense_delassus(bodies), x = random_vector(3 * n, 3);
      for (const double size : {0.01, 1.0, 50.0}) {
        // With x chosen, q = x + D^-1 N x must give N x.
        const DeviceArray<double*> rho("rho", n);
        const auto rho_host = Kokkos::create_mirror_view(rho);
        for (int c = 0; c < n; ++c) rho_host(c) = size * (1 + 0.1 * order(c));
        Kokkos::deep_copy(rho, rho_host);
        const std::vector<double> product = multiply(dense, x);
        std::vector<double> q = x;
        for (int i = 0; i < 3 * n; ++i) {
          const int contact = i / 3;
          q[i] += product[i] / (size * (1 + 0.1 * contact));
        }
        const auto own = [&](const std::vector<double>& contact) {
          const std::vector<double> world = world_axes(host, contact);
          std::vector<double> result(world.size());
          for (int c = 0; c < n; ++c) {
            for (int k = 0; k < 3; ++k) result[3 * c + k] = world[3 * order(c) + k];
          }
          return result;
        };
        REQUIRE(matrix->factorize({rho, {}, {}, {}, n}));
        const VectorView d("d", 3 * n);
        matrix->product(to_view(own(q)), d);
        CHECK(relative_difference(to_host(ConstVectorView(d)), own(product)) < 1e-10);
      }
      CHECK(info.counters.factorizations == 3);
    }
  }
}

//      [2 kg] -> 1 m/s      mu = 0.5; by hand (problems/README.md): gamma = (0.96, -0.48, 0) N s
//   -------------------
TEST_CASE("admm: sliding block") {
  const ContactProblem scene = make_scene("sliding-block");
  const Solved solved = solve_once(scene, "admm");
  CHECK(solved.info.status == Status::converged);
  CHECK(relative_difference(solved.gamma, {0.96, -0.48, 0}) < 1e-11);
}

TEST_CASE("admm on the frozen pile: few factorisations, impulses in the cones, a warm start") {
  const ContactProblem pile = read_problem(resolve_problem("test-problem-1"));
  const Solved cold = solve_until(pile, "admm", Measure::error, 1e-4);
  INFO(cold.info.counters.outer << " iterations, " << cold.info.counters.factorizations
                                << " factorisations");
  CHECK(cold.info.status == Status::stopped_by_observer);
  CHECK(cold.info.counters.outer <= 800);
  CHECK(cold.info.counters.factorizations <= 8);
  CHECK(cold.measures[Measure::primal] < 1e-12);

  REQUIRE(pile.reference);
  std::vector<double> guess = pile.reference->gamma;
  for (double& g : guess) g *= 0.999;
  const Solved warm = solve_until(pile, "admm", Measure::error, 1e-4, guess);
  INFO(warm.info.counters.outer << " iterations from 0.999 of the reference");
  CHECK(warm.info.status == Status::stopped_by_observer);
  CHECK(warm.info.counters.outer < cold.info.counters.outer / 2);
}

TEST_CASE("admm takes compliant contacts, in both forms, beside rolling resistance or not") {
  ContactProblem p = random_problem({6, 14, true, true, 41});
  p.compliance = random_vector(2 * p.contacts(), 42);
  for (double& c : p.compliance) c = std::abs(c) + 0.01;  // there is a solution, and one only
  p.validate("x");
  std::vector<double> impulses;
  for (const ContactProblem& form : {p, assembled_form(p)}) {
    for (const char* spec : {"vipm", "admm", "admm[rho=1,max_refactorizations=0]"}) {
      INFO(spec);
      const Solved solved = solve_until(form, spec, Measure::residual, 1e-11);
      CHECK(solved.measures[Measure::residual] <= 1e-10);
      if (impulses.empty()) impulses = solved.gamma;
      CHECK(relative_difference(solved.gamma, impulses) < 1e-4);
    }
  }
  const Solved cold = solve_once(p, "admm");
  CHECK(cold.info.status == Status::converged);
  NullObserver nobody;
  const Solved warm = solve_once(p, "admm", nobody, cold.gamma);
  CHECK(warm.info.counters.outer < cold.info.counters.outer / 4);
  CHECK(warm.measures[Measure::residual] <= 1e-9);

  p.rolling.contact = {1, 4};
  p.rolling.rho = {0.1, 0.2};
  p.rolling.r = random_vector(6, 43);
  p.validate("x");
  CHECK(solve_until(p, "admm", Measure::residual, 1e-10).measures[Measure::residual] <= 1e-10);
}
