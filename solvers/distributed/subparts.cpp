#include "solvers/distributed/subparts.hpp"

#include <algorithm>

#include "problems/model/incidence.hpp"
#include "problems/partition/partition.hpp"

namespace ccp {
namespace {

/// The piece of each of the rank's bodies.
std::vector<int> pieces_of(const OverlappedPart& reach, const Distribution& distribution,
                           int parts) {
  const Ranks& ranks = distribution.ranks;
  const std::vector<std::int32_t>& pairs = reach.problem.contact_bodies;
  const std::vector<std::int64_t> count = contacts_of_bodies(pairs, reach.problem.bodies());
  const auto owned = static_cast<std::size_t>(reach.bodies->owned()),
             contacts = static_cast<std::size_t>(reach.contacts->owned());
  const auto is_own = [&](std::int32_t body) {
    return body >= 0 && static_cast<std::size_t>(body) < owned;
  };
  const auto count_of = [&](std::int32_t body) {
    return body < 0 ? 0 : count[static_cast<std::size_t>(body)];
  };
  std::vector<std::int64_t> at_home(owned, 0);
  for (std::size_t c = 0; c < contacts; ++c) {
    const std::int32_t a = pairs[2 * c], b = pairs[2 * c + 1];
    // A contact is at home on its rank; what the other side counts is not known without overlap.
    const std::int32_t home = !is_own(a)   ? b
                              : !is_own(b) ? a
                                           : home_body(a, b, count_of(a), count_of(b));
    if (is_own(home)) ++at_home[static_cast<std::size_t>(home)];
  }
  std::int64_t before = ranks.sum_before(static_cast<long long>(contacts));
  const int first = ranks.rank() * parts;
  std::vector<int> piece;
  for (const std::int64_t own : at_home) {
    const int of_all = contiguous_rank(before, own, distribution.contacts, ranks.size() * parts);
    piece.push_back(std::clamp(of_all - first, 0, parts - 1));
    before += own;
  }
  return piece;
}

/// What is around the bodies of a list, which it goes on with, in ascending order.
void grow(std::vector<int>& bodies, const OverlappedPart& reach, const Incidence& incidence,
          int layers) {
  const std::vector<std::int32_t>& pairs = reach.problem.contact_bodies;
  const auto is_hub = [&](int body) {
    return is_hub_of(incidence.offset[body + 1] - incidence.offset[body]);
  };
  std::vector<char> taken(reach.problem.bodies(), 0);
  for (const int body : bodies) taken[static_cast<std::size_t>(body)] = 1;
  const auto own = static_cast<std::ptrdiff_t>(bodies.size());
  std::size_t begin = 0;
  for (int layer = 0; layer < layers; ++layer) {
    const std::size_t end = bodies.size();
    for (; begin < end; ++begin) {
      const int here = bodies[begin];
      if (is_hub(here)) continue;
      for (int k = incidence.offset[here]; k < incidence.offset[here + 1]; ++k) {
        const std::int32_t there = pairs[static_cast<std::size_t>(incidence.side[k] ^ 1)];
        if (there < 0 || taken[static_cast<std::size_t>(there)] != 0 || is_hub(there)) continue;
        taken[static_cast<std::size_t>(there)] = 1;
        bodies.push_back(there);
      }
    }
  }
  std::sort(bodies.begin() + own, bodies.end());
}

void take_rows(const std::vector<double>& from, const std::vector<int>& places, std::size_t width,
               std::vector<double>& to) {
  for (const int place : places) {
    const auto row = from.begin() + static_cast<std::ptrdiff_t>(width) * place;
    to.insert(to.end(), row, row + static_cast<std::ptrdiff_t>(width));
  }
}

Subpart made_of(const OverlappedPart& reach, const Incidence& incidence, std::vector<int> bodies,
                int own) {
  const ContactProblem& all = reach.problem;
  Subpart result;
  result.own = own;
  std::vector<std::int32_t> place(all.bodies(), -1);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const int body = bodies[i];
    place[static_cast<std::size_t>(body)] = static_cast<std::int32_t>(i);
    for (int k = incidence.offset[body]; k < incidence.offset[body + 1]; ++k) {
      result.contacts.push_back(incidence.side[k] / 2);
    }
  }
  std::sort(result.contacts.begin(), result.contacts.end());
  result.contacts.erase(std::unique(result.contacts.begin(), result.contacts.end()),
                        result.contacts.end());
  ContactProblem& problem = result.problem;
  problem.name = all.name;
  for (const int c : result.contacts) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t body = all.contact_bodies[2 * static_cast<std::size_t>(c) + side];
      problem.contact_bodies.push_back(body < 0 ? -1 : place[static_cast<std::size_t>(body)]);
    }
  }
  problem.mu.assign(result.contacts.size(), 0.0);
  take_rows(all.inverse_mass, bodies, 1, problem.inverse_mass);
  problem.gravity = all.gravity;
  if (!all.position.empty()) take_rows(all.position, bodies, 3, problem.position);
  if (all.rotates()) {
    take_rows(all.inverse_inertia, bodies, 9, problem.inverse_inertia);
    take_rows(all.arm_a, result.contacts, 3, problem.arm_a);
    take_rows(all.arm_b, result.contacts, 3, problem.arm_b);
  }
  result.bodies = std::move(bodies);
  return result;
}

}  // namespace

std::vector<Subpart> subparts(const OverlappedPart& reach, const Distribution& distribution,
                              int parts, int layers) {
  const std::vector<int> piece = pieces_of(reach, distribution, parts);
  const Incidence incidence = incidence_of(reach.problem.contact_bodies, reach.problem.bodies());
  std::vector<Subpart> result;
  for (int p = 0; p < parts; ++p) {
    std::vector<int> bodies;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      if (piece[i] == p) bodies.push_back(static_cast<int>(i));
    }
    const int own = static_cast<int>(bodies.size());
    if (own == 0) continue;
    grow(bodies, reach, incidence, layers);
    result.push_back(made_of(reach, incidence, std::move(bodies), own));
  }
  return result;
}

}  // namespace ccp
