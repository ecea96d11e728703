// Lemke's method on problems with known answers; contact problems with friction pyramids.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "harness/measure/referee.hpp"
#include "problems/base/pi.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "problems/scenes/planar.hpp"
#include "solvers/lcp/polyhedral.hpp"
#include "solvers/registry.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

Lcp dense_lcp(const std::vector<std::vector<double>>& m, const std::vector<double>& q) {
  Lcp lcp;
  lcp.q = q;
  for (const auto& row : m) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j] == 0) continue;
      lcp.columns.push_back(static_cast<std::int32_t>(j));
      lcp.values.push_back(row[j]);
    }
    lcp.row_offsets.push_back(static_cast<std::int64_t>(lcp.columns.size()));
  }
  return lcp;
}

Lemke::State run(Lemke& lemke, int most = 5000) {
  for (int k = 0; k < most && lemke.state() == Lemke::State::running; ++k) lemke.pivot();
  return lemke.state();
}

struct Outcome {
  Info info;
  std::vector<double> gamma;
  Measures measures;
};

Outcome solve(const ContactProblem& host, const std::string& spec) {
  const Problem problem(host);
  const auto solver = make_solver(SolverSpec::parse(spec));
  solver->setup(problem);
  Vector gamma(problem.map(), 1);
  NullObserver nobody;
  Outcome outcome;
  outcome.info = solver->solve(gamma, nobody);
  outcome.gamma = to_host(gamma);
  outcome.measures = Referee(problem).measure(gamma);
  return outcome;
}

/// Fails the test if it is used.
class NoSteps : public StepSolver {
 public:
  void solve(const ContactProblem&, const StepAccuracy&, std::vector<double>&) override {
    FAIL("no time step was asked for");
  }
};

ContactProblem pyramid(int rows, double mu) {
  PyramidOptions options;
  options.rows = rows;
  options.planar.mu = mu;
  NoSteps none;
  return generate_pyramid(options, none);
}

}  // namespace

TEST_CASE("Lemke: by hand") {
  // w = q, nothing to do.
  const Lcp done = dense_lcp({{1, 0}, {0, 1}}, {1, 0});
  CHECK(Lemke(done).state() == Lemke::State::solved);
  CHECK(Lemke(done).z() == std::vector<double>{0, 0});

  // 2 z1 + z2 = 5, z1 + 2 z2 = 6: both basic, z = (4/3, 7/3).
  const Lcp both = dense_lcp({{2, 1}, {1, 2}}, {-5, -6});
  Lemke lemke(both);
  REQUIRE(run(lemke) == Lemke::State::solved);
  CHECK(relative_difference(lemke.z(), {4.0 / 3, 7.0 / 3}) < 1e-14);
  CHECK(lemke.artificial() == 0);
  CHECK_FALSE(lemke.perturbed());

  // z = 0 leaves w = -1 and no z can raise it.
  const Lcp impossible = dense_lcp({{0, 0}, {0, 1}}, {-1, -1});
  Lemke without(impossible);
  CHECK(run(without) == Lemke::State::ray);
}

TEST_CASE("Lemke: random monotone problems, singular ones among them") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    constexpr std::size_t size = 40, rank = 15;
    const auto a = random_vector(size * rank, seed), s = random_vector(size * size, seed + 100);
    const auto z = random_vector(size, seed + 200), w = random_vector(size, seed + 300);
    std::vector<std::vector<double>> m(size, std::vector<double>(size, 0.0));
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        for (std::size_t k = 0; k < rank; ++k) m[i][j] += a[rank * i + k] * a[rank * j + k];
        if (seed % 2) m[i][j] += s[size * i + j] - s[size * j + i];  // a skew part
      }
    }
    // q such that there is a solution: complementary random z and w.
    std::vector<double> q(size);
    for (std::size_t i = 0; i < size; ++i) {
      q[i] = z[i] > 0 ? 0 : std::abs(w[i]);
      for (std::size_t j = 0; j < size; ++j) q[i] -= m[i][j] * std::max(z[j], 0.0);
    }
    const Lcp lcp = dense_lcp(m, q);
    Lemke lemke(lcp);
    INFO("seed " << seed);
    CHECK(run(lemke) == Lemke::State::solved);
    CHECK(lcp.violation(lemke.z()) < 1e-9);
  }
}

