// Rolling resistance and equality constraints: the operator against its definition, solvers against
// the referee, and small motions that are known exactly.
#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/model/constraint_math.hpp"
#include "problems/model/impulses.hpp"
#include "solvers/core/constraint_cones.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/scales.hpp"
#include "solvers/ipm/newton_matrix.hpp"
#include "solvers/linear/block_diagonal.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

const char* const convex_solvers[] = {"pgj[omega=0.2]",
                                      "pgs",
                                      "pgs[omega=0.9]",
                                      "pgs[local=step]",
                                      "pgs[symmetric=true]",
                                      "apgd",
                                      "apgd[metric=plain]",
                                      "bb",
                                      "bb[step=bb2]",
                                      "admm",
                                      "vipm",
                                      "vipm[linear_solver=cholesky]",
                                      "vipm[linear_solver=auto,thinning=0]",
                                      "ipm",
                                      "ipm[krylov=minres,operator=block_crs]",
                                      "ipm[preconditioner=ic0,operator=crs]",
                                      "ipm[preconditioner=block_ic0]",
                                      "ipm[krylov=cholmod]"};

/// How the triples beside the contacts are.
struct Pools {
  bool compliant = false;
  bool two_rows = false;  ///< every other rolling triple is without its row about the normal
};
constexpr Pools all_pools[] = {{}, {true, false}, {false, true}, {true, true}};

/// Rolling resistance on two of three contacts, and three joints of one to three rows, one of them
/// to the ground.
ContactProblem with_pools(unsigned seed, const Pools& pools = {}) {
  ContactProblem p = random_problem({6, 14, true, true, seed});
  const std::size_t n = p.contacts();
  for (std::size_t c = 0; c < n; ++c) {
    if (c % 3 == 2) continue;
    p.rolling.contact.push_back(static_cast<std::int32_t>(c));
    p.rolling.rho.push_back(c % 6 == 0 ? 0 : 0.05 * static_cast<double>(c));
  }
  p.equality.bodies = {0, 1, -1, 2, 3, 1};
  p.equality.rows = {3, 2, 1};
  p.equality.jacobian_a = random_vector(54, seed + 1);
  p.equality.jacobian_b = random_vector(54, seed + 2);
  for (auto* jacobian : {&p.equality.jacobian_a, &p.equality.jacobian_b}) {
    std::fill(jacobian->begin() + 18 + 12, jacobian->begin() + 36, 0.0);
    std::fill(jacobian->begin() + 36 + 6, jacobian->end(), 0.0);
  }
  if (pools.compliant) {
    p.rolling.compliance = random_vector(2 * p.rolling.size(), seed + 3);
    p.equality.compliance = random_vector(9, seed + 4);
    for (auto* sigma : {&p.rolling.compliance, &p.equality.compliance}) {
      for (double& value : *sigma) value = std::abs(value);
    }
    for (const std::size_t unused : {5, 7, 8}) p.equality.compliance[unused] = 0;
  }
  p.rolling.r = random_vector(3 * p.rolling.size(), seed + 5);
  p.equality.r = random_vector(9, seed + 6);
  p.equality.r[5] = p.equality.r[7] = p.equality.r[8] = 0;
  for (std::size_t k = 0; pools.two_rows && k < p.rolling.size(); ++k) {
    p.rolling.rows.push_back(k % 2 == 0 ? 2 : 3);
    if (k % 2 == 1) continue;
    p.rolling.r[3 * k] = 0;
    if (pools.compliant) p.rolling.compliance[2 * k] = 0;
  }
  return p;
}

/// The compliance of entry i of gamma.
double sigma_of(const ContactProblem& p, std::size_t i) {
  const std::size_t n = 3 * p.contacts(), k = 3 * p.rolling.size();
  if (i < n) return p.compliance.empty() ? 0 : p.compliance[2 * (i / 3) + (i % 3 > 0)];
  if (i < n + k) {
    const std::size_t j = i - n;
    return p.rolling.compliance.empty() ? 0 : p.rolling.compliance[2 * (j / 3) + (j % 3 > 0)];
  }
  return p.equality.compliance.empty() ? 0 : p.equality.compliance[i - n - k];
}

