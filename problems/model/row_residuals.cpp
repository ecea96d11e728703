#include "problems/model/row_residuals.hpp"

#include <algorithm>
#include <cmath>

#include "problems/model/constraint_math.hpp"
#include "problems/model/impulses.hpp"

namespace ccp {
namespace {

Vec3 axis_of(const ContactProblem& problem, std::size_t contact, int row) {
  return triple(problem.frame, 3 * contact + static_cast<std::size_t>(row));
}

/// What a unit impulse along an axis does to the velocity along it, 1/kg; turning: a unit moment,
/// 1/(kg m^2).
double mobility(const ContactProblem& problem, std::size_t contact, const Vec3& axis,
                bool turning) {
  double sum = 0;
  for (int side = 0; side < 2; ++side) {
    const std::int32_t body = problem.contact_bodies[2 * contact + static_cast<std::size_t>(side)];
    if (body < 0) continue;
    const auto i = static_cast<std::size_t>(body);
    const Vec3 lever = turning ? axis : cross(arm_of(problem, contact, side), axis);
    sum += dot(lever, spin_of(problem, i, lever));
    if (!turning) sum += problem.inverse_mass[i];
  }
  return sum;
}

double sigma(const std::vector<double>& compliance, std::size_t entry) {
  return compliance.empty() ? 0 : compliance[entry];
}

/// d |gamma - P(gamma - u / d)| with P onto the ball of that radius.
double clamped(const Vec3& gamma, const Vec3& u, double d, double radius) {
  if (!(d > 0)) return 0;
  Vec3 next = gamma - (1 / d) * u;
  const double size = norm(next);
  if (size > radius) next = radius / size * next;
  return d * norm(gamma - next);
}

}  // namespace

RowResiduals row_residuals(const ContactProblem& problem, const std::vector<double>& gamma) {
  const std::size_t n = problem.contacts(), k = problem.rolling.size();
  const std::vector<double> u =
      constraint_velocities(problem, body_velocity_changes(problem, gamma));
  RowResiduals sum;
  for (std::size_t c = 0; c < n; ++c) {
    const double soft[2] = {sigma(problem.compliance, 2 * c), sigma(problem.compliance, 2 * c + 1)};
    const double d = mobility(problem, c, axis_of(problem, c, 0), false) + soft[0];
    const double across = 0.5 * (mobility(problem, c, axis_of(problem, c, 1), false) +
                                 mobility(problem, c, axis_of(problem, c, 2), false)) +
                          soft[1];
    const Vec3 g = triple(gamma, c);
    const Vec3 moves = triple(u, c) + triple(problem.r, c);
    const double normal = moves.x + soft[0] * g.x;
    if (d > 0) sum.normal += d * std::abs(g.x - std::max(0.0, g.x - normal / d));
    const Vec3 g_t{0, g.y, g.z};
    sum.tangential += clamped(g_t, Vec3{0, moves.y, moves.z} + soft[1] * g_t, across,
                              problem.mu[c] * std::max(0.0, g.x));
  }
  for (std::size_t j = 0; j < k; ++j) {
    const auto c = static_cast<std::size_t>(problem.rolling.contact[j]);
    const Vec3 g = triple(gamma, n + j);
    const double along = sigma(problem.rolling.compliance, 2 * j),
                 across = sigma(problem.rolling.compliance, 2 * j + 1);
    const int rows = problem.rolling.rows_of(j);
    double d = (along + 2 * across) / rows;
    for (int row = 3 - rows; row < 3; ++row) {
      d += mobility(problem, c, axis_of(problem, c, row), true) / rows;
    }
    const Vec3 turns = triple(u, n + j) + triple(problem.rolling.r, j) +
                       Vec3{along * g.x, across * g.y, across * g.z};
    sum.rolling += clamped(g, turns, d, problem.rolling.rho[j] * std::max(0.0, gamma[3 * c]));
  }
  for (std::size_t j = 0; j < problem.equality.size(); ++j) {
    Vec3 rate = triple(u, n + k + j) + triple(problem.equality.r, j);
    if (!problem.equality.compliance.empty()) {
      const Vec3 soft = triple(problem.equality.compliance, j), g = triple(gamma, n + k + j);
      rate = rate + Vec3{soft.x * g.x, soft.y * g.y, soft.z * g.z};
    }
    sum.equality += norm(rate);
  }
  const auto mean = [](double& value, std::size_t count) {
    if (count > 0) value /= static_cast<double>(count);
  };
  mean(sum.normal, n);
  mean(sum.tangential, n);
  mean(sum.rolling, k);
  mean(sum.equality, problem.equality.size());
  return sum;
}

}  // namespace ccp