//     5 . . . 6        A plate of 3 kg on six legs (Anitescu slides): legs 1, 3, 5 alone carry it,
//   4     +     1      legs 2, 4, 6 alone do, too. lambda = 1 m/s where nothing is carried is
//     3 . . . 2        allowed by the Coulomb LCP, but no average of the two is.
TEST_CASE("lcp: the solutions of the hexagon are not convex, those of the relaxation are") {
  constexpr double mu = 0.4, weight = 0.3;  // N s: 3 kg * 10 m/s^2 * 0.01 s
  ContactProblem plate;
  plate.inverse_mass = {1.0 / 3};
  plate.inverse_inertia = {2, 0, 0, 0, 2, 0, 0, 0, 1};
  for (int j = 0; j < 6; ++j) {
    const double angle = pi * j / 3;
    plate.contact_bodies.insert(plate.contact_bodies.end(), {-1, 0});
    plate.frame.insert(plate.frame.end(), {0, 0, 1, 1, 0, 0, 0, 1, 0});
    plate.arm_a.insert(plate.arm_a.end(), {0, 0, 0});
    plate.arm_b.insert(plate.arm_b.end(), {std::cos(angle), std::sin(angle), -0.1});
    plate.r.insert(plate.r.end(), {-0.1, 0, 0});
    plate.mu.push_back(mu);
  }
  plate.validate("hexagon");
  constexpr int edges = 4;
  const double scale = Problem(plate).delassus_scale();
  const PolyhedralProblem coulomb(plate, Law::coulomb, edges, scale);
  const PolyhedralProblem relaxed(plate, Law::convex, edges, scale);
  REQUIRE(coulomb.lcp().size() == 6 * (edges + 2));
  const double velocity = coulomb.velocity_scale(), impulse = velocity / scale;
  // The unknowns of a leg are c_n, four beta, lambda.
  const auto solution = [&](int carries, double lambda) {
    std::vector<double> z(coulomb.lcp().size(), 0.0);
    for (int j = 0; j < 6; ++j) {
      const bool loaded = j % 2 == carries;
      z[j * (edges + 2)] = loaded ? weight / 3 / impulse : 0;
      z[j * (edges + 2) + edges + 1] = loaded ? 0 : lambda / velocity;
    }
    return z;
  };
  const auto average = [](std::vector<double> x, const std::vector<double>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = (x[i] + y[i]) / 2;
    return x;
  };
  const auto odd = solution(0, 1), even = solution(1, 1);
  CHECK(coulomb.lcp().violation(odd) < 1e-14);
  CHECK(coulomb.lcp().violation(even) < 1e-14);
  // lambda = 1/2 m/s against zeta = mu weight / 6.
  CHECK(coulomb.lcp().violation(average(odd, even)) ==
        Approx(std::min(0.5 / velocity, mu * weight / 6 / impulse)));
  // The relaxation lifts legs that slip: lambda must be zero, and then averages are solutions.
  CHECK(relaxed.lcp().violation(odd) == Approx(mu / velocity));
  CHECK(relaxed.lcp().violation(solution(0, 0)) < 1e-14);
  CHECK(relaxed.lcp().violation(solution(1, 0)) < 1e-14);
  CHECK(relaxed.lcp().violation(average(solution(0, 0), solution(1, 0))) < 1e-14);
  // And Lemke's method finds one of them.
  for (const char* law : {"coulomb", "convex"}) {
    const Outcome outcome = solve(plate, std::string("lcp[edges=4,law=") + law + "]");
    CHECK(outcome.info.status == Status::converged);
    CHECK(outcome.measures[Measure::residual] < 1e-12);
    double carried = 0;
    for (int j = 0; j < 6; ++j) carried += outcome.gamma[3 * j];
    CHECK(carried == Approx(weight));
  }
}