/// u = D^T v + Sigma gamma from the velocities of bodies, by the definitions in the file format.
std::vector<double> velocities_of(const ContactProblem& p, const std::vector<double>& v,
                                  const std::vector<double>& gamma) {
  std::vector<double> u(3 * p.triples(), 0.0);
  const auto part = [&](std::int32_t body, int first) {
    return body < 0 ? Vec3{} : triple(v, 2 * static_cast<std::size_t>(body) + first / 3);
  };
  const auto put = [&](std::size_t t, const double* frame, const Vec3& d) {
    const Vec3 local = to_contact_axes(frame, d);
    u[3 * t] = local.x, u[3 * t + 1] = local.y, u[3 * t + 2] = local.z;
  };
  for (std::size_t c = 0; c < p.contacts(); ++c) {
    const std::int32_t a = p.contact_bodies[2 * c], b = p.contact_bodies[2 * c + 1];
    put(c, &p.frame[9 * c],
        part(b, 0) + cross(part(b, 3), triple(p.arm_b, c)) - part(a, 0) -
            cross(part(a, 3), triple(p.arm_a, c)));
  }
  for (std::size_t k = 0; k < p.rolling.size(); ++k) {
    const auto c = static_cast<std::size_t>(p.rolling.contact[k]);
    put(p.contacts() + k, &p.frame[9 * c],
        part(p.contact_bodies[2 * c + 1], 3) - part(p.contact_bodies[2 * c], 3));
    if (!p.rolling.rows.empty() && p.rolling.rows[k] == 2) u[3 * (p.contacts() + k)] = 0;
  }
  const std::size_t first = 3 * (p.contacts() + p.rolling.size());
  for (std::size_t row = 0; row < 3 * p.equality.size(); ++row) {
    for (std::size_t k = 0; k < 6; ++k) {
      const auto at = [&](int side) {
        const std::int32_t body = p.equality.bodies[2 * (row / 3) + static_cast<std::size_t>(side)];
        return body < 0 ? 0 : v[6 * static_cast<std::size_t>(body) + k];
      };
      u[first + row] +=
          p.equality.jacobian_a[6 * row + k] * at(0) + p.equality.jacobian_b[6 * row + k] * at(1);
    }
  }
  for (std::size_t i = 0; i < u.size(); ++i) u[i] += sigma_of(p, i) * gamma[i];
  return u;
}

std::vector<double> product_by_definition(const ContactProblem& p,
                                          const std::vector<double>& gamma) {
  return velocities_of(p, body_velocity_changes(p, gamma), gamma);
}

/// r = u - N gamma with gamma inside of the cones and u inside of their duals.
void make_solvable(ContactProblem& p, unsigned seed) {
  const std::size_t n = p.contacts(), k = p.rolling.size();
  std::vector<double> gamma = random_vector(3 * p.triples(), seed), u = gamma;
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = random_vector(1, seed + 7 + i)[0];
  std::size_t next = 0;
  for (std::size_t c = 0; c < n; ++c) {
    gamma[3 * c] = std::abs(gamma[3 * c]) + 0.1;
    const double t = std::hypot(gamma[3 * c + 1], gamma[3 * c + 2]);
    for (std::size_t i = 1; i < 3; ++i) gamma[3 * c + i] *= 0.5 * p.mu[c] * gamma[3 * c] / t;
    u[3 * c] = p.mu[c] * std::hypot(u[3 * c + 1], u[3 * c + 2]) + 0.05;
    if (next == k || p.rolling.contact[next] != static_cast<std::int32_t>(c)) continue;
    const std::size_t at = 3 * (n + next);
    if (!p.rolling.rows.empty() && p.rolling.rows[next] == 2) gamma[at] = u[at] = 0;
    const double size = norm(triple(gamma, n + next));
    for (std::size_t i = 0; i < 3; ++i)
      gamma[at + i] *= 0.5 * p.rolling.rho[next] * gamma[3 * c] / size;
    u[3 * c] += p.rolling.rho[next] * norm(triple(u, n + next));
    ++next;
  }
  for (std::size_t i = 3 * (n + k); i < u.size(); ++i) u[i] = 0;
  const auto push = product_by_definition(p, gamma);
  const auto set = [&](std::vector<double>& r, std::size_t first) {
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = u[first + i] - push[first + i];
  };
  set(p.r, 0);
  set(p.rolling.r, 3 * n);
  set(p.equality.r, 3 * (n + k));
  p.equality.r[5] = p.equality.r[7] = p.equality.r[8] = 0;
}

}  // namespace

