#include "problems/model/impulses.hpp"

#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

/// The moments of rolling resistance, in the axes of their contacts.
void add_rolling(const ContactProblem& problem, const std::vector<double>& gamma,
                 std::vector<double>& momentum) {
  for (std::size_t k = 0; k < problem.rolling.size(); ++k) {
    const auto c = static_cast<std::size_t>(problem.rolling.contact[k]);
    Vec3 moment = triple(gamma, problem.contacts() + k);
    if (!problem.rolling.twists(k)) moment.x = 0;
    const Vec3 p = to_world_axes(&problem.frame[9 * c], moment);
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = problem.contact_bodies[2 * c + side];
      if (body < 0) continue;
      double* const torque = &momentum[6 * static_cast<std::size_t>(body) + 3];
      torque[0] += side_sign(side) * p.x;
      torque[1] += side_sign(side) * p.y;
      torque[2] += side_sign(side) * p.z;
    }
  }
}

/// J^T gamma of the equality constraints; without rotation the linear half of it.
void add_equality(const ContactProblem& problem, const std::vector<double>& gamma,
                  std::vector<double>& momentum) {
  const EqualityPool& pool = problem.equality;
  const std::size_t first = 3 * (problem.contacts() + problem.rolling.size());
  const int columns = problem.rotates() ? 6 : 3;
  for (std::size_t k = 0; k < pool.size(); ++k) {
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = pool.bodies[2 * k + side];
      if (body < 0) continue;
      const double* const jacobian =
          side == 0 ? &pool.jacobian_a[18 * k] : &pool.jacobian_b[18 * k];
      for (int row = 0; row < 3; ++row) {
        for (int i = 0; i < columns; ++i) {
          momentum[6 * static_cast<std::size_t>(body) + i] +=
              jacobian[6 * row + i] * gamma[first + 3 * k + row];
        }
      }
    }
  }
}

}  // namespace

std::vector<double> body_momenta(const ContactProblem& problem, const std::vector<double>& gamma) {
  std::vector<double> momentum(6 * problem.bodies(), 0.0);
  const auto add = [&](std::size_t at, double sign, const Vec3& value) {
    momentum[3 * at] += sign * value.x;
    momentum[3 * at + 1] += sign * value.y;
    momentum[3 * at + 2] += sign * value.z;
  };
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const Vec3 p = to_world_axes(&problem.frame[9 * c], triple(gamma, c));
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = problem.contact_bodies[2 * c + side];
      if (body < 0) continue;
      const auto at = 2 * static_cast<std::size_t>(body);
      add(at, side_sign(side), p);
      if (problem.rotates()) add(at + 1, side_sign(side), cross(arm_of(problem, c, side), p));
    }
  }
  add_rolling(problem, gamma, momentum);
  add_equality(problem, gamma, momentum);
  return momentum;
}

std::vector<double> body_velocity_changes(const ContactProblem& problem,
                                          const std::vector<double>& gamma) {
  std::vector<double> change = body_momenta(problem, gamma);
  for (std::size_t i = 0; i < problem.bodies(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) change[6 * i + k] *= problem.inverse_mass[i];
    const Vec3 spin = spin_of(problem, i, triple(change, 2 * i + 1));
    change[6 * i + 3] = spin.x, change[6 * i + 4] = spin.y, change[6 * i + 5] = spin.z;
  }
  return change;
}

std::vector<double> constraint_velocities(const ContactProblem& problem,
                                          const std::vector<double>& velocity) {
  std::vector<double> u(3 * problem.triples(), 0.0);
  const std::size_t n = problem.contacts(), k = problem.rolling.size();
  const auto relative = [&](std::size_t c, bool turning) {
    Vec3 sum;
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = problem.contact_bodies[2 * c + side];
      if (body < 0) continue;
      const auto at = 2 * static_cast<std::size_t>(body);
      const Vec3 w = triple(velocity, at + 1);
      sum =
          sum + side_sign(side) *
                    (turning ? w : velocity_at(triple(velocity, at), w, arm_of(problem, c, side)));
    }
    return to_contact_axes(&problem.frame[9 * c], sum);
  };
  for (std::size_t c = 0; c < n; ++c) set_triple(u, c, relative(c, false));
  for (std::size_t j = 0; j < k; ++j) {
    set_triple(u, n + j, relative(static_cast<std::size_t>(problem.rolling.contact[j]), true));
    if (!problem.rolling.twists(j)) u[3 * (n + j)] = 0;
  }
  const EqualityPool& pool = problem.equality;
  const std::size_t columns = problem.rotates() ? 6 : 3;
  for (std::size_t row = 0; row < 3 * pool.size(); ++row) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t body = pool.bodies[2 * (row / 3) + side];
      if (body < 0) continue;
      const auto& jacobian = side == 0 ? pool.jacobian_a : pool.jacobian_b;
      for (std::size_t i = 0; i < columns; ++i) {
        u[3 * (n + k) + row] +=
            jacobian[6 * row + i] * velocity[6 * static_cast<std::size_t>(body) + i];
      }
    }
  }
  return u;
}

}  // namespace ccp