//      [2 kg] -> 1 m/s      mu = 0.5, N = I/2: the ground carries 0.2 N s, friction takes 0.1 N s.
//   -------------------
TEST_CASE("lcp: the sliding block by the Coulomb law, along a corner and between two") {
  for (const char* edges : {"2", "4", "8", "12"}) {
    const Outcome along =
        solve(make_scene("sliding-block"), std::string("lcp[edges=") + edges + "]");
    CHECK(along.info.status == Status::converged);
    CHECK(relative_difference(along.gamma, {0.2, -0.1, 0}) < 1e-14);
    CHECK(along.measures[Measure::coulomb_residual] < 1e-14);
  }
  // The other way: half an angle off the corners, the polygon is cos(pi/8) of the circle.
  ContactProblem turned = make_scene("sliding-block");
  const double angle = pi / 8;
  turned.r[1] = std::cos(angle);
  turned.r[2] = std::sin(angle);
  const Outcome between = solve(turned, "lcp[edges=8]");
  CHECK(between.gamma[0] == Approx(0.2));
  CHECK(between.gamma[1] == Approx(-0.1 * std::cos(angle) * std::cos(angle)));
  CHECK(between.gamma[2] == Approx(-0.1 * std::cos(angle) * std::sin(angle)));
  CHECK(between.measures[Measure::coulomb_residual] > 1e-4);
}

TEST_CASE("lcp: in a plane, two edges are the exact law") {
  for (const double mu : {0.0, 0.2, 0.8}) {
    const ContactProblem problem = pyramid(5, mu);
    const Outcome coulomb = solve(problem, "lcp[edges=2]");
    CHECK(coulomb.info.status == Status::converged);
    CHECK(coulomb.measures[Measure::coulomb_residual] < 1e-10);
    const Outcome relaxed = solve(problem, "lcp[edges=2,law=convex]");
    CHECK(relaxed.info.status == Status::converged);
    CHECK(relaxed.measures[Measure::residual] < 1e-10);
  }
}

TEST_CASE("lcp: the error of the pyramid falls with the square of its edges") {
  ContactProblem pile = random_pile(20, 45, 3);
  pile.mu[3] = pile.mu[10] = 0;
  for (const ContactProblem& problem : {pile, assembled_form(pile)}) {
    double first = 0, last = 0;
    for (const char* edges : {"4", "8", "16", "32"}) {
      const Outcome outcome = solve(problem, std::string("lcp[law=convex,edges=") + edges + "]");
      INFO(edges << " edges");
      CHECK(outcome.info.status == Status::converged);
      CHECK(outcome.info.own_residual < 1e-12);
      const double residual = outcome.measures[Measure::residual];
      if (last > 0) CHECK(residual < last / 2);
      if (first == 0) first = residual;
      last = residual;
    }
    CHECK(last < first / 32);  // a square would be 64
  }
}

TEST_CASE("lcp: degenerate problems whose pivots go round in circles are solved all the same") {
  const ContactProblem problem = pyramid(12, 0.2);
  const PolyhedralProblem polyhedral(problem, Law::coulomb, 2, Problem(problem).delassus_scale());
  Lemke lemke(polyhedral.lcp());
  CHECK(run(lemke, 20000) == Lemke::State::solved);
  CHECK(lemke.perturbed());  // or this is no such problem any more: find another
  CHECK(polyhedral.lcp().violation(lemke.z()) < 1e-12);
}

TEST_CASE("lcp: the cap of pivots, and problems too large for a dense dictionary") {
  const ContactProblem problem = pyramid(5, 0.2);
  const Outcome capped = solve(problem, "lcp[max_iterations=7]");
  CHECK(capped.info.status == Status::max_iterations);
  CHECK(capped.info.counters.outer == 7);
  const Outcome large = solve(random_pile(500, 1800, 1), "lcp");
  CHECK(large.info.status == Status::unsupported);
  check_parts(large.info.message, {"1800 contacts", "18000 unknowns", "max_unknowns = 10000"});
  CHECK(large.info.counters.outer == 0);
  check_parts(error_of([] { make_solver(SolverSpec::parse("lcp[edges=5]")); }),
              {"lcp", "edges", "even", "5"});
}