TEST_CASE("N with rolling and equality triples is the one of the file format") {
  for (const Pools& pools : all_pools) {
    const ContactProblem p = with_pools(11, pools);
    p.validate("x");
    const Problem problem(p);
    const auto gamma = random_vector(3 * p.triples(), 3);
    const auto world = to_view(gamma), u = to_view(gamma);
    problem.to_world_axes(world, world);
    const auto product = to_vector(gamma), given = to_vector(to_host(ConstVectorView(world)));
    problem.shared_delassus().apply(*given, *product);
    problem.to_contact_axes(read_view(*product), u);
    const auto expected = product_by_definition(p, gamma);
    CHECK(relative_difference(to_host(ConstVectorView(u)), expected) < 1e-13);

    const auto delassus = problem.delassus();
    const auto image = delassus->make_image("image");
    delassus->compute_image(world, image);
    delassus->product_of(image, u);
    problem.to_contact_axes(u, u);
    CHECK(relative_difference(to_host(ConstVectorView(u)), expected) < 1e-13);
    CHECK(delassus->energy(image, world) == Approx(inner(gamma, expected)).epsilon(1e-12));

    // Diagonal blocks: columns of the product.
    const auto blocks = problem.pools().diagonal_blocks();
    const auto host = Kokkos::create_mirror_view(blocks);
    Kokkos::deep_copy(host, blocks);
    for (int j = 0; j < problem.pools().size(); ++j) {
      for (int column = 0; column < 3; ++column) {
        std::vector<double> unit(3 * p.triples(), 0.0);
        const std::size_t first = 3 * (p.contacts() + static_cast<std::size_t>(j));
        unit[first + static_cast<std::size_t>(column)] = 1;
        const auto in = to_vector(unit), out = to_vector(unit);
        problem.shared_delassus().apply(*in, *out);
        const auto back = to_host(*out);
        for (int row = 0; row < 3; ++row) {
          CHECK(host(j)(row, column) ==
                Approx(back[first + static_cast<std::size_t>(row)]).margin(1e-13));
        }
      }
    }
  }
}

TEST_CASE("N of all triples written out is the operator") {
  for (const Pools& pools : all_pools) {
    const ContactProblem p = with_pools(12, pools);
    const BlockMatrix matrix = assemble_triples(p);
    const Problem problem(p);
    const auto x = to_vector(random_vector(3 * p.triples(), 5)), y = to_vector(to_host(*x));
    problem.shared_delassus().apply(*x, *y);
    const auto in = to_host(*x);
    std::vector<double> product(in.size(), 0.0);
    for (std::size_t t = 0; t < p.triples(); ++t) {
      for (auto k = static_cast<std::size_t>(matrix.row_offsets[t]);
           k < static_cast<std::size_t>(matrix.row_offsets[t + 1]); ++k) {
        for (std::size_t i = 0; i < 9; ++i) {
          product[3 * t + i / 3] += matrix.blocks[9 * k + i] *
                                    in[3 * static_cast<std::size_t>(matrix.columns[k]) + i % 3];
        }
      }
    }
    CHECK(relative_difference(product, to_host(*y)) < 1e-13);
  }
}

namespace {

/// The Newton system of ipm at a random point inside the cones.
struct Newton {
  Problem problem;
  Teuchos::RCP<NewtonSystem> system;

