// The referee's formulas against plain loops on the host, and by hand.
#include "harness/measure/referee.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "problems/scenes/hand_scenes.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

using Triple = std::array<double, 3>;

/// Projection onto {mu n >= |t|}, by cases.
Triple project(const Triple& v, double mu) {
  const double t = std::hypot(v[1], v[2]);
  if (v[0] >= 0 && t <= mu * v[0]) return v;
  if (v[0] <= 0 && mu * t <= -v[0]) return {0, 0, 0};
  if (mu == 0) return {std::max(v[0], 0.0), 0, 0};
  const double n = (v[0] + mu * t) / (1 + mu * mu);
  return {n, mu * n * v[1] / t, mu * n * v[2] / t};
}

double length(const Triple& v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/// The symmetric 3x3 solve of eq. 40's weight, by Cramer's rule.
Triple solve3(const double* a, const Triple& b) {
  const auto det = [](const std::array<double, 9>& m) {
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
           m[2] * (m[3] * m[7] - m[4] * m[6]);
  };
  std::array<double, 9> m;
  std::copy_n(a, 9, m.begin());
  const double whole = det(m);
  Triple x;
  for (std::size_t k = 0; k < 3; ++k) {
    auto replaced = m;
    for (std::size_t i = 0; i < 3; ++i) replaced[3 * i + k] = b[i];
    x[k] = det(replaced) / whole;
  }
  return x;
}

/// All measures from the formulas of design Sect. 5, with N as a dense matrix.
Measures measure_on_host(const ContactProblem& p, const std::vector<double>& matrix,
                         const std::vector<double>& gamma) {
  const std::size_t n = p.contacts(), size = 3 * n;
  std::vector<double> u = multiply(matrix, gamma);
  double trace = 0, r_square = 0;
  for (std::size_t i = 0; i < size; ++i) {
    u[i] += p.r[i];
    trace += matrix[i * size + i];
    r_square += p.r[i] * p.r[i];
  }
  const double s = trace > 0 ? trace / static_cast<double>(size) : 1;
  const double q = r_square > 0 ? std::sqrt(r_square / static_cast<double>(size)) : 1;
  Measures m;
  double weight_of_r = 0;
  for (int law = 0; law < 2; ++law) {
    double dot = 0, feas = 0, dual = 0, primal = 0, natural = 0, merit = 0, normal = 0;
    weight_of_r = 0;
    for (std::size_t c = 0; c < n; ++c) {
      const double mu = p.mu[c];
      const Triple g{gamma[3 * c], gamma[3 * c + 1], gamma[3 * c + 2]};
      Triple v{u[3 * c], u[3 * c + 1], u[3 * c + 2]};
      const double slip = std::hypot(v[1], v[2]);
      if (law == 1) v[0] += mu * slip;
      for (std::size_t k = 0; k < 3; ++k) dot += g[k] * v[k];
      feas = std::max({feas, mu * slip - v[0], std::hypot(g[1], g[2]) - mu * g[0]});
      if (mu == 0) feas = std::max(feas, -g[0]);
      // dist(v, K*) is the norm of what the polar cone gets: P_K(-v).
      dual = std::max(dual, length(project({-v[0], -v[1], -v[2]}, mu)));
      Triple p_g = project(g, mu), step, p_step, p_unit;
      primal = std::max(primal, length({g[0] - p_g[0], g[1] - p_g[1], g[2] - p_g[2]}));
      for (std::size_t k = 0; k < 3; ++k) step[k] = g[k] - v[k] / s;
      p_step = project(step, mu);
      p_unit = project({g[0] - v[0], g[1] - v[1], g[2] - v[2]}, mu);
      normal += s * std::abs(g[0] - p_step[0]) / static_cast<double>(n);
      Triple violation;
      for (std::size_t k = 0; k < 3; ++k) {
        natural = std::max(natural, std::abs(g[k] - p_step[k]));
        violation[k] = g[k] - p_unit[k];
      }
      double block[9];
      for (std::size_t e = 0; e < 9; ++e) block[e] = matrix[(3 * c + e / 3) * size + 3 * c + e % 3];
      if (!(block[0] > 0 && block[4] > 0 && block[8] > 0)) continue;
      const Triple r{p.r[3 * c], p.r[3 * c + 1], p.r[3 * c + 2]};
      const Triple x = solve3(block, violation), y = solve3(block, r);
      for (std::size_t k = 0; k < 3; ++k) {
        merit += x[k] * violation[k];
        weight_of_r += y[k] * r[k];
      }
    }
    const double complementarity = std::abs(dot) * s / (static_cast<double>(n) * q * q);
    const double residual = std::max({dual / q, primal * s / q, complementarity});
    const double relative_merit = weight_of_r > 0 ? merit / weight_of_r : merit;
    if (law == 1) {
      m[Measure::coulomb_residual] = residual;
      m[Measure::coulomb_natural_map] = natural * s / q;
      m[Measure::coulomb_merit] = relative_merit;
      m[Measure::coulomb_normal_residual] = normal;
      continue;
    }
    m[Measure::cost] = std::abs(dot) / static_cast<double>(n);
    m[Measure::feas] = feas;
    m[Measure::error] = std::max(m[Measure::cost], feas);
    m[Measure::dual] = dual / q;
    m[Measure::primal] = primal * s / q;
    m[Measure::complementarity] = complementarity;
    m[Measure::residual] = residual;
    m[Measure::natural_map] = natural * s / q;
    m[Measure::energy] = std::sqrt(2 * complementarity);
    m[Measure::merit] = relative_merit;
    m[Measure::normal_residual] = normal;
  }
  m[Measure::velocity] = m[Measure::objective_gap] = m[Measure::multiplier] = std::nan("");
  if (!p.reference) return m;
  const std::vector<double>& exact = p.reference->gamma;
  double mean = 0, counted = 0;
  for (std::size_t c = 0; c < n; ++c) mean += exact[3 * c] / static_cast<double>(n);
  m[Measure::multiplier] = 0;
  for (std::size_t c = 0; c < n; ++c) {
    if (exact[3 * c] <= 0 || exact[3 * c] < 1e-3 * mean) continue;
    m[Measure::multiplier] += std::abs(gamma[3 * c] / exact[3 * c] - 1);
    ++counted;
  }
  if (counted > 0) m[Measure::multiplier] /= counted;
  const auto objective = [&](const std::vector<double>& g) {
    const auto push = multiply(matrix, g);
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += 0.5 * g[i] * push[i] + p.r[i] * g[i];
    return sum;
  };
  m[Measure::objective_gap] = objective(gamma) - objective(p.reference->gamma);
  if (p.form != ContactProblem::Form::bodies) return m;
  const auto v = dense_body_velocities(p, gamma), w = dense_body_velocities(p, p.reference->gamma);
  m[Measure::velocity] = 0;
  for (std::size_t i = 0; i < p.bodies(); ++i) {
    m[Measure::velocity] = std::max(
        m[Measure::velocity],
        length({v[6 * i] - w[6 * i], v[6 * i + 1] - w[6 * i + 1], v[6 * i + 2] - w[6 * i + 2]}));
  }
  return m;
}

Measures measure(const ContactProblem& host, const std::vector<double>& gamma) {
  const Problem problem(host);
  Referee referee(problem);
  return referee.measure(*to_vector(gamma));
}

void check_same(const Measures& found, const Measures& expected) {
  for (const Measure m : all_measures()) {
    INFO(name_of(m));
    if (std::isnan(expected[m])) {
      CHECK(std::isnan(found[m]));
    } else {
      CHECK(found[m] == Approx(expected[m]).epsilon(1e-10).margin(1e-13));
    }
  }
}

/// One contact of one non-rotating body of mass 1 with the ground: N = I.
ContactProblem one_contact(double mu, const std::vector<double>& r) {
  ContactProblem p;
  p.inverse_mass = {1};
  p.contact_bodies = {-1, 0};
  p.frame = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  p.mu = {mu};
  p.r = r;
  return p;
}

}  // namespace

