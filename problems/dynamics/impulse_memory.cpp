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
  const std::size_t n = identity.size(), rolling = problem.rolling.size();
  identity_.resize(n);
  impulse_.resize(3 * n);
  moment_.assign(rolling > 0 ? 3 * n : 0, 0.0);
  std::vector<std::size_t> place(n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t c = order[k];
    place[c] = k;
    identity_[k] = identity[c];
    set_triple(impulse_, k, to_world_axes(&problem.frame[9 * c], triple(gamma, c)));
  }
  for (std::size_t k = 0; k < rolling; ++k) {
    const auto c = static_cast<std::size_t>(problem.rolling.contact[k]);
    set_triple(moment_, place[c], to_world_axes(&problem.frame[9 * c], triple(gamma, n + k)));
  }
  joint_.assign(gamma.begin() + static_cast<std::ptrdiff_t>(3 * (n + rolling)), gamma.end());
}

std::vector<double> ImpulseMemory::recall(const ContactProblem& problem) const {
  const std::vector<std::int64_t> identity = identities_of(problem);
  const std::size_t n = problem.contacts();
  std::vector<double> gamma(3 * problem.triples(), 0.0);
  // In triple t of gamma, in the axes of contact c, what was kept at place `old`.
  const auto add = [&](std::size_t t, std::size_t c, const std::vector<double>& kept,
                       std::size_t old) {
    const double* frame = &problem.frame[9 * c];
    for (int row = 0; row < 3; ++row) {
      for (int k = 0; k < 3; ++k) {
        gamma[3 * t + row] += frame[3 * row + k] * kept[3 * old + k] * problem.dt / dt_;
      }
    }
  };
  std::size_t next = 0;  // rolling triple; they are ordered by their contacts
  for (std::size_t c = 0; c < identity.size(); ++c) {
    const bool rolls = next < problem.rolling.size() &&
                       static_cast<std::size_t>(problem.rolling.contact[next]) == c;
    const std::size_t own = n + next;
    next += rolls;
    const auto found = std::lower_bound(identity_.begin(), identity_.end(), identity[c]);
    if (found == identity_.end() || *found != identity[c]) continue;  // it was not there
    const auto old = static_cast<std::size_t>(found - identity_.begin());
    add(c, c, impulse_, old);
    if (!rolls || moment_.empty()) continue;
    add(own, c, moment_, old);
    if (!problem.rolling.twists(own - n)) gamma[3 * own] = 0;  // the normal has turned
  }
  if (joint_.size() == 3 * problem.equality.size()) {
    const std::size_t first = 3 * (n + problem.rolling.size());
    for (std::size_t i = 0; i < joint_.size(); ++i) gamma[first + i] = joint_[i] * problem.dt / dt_;
  }
  return gamma;
}

void ImpulseMemory::save(StepperMemory& memory) const {
  memory.identities["impulses"] = identity_;
  memory.numbers["impulses"] = impulse_;
  memory.numbers["impulses_dt"] = {dt_};
  if (!moment_.empty()) memory.numbers["moments"] = moment_;
  if (!joint_.empty()) memory.numbers["joints"] = joint_;
}

void ImpulseMemory::restore(const StepperMemory& memory) {
  identity_ = memory.identities.at("impulses");
  impulse_ = memory.numbers.at("impulses");
  dt_ = memory.numbers.at("impulses_dt").at(0);
  const auto optional = [&](const char* name) {
    const auto found = memory.numbers.find(name);
    return found == memory.numbers.end() ? std::vector<double>() : found->second;
  };
  moment_ = optional("moments");
  joint_ = optional("joints");
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

void clamp_into_cones(const ContactProblem& problem, std::vector<double>& gamma) {
  clamp_into_cones(problem.mu, gamma);
  for (std::size_t k = 0; k < problem.rolling.size(); ++k) {
    const std::size_t t = problem.contacts() + k;
    const Vec3 moment = triple(gamma, t);
    const double size = norm(moment);
    const double most =
        problem.rolling.rho[k] * gamma[3 * static_cast<std::size_t>(problem.rolling.contact[k])];
    if (size > most) set_triple(gamma, t, most / size * moment);
  }
}

}  // namespace ccp