  explicit Newton(const ContactProblem& p) : problem(p) {
    const std::size_t n = p.contacts();
    const DeviceArray<double* [2]> regularization("ccp::test::regularization", n);
    Kokkos::deep_copy(regularization, 1e-3);
    system = Teuchos::rcp(new NewtonSystem(problem, regularization, 2e-3));
    const VectorView x = to_view(random_vector(3 * p.triples(), 31)), y = to_view(to_host(x));
    const auto host_x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
    for (std::size_t c = 0; c < n; ++c) {
      // Far inside for the contact's own cone, and the rolling triples are small.
      const double along = 2 + std::abs(host_x(3 * c));
      for (std::size_t k = 0; k < 3; ++k) {
        host_x(3 * c + k) = along * p.frame[9 * c + k] + 0.1 * host_x(3 * c + k);
      }
    }
    for (std::size_t i = 3 * n; i < host_x.extent(0); ++i) host_x(i) *= 1e-3;
    Kokkos::deep_copy(x, host_x);
    Kokkos::deep_copy(y, x);
    system->pools().start(x, 0.3, y);
    Kokkos::deep_copy(y, x);  // any point inside: the dual cone is the same
    system->set_scaling(x, y);
  }
};

double inner_of(const Vector& a, const Vector& b) {
  return inner(to_host(a), to_host(b));
}

}  // namespace

TEST_CASE("ipm: its system with rolling resistance and joints, written out, is the one applied") {
  for (const Pools& pools : all_pools) {
    ContactProblem p = with_pools(13, pools);
    p.mu[3] = 0;
    const Newton newton(p);
    const Problem& problem = newton.problem;
    NewtonMatrix matrix(problem, {true, true});
    matrix.update(*newton.system);
    const auto a = to_vector(random_vector(3 * p.triples(), 6)),
               b = to_vector(random_vector(3 * p.triples(), 7)), y = to_vector(to_host(*a)),
               z = to_vector(to_host(*a));
    newton.system->apply(*a, *y);
    matrix.crs()->apply(*a, *z);
    CHECK(relative_difference(to_host(*z), to_host(*y)) < 1e-13);
    matrix.block_crs()->apply(*a, *z);
    CHECK(relative_difference(to_host(*z), to_host(*y)) < 1e-13);
    newton.system->apply(*b, *z);
    CHECK(inner_of(*b, *y) == Approx(inner_of(*a, *z)).epsilon(1e-12));  // symmetric
    CHECK(inner_of(*a, *y) > 0);
  }
}

TEST_CASE("impulses of all kinds move the bodies as the operator says") {
  const ContactProblem p = with_pools(12);
  const Problem problem(p);
  const auto gamma = random_vector(3 * p.triples(), 4);
  const auto world = to_view(gamma);
  problem.to_world_axes(world, world);
  const auto v = problem.delassus()->body_velocities(world);
  const auto host = Kokkos::create_mirror_view(v);
  Kokkos::deep_copy(host, v);
  const auto expected = body_velocity_changes(p, gamma);
  for (std::size_t i = 0; i < p.bodies(); ++i) {
    for (std::size_t k = 0; k < 6; ++k) {
      CHECK(host(i, k) == Approx(expected[6 * i + k]).margin(1e-13));
    }
  }
}

TEST_CASE("the projection onto the rolling cone in a metric is the plain one of scaled triples") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto x = random_vector(10, 100 + seed);
    const Vec3 normal = (1 / std::sqrt(x[0] * x[0] + x[1] * x[1] + 1)) * Vec3{x[0], x[1], 1};
    const double mu = std::abs(x[2]), rho = std::abs(x[3]), across = 0.1 + std::abs(x[4]),
                 rolling = 0.1 + 3 * std::abs(x[5]);
    const RollingTriples z{{x[6], x[7], x[8]}, {x[9], x[1], x[2]}};
    const RollingTriples found = project_rolling_in_metric(z, normal, mu, rho, across, rolling);
    const double t = std::sqrt(across), r = std::sqrt(rolling);
    const RollingTriples plain = project_rolling_cone(
        {stretch(1, t, z.contact, normal), r * z.rolling}, normal, mu * t, rho * r);
    CHECK(norm(found.contact - stretch(1, 1 / t, plain.contact, normal)) < 1e-13);
    CHECK(norm(found.rolling - (1 / r) * plain.rolling) < 1e-13);
  }
}