TEST_CASE("lcp: a contact that nothing can open or close ends in a ray") {
  ContactProblem problem = make_scene("resting-block");
  problem.inverse_mass = {0};
  const Outcome outcome = solve(problem, "lcp");
  CHECK(outcome.info.status == Status::stagnated);
  check_parts(outcome.info.message, {"ray"});
}

//  ===o===o    two rods on hinges in the plane y = 0 and a ball under the end; 3D bodies
TEST_CASE("lcp: joints are eliminated, and stand again in the answer") {
  for (const bool compliant : {false, true}) {
    ContactProblem p = random_problem({5, 4, true, false, 31});
    p.mu.assign(4, 0.0);  // then the pyramids are the cones
    p.equality.bodies = {0, 1, -1, 2, 3, 1};
    p.equality.rows = {3, 2, 1};
    p.equality.jacobian_a = random_vector(54, 32);
    p.equality.jacobian_b = random_vector(54, 33);
    for (auto* jacobian : {&p.equality.jacobian_a, &p.equality.jacobian_b}) {
      std::fill(jacobian->begin() + 18 + 12, jacobian->begin() + 36, 0.0);
      std::fill(jacobian->begin() + 36 + 6, jacobian->end(), 0.0);
    }
    p.equality.r = {0.1, -0.2, 0.3, 0.4, -0.5, 0, 0.6, 0, 0};
    if (compliant) p.equality.compliance = {0.1, 0, 0.2, 0, 0.3, 0, 0.4, 0, 0};
    p.validate("x");
    for (const char* spec : {"lcp", "lcp[law=convex]"}) {
      INFO(spec);
      const Outcome outcome = solve(p, spec);
      CHECK(outcome.info.status == Status::converged);
      CHECK(outcome.measures[Measure::residual] <= 1e-12);
      CHECK(outcome.measures[Measure::coulomb_residual] <= 1e-12);
    }

    // The first joint twice: rows that say the same, and rows that contradict each other.
    EqualityPool& pool = p.equality;
    pool.rows.push_back(3);
    for (std::size_t side = 0; side < 2; ++side) pool.bodies.push_back(pool.bodies[side]);
    for (auto* jacobian : {&pool.jacobian_a, &pool.jacobian_b}) {
      for (std::size_t k = 0; k < 18; ++k) jacobian->push_back((*jacobian)[k]);
    }
    pool.r.insert(pool.r.end(), {0.1, -0.2, 0.3});
    if (compliant) continue;
    CHECK(solve(p, "lcp").measures[Measure::residual] <= 1e-12);
    pool.r.back() = 0.31;
    const Outcome outcome = solve(p, "lcp");
    CHECK(outcome.info.status == Status::stagnated);
    check_parts(outcome.info.message, {"contradict each other by 0.01 m/s"});
  }
}

TEST_CASE("lcp: two edges are for planar problems, and others are refused") {
  const SolverSpec two = SolverSpec::parse("lcp[edges=2]");
  CHECK(why_unsupported(two, pyramid(3, 0.5)).empty());
  ContactProblem spatial = random_problem({5, 6, true, true, 3});
  spatial.mu.assign(6, 0.5);
  check_parts(why_unsupported(two, spatial),
              {"edges=2", "t1 only", "planar", "contact 0", "edges=4"});
  CHECK(why_unsupported(SolverSpec::parse("lcp[edges=4]"), spatial).empty());
  check_parts(why_unsupported(two, assembled_form(spatial)), {"edges=2"});
  spatial.mu.assign(6, 0.0);
  CHECK(why_unsupported(two, spatial).empty());

  // A block that slides along t2 and one that slides along t1.
  ContactProblem block = make_scene("sliding-block");
  CHECK(why_unsupported(two, block).empty());
  std::swap(block.r[1], block.r[2]);
  check_parts(why_unsupported(two, block), {"contact 0 may slide along t2"});
}
