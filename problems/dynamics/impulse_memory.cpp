#include "problems/dynamics/impulse_memory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

/// The identities of a problem's contacts; those of their bodies where it has none.
std::vector<std::int64_t> identities_of(const ContactProblem& problem) {
  if (!problem.identity.empty() || problem.contacts() == 0) return problem.identity;
  std::vector<std::int64_t> pairs;
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    pairs.push_back(
        pair_identity(problem.contact_bodies[2 * c], problem.contact_bodies[2 * c + 1]));
  }
  return pairs;
}

}  // namespace

std::int64_t pair_identity(std::int32_t a, std::int32_t b) {
  return (static_cast<std::int64_t>(a) + 1) * (std::int64_t{1} << 32) + b;
}

void ImpulseMemory::keep(const ContactProblem& problem, const std::vector<double>& gamma) {
  const std::vector<std::int64_t> identity = identities_of(problem);
  std::vector<std::size_t> order(identity.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t x, std::size_t y) { return identity[x] < identity[y]; });
  dt_ = problem.dt;
  identity_.resize(identity.size());
  impulse_.resize(gamma.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t c = order[k];
    identity_[k] = identity[c];
    const Vec3 p = to_world_axes(&problem.frame[9 * c], triple(gamma, c));
    impulse_[3 * k] = p.x, impulse_[3 * k + 1] = p.y, impulse_[3 * k + 2] = p.z;
  }
}

std::vector<double> ImpulseMemory::recall(const ContactProblem& problem) const {
  const std::vector<std::int64_t> identity = identities_of(problem);
  std::vector<double> gamma(3 * problem.contacts(), 0.0);
  for (std::size_t c = 0; c < identity.size(); ++c) {
    const auto found = std::lower_bound(identity_.begin(), identity_.end(), identity[c]);
    if (found == identity_.end() || *found != identity[c]) continue;  // it was not there
    const auto old = static_cast<std::size_t>(found - identity_.begin());
    const double* frame = &problem.frame[9 * c];
    for (int row = 0; row < 3; ++row) {
      for (int k = 0; k < 3; ++k) {
        gamma[3 * c + row] += frame[3 * row + k] * impulse_[3 * old + k] * problem.dt / dt_;
      }
    }
  }
  return gamma;
}

void ImpulseMemory::save(StepperMemory& memory) const {
  memory.identities["impulses"] = identity_;
  memory.numbers["impulses"] = impulse_;
  memory.numbers["impulses_dt"] = {dt_};
}

void ImpulseMemory::restore(const StepperMemory& memory) {
  identity_ = memory.identities.at("impulses");
  impulse_ = memory.numbers.at("impulses");
  dt_ = memory.numbers.at("impulses_dt").at(0);
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