TEST_CASE("the referee and the solvers' own check find the same, each by its own code") {
  for (const Pools& pools : all_pools) {
    const ContactProblem p = with_pools(13, pools);
    const Problem problem(p);
    Referee referee(problem);
    CHECK(referee.velocity_scale() == Approx(velocity_scale(problem)).epsilon(1e-13));
    for (unsigned seed = 0; seed < 20; ++seed) {
      auto values = random_vector(3 * p.triples(), 40 + seed);
      for (std::size_t c = 0; c < p.contacts(); ++c) values[3 * c] += seed % 3;
      const auto gamma = to_vector(values);
      const Measures measures = referee.measure(*gamma);
      for (const Law law : {Law::convex, Law::coulomb}) {
        const Optimality own = optimality(problem, law, *gamma);
        const Measure judge = law == Law::convex ? Measure::residual : Measure::coulomb_residual;
        CHECK(own.residual() == Approx(measures[judge]).epsilon(1e-11));
      }
      CHECK(std::isnan(measures[Measure::error]));
      CHECK(std::isnan(measures[Measure::merit]));
    }
  }
}

TEST_CASE("the referee agrees with the solvers' own check on the boundary of the cones, too") {
  for (unsigned seed = 20; seed < 40; ++seed) {
    ContactProblem p = with_pools(seed);
    make_solvable(p, seed + 50);
    IterationLimit limit(50);
    const Solved solved = solve_once(p, "apgd", limit);
    const Optimality own = optimality(Problem(p), Law::convex, *to_vector(solved.gamma));
    CHECK(own.dual == Approx(solved.measures[Measure::dual]).margin(1e-12));
    CHECK(solved.measures[Measure::primal] < 1e-12);  // projected
  }
}

TEST_CASE("solvers reach residual 1e-8 with rolling resistance and joints") {
  for (const Pools& pools : all_pools) {
    ContactProblem p = with_pools(14, pools);
    make_solvable(p, 77);
    p.validate("x");
    std::vector<double> velocities;
    for (const char* const spec : convex_solvers) {
      INFO(spec << (pools.compliant ? ", compliant" : "") << (pools.two_rows ? ", two rows" : ""));
      const Solved solved = solve_until(p, spec, Measure::residual, 1e-10);
      CHECK(solved.measures[Measure::residual] <= 1e-8);
      const auto v = body_velocity_changes(p, solved.gamma);
      if (velocities.empty()) velocities = v;
      CHECK(relative_difference(v, velocities) < 1e-4);
    }
    const Solved coulomb = solve_until(p, "pgs[law=coulomb]", Measure::coulomb_residual, 1e-8);
    CHECK(coulomb.measures[Measure::coulomb_residual] <= 1e-8);
  }
}

TEST_CASE("what converges by itself is right, with rolling resistance and joints") {
  const bool two_rows = GENERATE(false, true);
  ContactProblem p = with_pools(15, {false, two_rows});
  make_solvable(p, 78);
  std::vector<std::string> specs;
  for (const char* const spec : convex_solvers) {
    // The default tolerances of ipm are in SI units, and below what rounding leaves here.
    if (std::string(spec).rfind("ipm", 0) != 0) specs.emplace_back(spec);
  }
  specs.emplace_back("ipm[tol_cost=1e-10,tol_infeasibility=1e-8]");
  specs.emplace_back("ipm[krylov=cholmod,tol_cost=1e-10,tol_infeasibility=1e-8]");
  for (const std::string& spec : specs) {
    const Solved solved = solve_once(p, spec);
    INFO(spec << ": " << solved.info.message << ", own " << solved.info.own_residual
              << ", residual " << solved.measures[Measure::residual] << ", outer "
              << solved.info.counters.outer);
    CHECK(to_string(solved.info.status) == "converged");
    CHECK(solved.measures[Measure::residual] <= 1e-9);
  }
}

