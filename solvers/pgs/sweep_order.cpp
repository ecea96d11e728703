#include "solvers/pgs/sweep_order.hpp"

#include <algorithm>
#include <numeric>

namespace ccp {
namespace {

bool moves(const ContactProblem& problem, int body) {
  if (body < 0) return false;
  if (problem.inverse_mass[body] > 0) return true;
  if (!problem.rotates()) return false;
  const double* inertia = &problem.inverse_inertia[9 * static_cast<std::size_t>(body)];
  return inertia[0] > 0 || inertia[4] > 0 || inertia[8] > 0;
}

/// First fit: `neighbours(c, visit)` calls visit(colour) for the colours that contact c cannot
/// have; `taken(c, colour)` is told what it got.
template <class Forbidden, class Taken>
std::vector<int> first_fit(int contacts, const Forbidden& forbidden, const Taken& taken) {
  std::vector<int> color(contacts), seen;
  for (int c = 0; c < contacts; ++c) {
    forbidden(c, [&](int other) {
      if (other >= static_cast<int>(seen.size())) seen.resize(other + 1, -1);
      seen[other] = c;
    });
    int k = 0;
    while (k < static_cast<int>(seen.size()) && seen[k] == c) ++k;
    color[c] = k;
    taken(c, k);
  }
  return color;
}

}  // namespace

SweepOrder sequential_order(const ContactProblem& problem) {
  const int n = static_cast<int>(problem.contacts());
  SweepOrder order;
  order.contacts.resize(n);
  std::iota(order.contacts.begin(), order.contacts.end(), 0);
  if (problem.form == ContactProblem::Form::assembled) return order;

  constexpr int distance = 6;                              // visits between two of one body
  constexpr int reach = 64;                                // how far ahead a contact may be taken
  std::vector<int> last(problem.bodies(), -distance - 1);  // the place where a body was visited
  std::vector<int> waiting(order.contacts.begin(), order.contacts.begin() + std::min(n, reach));
  int next = static_cast<int>(waiting.size());
  const auto is_fresh = [&](int contact, int place) {
    for (int side = 0; side < 2; ++side) {
      const int body = problem.contact_bodies[2 * static_cast<std::size_t>(contact) + side];
      if (moves(problem, body) && place - last[body] <= distance) return false;
    }
    return true;
  };
  for (int place = 0; place < n; ++place) {
    auto chosen = std::find_if(waiting.begin(), waiting.end(),
                               [&](int contact) { return is_fresh(contact, place); });
    if (chosen == waiting.end()) chosen = waiting.begin();
    const int contact = *chosen;
    order.contacts[place] = contact;
    for (int side = 0; side < 2; ++side) {
      const int body = problem.contact_bodies[2 * static_cast<std::size_t>(contact) + side];
      if (body >= 0) last[body] = place;
    }
    waiting.erase(chosen);
    if (next < n) waiting.push_back(next++);
  }
  return order;
}

SweepOrder colored_order(const ContactProblem& problem) {
  const int n = static_cast<int>(problem.contacts());
  std::vector<int> color;
  if (problem.form == ContactProblem::Form::assembled) {
    const BlockMatrix& matrix = problem.delassus;
    std::vector<int> given(n, -1);
    color = first_fit(
        n,
        [&](int c, const auto& visit) {
          for (std::int64_t k = matrix.row_offsets[c]; k < matrix.row_offsets[c + 1]; ++k) {
            if (given[matrix.columns[k]] >= 0) visit(given[matrix.columns[k]]);
          }
        },
        [&](int c, int k) { given[c] = k; });
  } else {
    std::vector<std::vector<int>> of_body(problem.bodies());
    const auto for_moving_bodies = [&](int c, const auto& act) {
      for (int side = 0; side < 2; ++side) {
        const int body = problem.contact_bodies[2 * static_cast<std::size_t>(c) + side];
        if (moves(problem, body)) act(of_body[body]);
      }
    };
    color = first_fit(
        n,
        [&](int c, const auto& visit) {
          for_moving_bodies(c, [&](const auto& colors) {
            for (const int k : colors) visit(k);
          });
        },
        [&](int c, int k) { for_moving_bodies(c, [k](auto& colors) { colors.push_back(k); }); });
  }

  SweepOrder order;
  const int colors = color.empty() ? 0 : *std::max_element(color.begin(), color.end()) + 1;
  order.colors.assign(colors + 1, 0);
  for (const int k : color) ++order.colors[k + 1];
  std::partial_sum(order.colors.begin(), order.colors.end(), order.colors.begin());
  order.contacts.resize(n);
  std::vector<int> fill(order.colors.begin(), order.colors.end());
  for (int c = 0; c < n; ++c) order.contacts[fill[color[c]]++] = c;
  return order;
}

}  // namespace ccp
