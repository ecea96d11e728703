// The unconstrained primal of compliant contacts: a block by hand, the derivative of a contact by
// differences, and vipm's answer on frozen problems.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/sap/yielding_contact.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using ccp::sap::YieldingContact;

//      [2 kg] -> 1 m/s      mu = 0.5, r = (-0.1, 1, 0) m/s, N = 1/2; with compliances 1/2 along and
//   -------------------     1 across the normal N + Sigma = diag(1, 1.5). It slides: gamma = g (1,
//                           -1/2), g (1 + 1.5/4) = 0.1 + 0.5, g = 24/55.
TEST_CASE("sap: a sliding block on a compliant contact") {
  ContactProblem scene = make_scene("sliding-block");
  scene.compliance = {0.5, 1};
  for (const char* spec : {"sap", "sap[linear_solver=cholesky]", "sap[linear_solver=cg]"}) {
    const Solved solved = solve_once(scene, spec);
    INFO(spec << " " << solved.info.message);
    CHECK(solved.info.status == Status::converged);
    CHECK(relative_difference(solved.gamma, {24.0 / 55, -12.0 / 55, 0}) < 1e-9);
    CHECK(solved.info.counters.outer <= 5);
  }
}

TEST_CASE("sap: the derivative of a contact's impulse, open, sticking and sliding") {
  const Vec3 normal{0.6, 0, 0.8};
  const Tangents plane = tangents(normal);
  for (const double mu : {0.0, 0.4}) {
    const YieldingContact contact{normal, mu, 0.3, 0.7};
    for (const Vec3& u : {0.5 * normal + 0.1 * plane.s, -0.5 * normal + 0.02 * plane.s,
                          -0.2 * normal + 0.9 * plane.s + 0.4 * plane.t}) {
      const Sym3 k = contact.stiffness(u);
      const double h = 1e-6;
      for (int j = 0; j < 3; ++j) {
        const Vec3 step{j == 0 ? h : 0, j == 1 ? h : 0, j == 2 ? h : 0};
        const Vec3 change = (-0.5 / h) * (contact.impulse(u + step) - contact.impulse(u - step));
        CHECK(std::abs(change.x - k(0, j)) < 1e-7);
        CHECK(std::abs(change.y - k(1, j)) < 1e-7);
        CHECK(std::abs(change.z - k(2, j)) < 1e-7);
      }
      // The derivative of the energy is -gamma.
      const Vec3 direction{0.3, -0.5, 0.8};
      const double slope = (contact.energy(contact.impulse(u + h * direction)) -
                            contact.energy(contact.impulse(u - h * direction))) /
                           (2 * h);
      CHECK(std::abs(slope + dot(contact.impulse(u), direction)) < 1e-8);
    }
  }
}

TEST_CASE("sap finds what vipm finds on compliant problems") {
  ContactProblem random = random_problem({12, 24, true, true, 31});
  make_feasible(random, 5);
  random.compliance.assign(2 * random.contacts(), 0.01);
  for (const ContactProblem& problem : {read_problem(resolve_problem("column-25#1")),
                                        read_problem(resolve_problem("elastic-pile#1")), random}) {
    const Solved sap = solve_once(problem, "sap[linear_solver=cholesky]");
    const Solved vipm = solve_once(problem, "vipm[linear_solver=cholesky]");
    INFO(problem.name << ": " << to_string(sap.info.status) << " " << sap.info.message << ", own "
                      << sap.info.own_residual << ", " << sap.info.counters.outer << " steps");
    CHECK(sap.info.status == Status::converged);
    CHECK(sap.measures[Measure::residual] <= 1.001e-8);
    CHECK(sap.measures[Measure::primal] <= 1e-14);
    CHECK(relative_difference(sap.gamma, vipm.gamma) < 2e-3);
  }
}

TEST_CASE("sap starts from the answer") {
  const ContactProblem pile = read_problem(resolve_problem("elastic-pile#1"));
  const std::string spec = "sap[linear_solver=cholesky]";
  const Solved cold = solve_once(pile, spec);
  NullObserver nobody;
  const Solved warm = solve_once(pile, spec, nobody, cold.gamma);
  CHECK(warm.info.status == Status::converged);
  CHECK(warm.info.counters.outer < cold.info.counters.outer);
  CHECK(cold.info.counters.outer > 3);
}

TEST_CASE("sap names the rigid contact that it does not take") {
  ContactProblem stack = make_scene("stack");
  CHECK(why_unsupported(SolverSpec::parse("sap"), stack).find("contact 0 is rigid") == 0);
  stack.compliance.assign(2 * stack.contacts(), 0.1);
  CHECK(supports(SolverSpec::parse("sap"), stack));
  stack.compliance[3] = 0;
  CHECK(why_unsupported(SolverSpec::parse("sap"), stack).find("contact 1 is rigid") == 0);
  CHECK(solve_once(stack, "sap").info.status == Status::unsupported);
}