namespace {

/// A pile of spheres that rotate and resist rolling, mu_r = 0.3 times the reduced radius.
ContactProblem rolling_pile(std::size_t spheres, std::size_t contacts) {
  ContactProblem p = random_pile(spheres, contacts, 5);
  p.inverse_inertia.assign(9 * p.bodies(), 0.0);
  for (std::size_t i = 0; i < p.bodies(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      p.inverse_inertia[9 * i + 4 * k] = p.inverse_mass[i] / (0.4 * p.radius[i] * p.radius[i]);
    }
  }
  p.arm_a.assign(3 * p.contacts(), 0.0);
  p.arm_b.assign(3 * p.contacts(), 0.0);
  p.rolling.r.assign(3 * p.contacts(), 0.0);
  for (std::size_t c = 0; c < p.contacts(); ++c) {
    double curvature = 0;
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t body = p.contact_bodies[2 * c + side];
      if (body < 0) continue;
      const double radius = p.radius[static_cast<std::size_t>(body)];
      curvature += 1 / radius;
      for (std::size_t k = 0; k < 3; ++k) {
        (side == 0 ? p.arm_a : p.arm_b)[3 * c + k] =
            (side == 0 ? 1 : -1) * radius * p.frame[9 * c + k];
      }
    }
    p.rolling.contact.push_back(static_cast<std::int32_t>(c));
    p.rolling.rho.push_back(0.3 / curvature);
  }
  p.validate("pile");
  return p;
}

}  // namespace

TEST_CASE("solvers get on with a pile of spheres with rolling resistance") {
  const ContactProblem p = rolling_pile(300, 1000);
  struct Goal {
    const char* spec;
    double residual;
  };
  // Half of them fall far short of what they reach without rolling resistance.
  for (const auto [spec, residual] :
       {Goal{"vipm", 1e-8}, Goal{"admm", 1e-8}, Goal{"ipm", 1e-8},
        Goal{"vipm[linear_solver=cholesky]", 1e-8}, Goal{"vipm[linear_solver=cg]", 1e-2},
        Goal{"apgd", 1e-6}, Goal{"bb", 1e-2}, Goal{"pgs", 1e-1}, Goal{"pgs[law=coulomb]", 1e-4}}) {
    IterationLimit limit(4000);
    const Solved solved = solve_once(p, spec, limit);
    INFO(spec << ": " << to_string(solved.info.status) << " " << solved.info.message);
    const bool coulomb = std::string(spec).find("coulomb") != std::string::npos;
    CHECK(solved.measures[coulomb ? Measure::coulomb_residual : Measure::residual] <= residual);
  }
}

// ---- motions that are known ---------------------------------------------------------------------

namespace {

constexpr double mass = 2, radius = 0.3, gravity = 9.81, dt = 0.01;
constexpr double inertia = 0.4 * mass * radius * radius;

/// A sphere at rest on a plane that falls along t1 by an angle; spin about the normal.
ContactProblem sphere_on_incline(double angle, double mu, double rho, double spin = 0) {
  ContactProblem p;
  p.name = "incline";
  p.dt = dt;
  p.inverse_mass = {1 / mass};
  p.inverse_inertia = {1 / inertia, 0, 0, 0, 1 / inertia, 0, 0, 0, 1 / inertia};
  p.contact_bodies = {-1, 0};
  p.frame = {0, 0, 1, 1, 0, 0, 0, 1, 0};  // n = z, t1 = x, t2 = y
  p.arm_a = {0, 0, 0};
  p.arm_b = {0, 0, -radius};
  p.mu = {mu};
  p.r = {-dt * gravity * std::cos(angle), dt * gravity * std::sin(angle), 0};
  p.rolling = {{0}, {rho}, {spin, 0, 0}, {}, {}};
  return p;
}

}  // namespace

TEST_CASE(
    "a sphere on an incline rolls at five sevenths, slower with rolling resistance, or holds") {
  const double angle = 20 * pi / 180, fall = gravity * std::sin(angle),
               press = gravity * std::cos(angle);
  for (const double rho : {0.0, 0.1 * radius, 0.4 * radius}) {
    const ContactProblem p = sphere_on_incline(angle, 0.9, rho);
    const Solved solved = solve_until(p, "pgs[law=coulomb]", Measure::coulomb_residual, 1e-13);
    const auto v = body_velocity_changes(p, solved.gamma);
    const double acceleration = std::max(0.0, (fall - rho * press / radius) / 1.4);
    CHECK(dt * fall + v[0] == Approx(dt * acceleration).margin(1e-12));
    CHECK(v[4] == Approx(dt * acceleration / radius).margin(1e-11));
  }
}