TEST_CASE("all measures agree with the formulas on the host") {
  std::vector<ContactProblem> problems = {random_problem({6, 15, true, true, 51}),
                                          random_problem({30, 200, true, true, 52}),
                                          random_problem({9, 80, false, true, 53})};
  for (std::size_t i = 0; i < 3; ++i) {
    ContactProblem with_reference = problems[i];
    with_reference.reference = Reference{random_vector(3 * problems[i].contacts(), 9), {}, {}, ""};
    problems.push_back(with_reference);
    problems.push_back(assembled_form(with_reference));
  }
  problems.push_back(compliant_form(problems[3], 7));
  problems.push_back(assembled_form(problems.back()));
  ContactProblem frictionless = problems[0], still = problems[0];
  std::fill(frictionless.mu.begin(), frictionless.mu.end(), 0.0);
  std::fill(still.r.begin(), still.r.end(), 0.0);
  problems.push_back(frictionless);
  problems.push_back(still);
  for (const ContactProblem& p : problems) {
    const auto matrix =
        p.form == ContactProblem::Form::bodies ? dense_delassus(p) : std::vector<double>();
    for (unsigned seed = 1; seed < 4; ++seed) {
      auto gamma = random_vector(3 * p.contacts(), seed);
      if (seed == 2) {  // no tangential part, and pulling contacts
        for (std::size_t c = 0; c < p.contacts(); ++c) {
          gamma[3 * c] = c % 2 ? -gamma[3 * c] : -1;
          gamma[3 * c + 1] = gamma[3 * c + 2] = 0;
        }
      }
      if (seed == 3) std::fill(gamma.begin(), gamma.end(), 0.0);
      if (p.form == ContactProblem::Form::bodies) {
        check_same(measure(p, gamma), measure_on_host(p, matrix, gamma));
      } else {
        // The assembled problems were made of the bodies problem before them.
        const ContactProblem& bodies = *(&p - 1);
        Measures expected = measure_on_host(bodies, dense_delassus(bodies), gamma);
        expected[Measure::velocity] = std::nan("");
        check_same(measure(p, gamma), expected);
      }
    }
  }
}

