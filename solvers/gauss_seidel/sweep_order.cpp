#include "solvers/gauss_seidel/sweep_order.hpp"

#include <algorithm>
#include <numeric>

#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

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
  if (problem.form == ContactProblem::Form::assembled) {  // every row may need the one before it
    order.contacts.resize(n);
    order.groups.resize(n + 1);
    std::iota(order.contacts.begin(), order.contacts.end(), 0);
    std::iota(order.groups.begin(), order.groups.end(), 0);
    return order;
  }
  // A group is filled from the contacts that wait, oldest first, with those whose bodies it does
  // not have yet.
  constexpr int reach = 64;
  std::vector<int> group_of(problem.bodies(), -1), waiting;
  int next = 0, group = 0;
  const auto bodies_of = [&](int contact, const auto& act) {
    for (int side = 0; side < 2; ++side) {
      const int body = problem.contact_bodies[2 * static_cast<std::size_t>(contact) + side];
      if (is_movable(problem, body)) act(group_of[body]);
    }
  };
  order.groups.push_back(0);
  for (; static_cast<int>(order.contacts.size()) < n; ++group) {
    while (next < n && static_cast<int>(waiting.size()) < reach) waiting.push_back(next++);
    int count = 0;
    const auto taken = [&](int contact) {
      bool free = count < SweepOrder::lanes;
      bodies_of(contact, [&](int& last) { free = free && last != group; });
      if (!free) return false;
      bodies_of(contact, [&](int& last) { last = group; });
      order.contacts.push_back(contact);
      ++count;
      return true;
    };
    waiting.erase(std::remove_if(waiting.begin(), waiting.end(), taken), waiting.end());
    order.groups.push_back(static_cast<int>(order.contacts.size()));
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
        if (is_movable(problem, body)) act(of_body[body]);
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

  const int colors = color.empty() ? 0 : *std::max_element(color.begin(), color.end()) + 1;
  std::vector<int> begin(colors + 1, 0);
  for (const int k : color) ++begin[k + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  SweepOrder order;
  order.contacts.resize(n);
  std::vector<int> fill = begin;
  for (int c = 0; c < n; ++c) order.contacts[fill[color[c]]++] = c;
  for (int k = 0; k < colors; ++k) {
    order.colors.push_back(static_cast<int>(order.groups.size()));
    for (int i = begin[k]; i < begin[k + 1]; i += SweepOrder::lanes) order.groups.push_back(i);
  }
  order.colors.push_back(static_cast<int>(order.groups.size()));
  order.groups.push_back(n);
  return order;
}

}  // namespace ccp