TEST_CASE("the spin of a sphere about the normal decays by rho m g over its inertia") {
  const double rho = 0.05, spin = 3;
  const ContactProblem p = sphere_on_incline(0, 0.5, rho, spin);
  const Solved solved = solve_until(p, "pgs[law=coulomb]", Measure::coulomb_residual, 1e-13);
  const auto v = body_velocity_changes(p, solved.gamma);
  CHECK(v[5] == Approx(-rho * mass * gravity * dt / inertia).epsilon(1e-12));
}

TEST_CASE("without a row about the normal a sphere keeps its spin, and rolls as with it") {
  const double rho = 0.05, spin = 3, angle = 0.3;
  ContactProblem with = sphere_on_incline(angle, 0.5, rho, 0);
  ContactProblem without = with;
  without.rolling.rows = {2};
  without.validate("incline");
  for (const std::string spec : {"pgs", "apgd", "pgj", "bb", "admm", "vipm", "ipm"}) {
    INFO(spec);
    const auto v = [&](const ContactProblem& p) {
      const Solved solved = solve_until(p, spec, Measure::residual, 1e-9);
      CHECK(solved.measures[Measure::residual] <= 1e-8);
      return body_velocity_changes(p, solved.gamma);
    };
    CHECK(relative_difference(v(without), v(with)) < 1e-6);
  }
  // A spin about the normal is no part of the problem: in the form with three rows it decays,
  // above.
  ContactProblem spinning = sphere_on_incline(0, 0.5, rho, spin);
  spinning.rolling.rows = {2};
  CHECK_THROWS_AS(spinning.validate("spin"), InputError);
  spinning.rolling.r[0] = 0;
  const Solved solved = solve_until(spinning, "pgs[law=coulomb]", Measure::coulomb_residual, 1e-13);
  CHECK(body_velocity_changes(spinning, solved.gamma)[5] == 0);
}

TEST_CASE("a rod on a ball joint swings as a pendulum, by every solver, without any contact") {
  ContactProblem p;
  p.name = "pendulum";
  p.dt = dt;
  const double length = 1, about = mass * length * length / 12;
  p.inverse_mass = {1 / mass};
  p.inverse_inertia = {1e-3, 0, 0, 0, 1 / about, 0, 0, 0, 1 / about};
  p.equality.bodies = {-1, 0};
  p.equality.rows = {3};
  p.equality.jacobian_a.assign(18, 0.0);
  const Vec3 arm{-length / 2, 0, 0}, axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (const Vec3& axis : axes) {
    double row[6];
    row_jacobian(axis, arm, 1, row);
    p.equality.jacobian_b.insert(p.equality.jacobian_b.end(), row, row + 6);
  }
  p.equality.r = {0, 0, -dt * gravity};
  p.validate("x");
  for (const char* const spec : convex_solvers) {
    INFO(spec);
    const Solved solved = solve_until(p, spec, Measure::residual, 1e-11);
    CHECK(solved.measures[Measure::residual] <= 1e-11);
    const auto v = body_velocity_changes(p, solved.gamma);
    // The centre falls with g l^2/4 / (l^2/4 + l^2/12) = 3/4 g, the joint holds the rest.
    CHECK(v[2] == Approx(0.25 * dt * gravity).epsilon(1e-10));
    CHECK(v[4] == Approx(0.75 * dt * gravity / (length / 2)).epsilon(1e-10));
  }
}

TEST_CASE("ipm: block_diagonal inverts the system of one contact with rolling resistance") {
  const ContactProblem p = sphere_on_incline(0.3, 0.4, 0.05);
  const Newton newton(p);
  NewtonMatrix matrix(newton.problem, {});
  matrix.update(*newton.system);
  BlockDiagonalInverse inverse(newton.problem.map(), 2, newton.system->roots());
  inverse.update(matrix.diagonal());
  const auto x = random_vector(6, 8);
  const auto in = to_vector(x), product = to_vector(x), out = to_vector(x);
  newton.system->apply(*in, *product);
  inverse.apply(*product, *out);
  CHECK(relative_difference(to_host(*out), x) < 1e-12);
  inverse.apply(*product, *out, Teuchos::NO_TRANS, 2, -1);
  CHECK(relative_difference(to_host(*out), x) < 1e-12);
}