TEST_CASE("a contact that needs no force, measured by hand") {
  // r = (3, 0, 4), N = I: s = 1, q = 5 / sqrt 3. With gamma = 0, u = r; mu = 0.5: u_n >= 2.
  const double q = 5 / std::sqrt(3.0);
  const Measures m = measure(one_contact(0.5, {3, 0, 4}), {0, 0, 0});
  CHECK(m[Measure::residual] == 0);
  CHECK(m[Measure::error] == 0);
  CHECK(m[Measure::natural_map] == 0);
  // gamma = (1, 0, 0): u = (4, 0, 4), gamma.u = 4.
  const Measures pushed = measure(one_contact(0.5, {3, 0, 4}), {1, 0, 0});
  CHECK(pushed[Measure::cost] == Approx(4));
  CHECK(pushed[Measure::feas] == 0);
  CHECK(pushed[Measure::complementarity] == Approx(4 / (q * q)));
  CHECK(pushed[Measure::energy] == Approx(std::sqrt(8) / q));
  CHECK(pushed[Measure::dual] == 0);
  CHECK(pushed[Measure::primal] == 0);
}

TEST_CASE("contacts without friction, measured by hand") {
  // K is the half-line, K* the half-space u_n >= 0. N = I, q = 2 / sqrt 3.
  const double q = 2 / std::sqrt(3.0);
  const ContactProblem falls = one_contact(0, {-2, 0, 0});
  Measures m = measure(falls, {0, 0, 0});  // u = (-2, 0, 0)
  CHECK(m[Measure::dual] == Approx(2 / q));
  CHECK(m[Measure::feas] == Approx(2));
  m = measure(falls, {2, 0, 0});  // the solution
  CHECK(m[Measure::residual] == 0);
  CHECK(m[Measure::error] == 0);
  m = measure(falls, {3, 0, 0});  // u = (1, 0, 0): feasible, not complementary
  CHECK(m[Measure::dual] == 0);
  CHECK(m[Measure::primal] == 0);
  CHECK(m[Measure::complementarity] == Approx(3 / (q * q)));
  m = measure(falls, {-1, 0, 0});  // a contact that pulls
  CHECK(m[Measure::primal] == Approx(1 / q));
  CHECK(m[Measure::dual] == Approx(3 / q));
  CHECK(m[Measure::feas] == Approx(3));
  m = measure(falls, {2, 1, 0});  // friction where there is none
  CHECK(m[Measure::primal] == Approx(1 / q));
  CHECK(m[Measure::feas] == Approx(1));
  // A body that leaves needs no force, and the referee must see that it has none to complain of.
  m = measure(one_contact(0, {2, 0, 0}), {0, 0, 0});
  CHECK(m[Measure::residual] == 0);
  CHECK(m[Measure::natural_map] == 0);
}

TEST_CASE("anything that is not finite makes every measure NaN") {
  ContactProblem p = random_problem({6, 15, true, true, 51});
  p.reference = Reference{random_vector(45, 9), {}, {}, ""};
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()}) {
    for (const std::size_t at : {0, 22, 44}) {
      auto gamma = random_vector(45, 1);
      gamma[at] = bad;
      const Measures m = measure(p, gamma);
      for (const Measure measure : all_measures()) CHECK(std::isnan(m[measure]));
    }
  }
}

TEST_CASE("the references of all scenes are solutions for the referee") {
  for (const HandScene& entry : hand_scenes()) {
    INFO(entry.name);
    const ContactProblem p = make_scene(entry.name);
    const Measures m = measure(p, p.reference->gamma);
    CHECK(m[Measure::residual] < 1e-11);
    CHECK(m[Measure::error] < 1e-11);
    CHECK(std::abs(m[Measure::objective_gap]) <= 1e-15);
    if (p.form == ContactProblem::Form::bodies) CHECK(m[Measure::velocity] == 0);
  }
}

TEST_CASE("without a reference, velocity and objective gap are not defined") {
  const Measures m = measure(random_problem({6, 15, true, true, 51}), random_vector(45, 1));
  CHECK(std::isnan(m[Measure::velocity]));
  CHECK(std::isnan(m[Measure::objective_gap]));
  CHECK_FALSE(std::isnan(m[Measure::residual]));
}

TEST_CASE("the referee does not change what it measures, and gives the same twice") {
  const ContactProblem p = random_problem({6, 15, true, true, 51});
  const Problem problem(p);
  Referee referee(problem);
  const auto data = random_vector(45, 1);
  const auto gamma = to_vector(data);
  const Measures first = referee.measure(*gamma);
  CHECK(to_host(*gamma) == data);
  referee.measure(*to_vector(random_vector(45, 2)));
  const Measures again = referee.measure(*gamma);
  for (const Measure m : {Measure::residual, Measure::error, Measure::natural_map, Measure::merit,
                          Measure::coulomb_residual}) {
    CHECK(first[m] == Approx(again[m]).epsilon(1e-13));
  }
  double square = 0;
  for (const double value : p.r) square += value * value;
  CHECK(referee.velocity_scale() == Approx(std::sqrt(square / 45)));
}
