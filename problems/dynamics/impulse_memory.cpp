#include "problems/dynamics/impulse_memory.hpp"

#include <algorithm>
#include <cmath>

#include "problems/geometry/contact_detection.hpp"
#include "problems/model/constraint_math.hpp"

namespace ccp {
std::int64_t pair_identity(std::int32_t a, std::int32_t b) {
  return (static_cast<std::int64_t>(a) + 1) * (std::int64_t{1} << 32) + b;
}

void ImpulseMemory::keep(const ContactProblem& problem, const std::vector<double>& gamma) {
  bodies_ = problem.contact_bodies;
  dt_ = problem.dt;
  impulse_.resize(gamma.size());
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const Vec3 p = to_world_axes(&problem.frame[9 * c], triple(gamma, c));
    impulse_[3 * c] = p.x, impulse_[3 * c + 1] = p.y, impulse_[3 * c + 2] = p.z;
  }
}

std::vector<double> ImpulseMemory::recall(const ContactProblem& problem) const {
  const auto pair = [](const std::vector<std::int32_t>& bodies, std::size_t c) {
    return Candidate{bodies[2 * c], bodies[2 * c + 1], 0};
  };
  std::vector<double> gamma(3 * problem.contacts(), 0.0);
  const std::size_t kept = bodies_.size() / 2;
  std::size_t old = 0;  // both lists are ordered by (a, b)
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const Candidate here = pair(problem.contact_bodies, c);
    while (old < kept && by_bodies(pair(bodies_, old), here)) ++old;
    if (old == kept) break;
    if (by_bodies(here, pair(bodies_, old))) continue;  // a pair that was not there
    const double* frame = &problem.frame[9 * c];
    for (int row = 0; row < 3; ++row) {
      for (int k = 0; k < 3; ++k) {
        gamma[3 * c + row] += frame[3 * row + k] * impulse_[3 * old + k] * problem.dt / dt_;
      }
    }
  }
  return gamma;
}

void clamp_into_cones(const std::vector<double>& mu, std::vector<double>& gamma) {
  for (std::size_t c = 0; c < mu.size(); ++c) {
    double* const g = &gamma[3 * c];
    g[0] = std::max(g[0], 0.0);
    const double size = std::hypot(g[1], g[2]), most = mu[c] * g[0];
    if (size > most) {
      g[1] *= most / size;
      g[2] *= most / size;
    }
  }
}

}  // namespace ccp