TEST_CASE("solvers take joints that depend on each other: one of them twice") {
  ContactProblem p = with_pools(17);
  make_solvable(p, 81);
  EqualityPool& pool = p.equality;
  pool.rows.push_back(3);
  for (std::size_t side = 0; side < 2; ++side) pool.bodies.push_back(pool.bodies[side]);
  for (auto* jacobian : {&pool.jacobian_a, &pool.jacobian_b}) {
    for (std::size_t k = 0; k < 18; ++k) jacobian->push_back((*jacobian)[k]);
  }
  for (std::size_t k = 0; k < 3; ++k) pool.r.push_back(pool.r[k]);
  p.validate("x");
  const Solved solved = solve_once(p, "vipm");
  CHECK(to_string(solved.info.status) == "converged");
  CHECK(solved.measures[Measure::residual] <= 1e-9);
  for (const char* const spec : convex_solvers) {
    INFO(spec);
    const Solved one = solve_until(p, spec, Measure::residual, 1e-8);
    CHECK(one.measures[Measure::residual] <= 1e-8);
  }
}

TEST_CASE("vipm takes joints between bodies that do not rotate") {
  ContactProblem p = random_problem({6, 8, false, true, 21});
  p.equality.bodies = {0, 1, 2, 3, -1, 4};
  p.equality.rows = {1, 1, 1};
  p.equality.jacobian_a = random_vector(54, 22);
  p.equality.jacobian_b = random_vector(54, 23);
  for (auto* jacobian : {&p.equality.jacobian_a, &p.equality.jacobian_b}) {
    for (std::size_t k = 0; k < 54; ++k) (*jacobian)[k] *= k % 18 < 3 ? 1 : 0;
  }
  p.equality.r.assign(9, 0.0);
  p.validate("x");
  // Its default of 1e-10 is where rounding ends it on some builds.
  const Solved solved = solve_once(p, "vipm[tolerance=1e-9]");
  INFO(solved.info.message << ", own " << solved.info.own_residual);
  CHECK(to_string(solved.info.status) == "converged");
  CHECK(solved.measures[Measure::residual] <= 1e-8);
}

TEST_CASE("vipm finds the same impulses from a guess, with rolling resistance and joints") {
  ContactProblem p = with_pools(18);
  make_solvable(p, 80);
  const Solved cold = solve_once(p, "vipm");
  IterationLimit limit(100);
  const Solved warm = solve_once(p, "vipm", limit, cold.gamma);
  CHECK(to_string(warm.info.status) == "converged");
  CHECK(warm.info.counters.outer < cold.info.counters.outer);
  CHECK(warm.measures[Measure::residual] <= 1e-9);
}

TEST_CASE("admm goes on from its own answer, with rolling resistance and joints") {
  for (const Pools& pools : all_pools) {
    ContactProblem p = with_pools(18, pools);
    make_solvable(p, 80);
    const Solved cold = solve_once(p, "admm");
    NullObserver nobody;
    const Solved warm = solve_once(p, "admm", nobody, cold.gamma);
    CHECK(to_string(warm.info.status) == "converged");
    CHECK(warm.info.counters.outer < cold.info.counters.outer / 4);
    CHECK(warm.measures[Measure::residual] <= 1e-9);
  }
}

TEST_CASE("vipm refuses conjugate gradients where joints make the matrix stiff") {
  const ContactProblem p = with_pools(19);
  CHECK_THROWS_AS(solve_once(p, "vipm[linear_solver=cg]"), InputError);
}

TEST_CASE("a joint that is violated, and impulses beyond the rolling limit, are seen") {
  ContactProblem p = with_pools(16);
  make_solvable(p, 79);
  const Problem problem(p);
  Referee referee(problem);
  const Solved solved = solve_until(p, "apgd", Measure::residual, 1e-11);
  REQUIRE(solved.measures[Measure::residual] <= 1e-10);
  const std::size_t n = p.contacts(), k = p.rolling.size();
  for (const std::size_t entry : {3 * n, 3 * (n + k) + 1, 3 * (n + k + 1), 3 * (n + k + 1) + 2}) {
    auto gamma = solved.gamma;
    gamma[entry] += 1e-3;  // the last one is in a row that is not there
    CHECK(referee.measure(*to_vector(gamma))[Measure::residual] > 1e-6);
  }
}
