#include "solvers/velocity_space/body_order.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <queue>
#include <utility>

#include "problems/base/error.hpp"
#include "solvers/core/trilinos.hpp"
#include "solvers/linear/block_pattern.hpp"

namespace ccp {
namespace {

// ---- order of the bodies, on the host ----------------------------------------------------------

/// Neighbours of every body, by contacts or joints, without the ground; a pair that touches twice
/// appears twice.
struct BodyGraph {
  std::vector<int> offset, neighbour;
  std::vector<int> grounded;  ///< bodies that touch the ground
};

BodyGraph body_graph(const ContactProblem& problem) {
  const std::size_t m = problem.bodies();
  BodyGraph graph;
  graph.offset.assign(m + 1, 0);
  std::vector<std::int32_t> body = problem.contact_bodies;
  body.insert(body.end(), problem.equality.bodies.begin(), problem.equality.bodies.end());
  const std::size_t n = body.size() / 2;
  for (std::size_t c = 0; c < n; ++c) {
    const int a = body[2 * c], b = body[2 * c + 1];
    if (a >= 0 && b >= 0) {
      ++graph.offset[a + 1];
      ++graph.offset[b + 1];
    } else if (a >= 0 || b >= 0) {
      graph.grounded.push_back(std::max(a, b));
    }
  }
  std::partial_sum(graph.offset.begin(), graph.offset.end(), graph.offset.begin());
  graph.neighbour.resize(graph.offset[m]);
  std::vector<int> fill(graph.offset.begin(), graph.offset.end() - 1);
  for (std::size_t c = 0; c < n; ++c) {
    const int a = body[2 * c], b = body[2 * c + 1];
    if (a < 0 || b < 0) continue;
    graph.neighbour[fill[a]++] = b;
    graph.neighbour[fill[b]++] = a;
  }
  return graph;
}

/// Number of contacts on the shortest way from every body to the ground; bodies that hang free of
/// it count from the first of them.
std::vector<double> distance_to_ground(const BodyGraph& graph) {
  const int m = static_cast<int>(graph.offset.size()) - 1;
  std::vector<double> distance(m, -1);
  std::queue<int> queue;
  const auto enter = [&](int i, double value) {
    if (distance[i] >= 0) return;
    distance[i] = value;
    queue.push(i);
  };
  const auto spread = [&] {
    for (; !queue.empty(); queue.pop()) {
      const int i = queue.front();
      for (int k = graph.offset[i]; k < graph.offset[i + 1]; ++k) {
        enter(graph.neighbour[k], distance[i] + 1);
      }
    }
  };
  for (int i : graph.grounded) enter(i, 0);
  spread();
  for (int i = 0; i < m; ++i) {
    enter(i, 0);
    spread();
  }
  return distance;
}

/// Neighbours that make a body a hub (a plate on thousands of spheres). Spheres have some dozen.
constexpr int hub_degree = 100;

/// Bodies in elimination order: the largest key first, and hubs last of all, for eliminating one
/// joins all its neighbours.
std::vector<int> elimination_order(const ContactProblem& problem, const BodyGraph& graph,
                                   std::string ordering) {
  const std::size_t m = problem.bodies();
  const auto& g = problem.gravity;
  const bool gravity_known =
      (g[0] != 0 || g[1] != 0 || g[2] != 0) && problem.position.size() == 3 * m;
  if (ordering == "auto") ordering = gravity_known ? "gravity" : "graph";
  if (ordering == "gravity" && !gravity_known) {
    throw InputError("problem " + problem.name, "solver vipm, ordering=gravity",
                     "gravity and body positions in the problem", "none");
  }
  std::vector<int> order(m);
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> key(m, 0.0);
  if (ordering == "gravity") {
    for (std::size_t i = 0; i < m; ++i) {
      for (int k = 0; k < 3; ++k) key[i] -= g[k] * problem.position[3 * i + k];
    }
  } else if (ordering == "graph") {
    key = distance_to_ground(graph);
  }
  const auto hub = [&](int i) { return graph.offset[i + 1] - graph.offset[i] > hub_degree; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return hub(a) != hub(b) ? hub(b) : key[a] > key[b]; });
  return order;
}

/// The place of each body in an order.
std::vector<int> places(const std::vector<int>& order) {
  std::vector<int> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<int>(k);
  return place;
}

/// Sorts an elimination order depth first: a body comes as soon as all neighbours before it have
/// come, the last that became ready first. No body passes a neighbour, so that the factorisation
/// stays the same; and what a row touches has mostly been touched not long ago, in caches' terms.
void sort_depth_first(const BodyGraph& graph, std::vector<int>& order) {
  const std::vector<int> rank = places(order);
  std::vector<int> waits_for(order.size(), 0), ready, released;
  const auto for_each_later = [&](int i, const auto& act) {
    for (int k = graph.offset[i]; k < graph.offset[i + 1]; ++k) {
      if (rank[graph.neighbour[k]] > rank[i]) act(graph.neighbour[k]);
    }
  };
  const auto first_on_top = [&](int a, int b) { return rank[a] > rank[b]; };
  for (const int i : order) for_each_later(i, [&](int j) { ++waits_for[j]; });
  std::copy_if(order.rbegin(), order.rend(), std::back_inserter(ready),
               [&](int i) { return waits_for[i] == 0; });
  order.clear();
  while (!ready.empty()) {
    const int i = ready.back();
    ready.pop_back();
    order.push_back(i);
    released.clear();
    for_each_later(i, [&](int j) {
      if (--waits_for[j] == 0) released.push_back(j);
    });
    std::sort(released.begin(), released.end(), first_on_top);
    ready.insert(ready.end(), released.begin(), released.end());
  }
}

/// Sorts an elimination order by level: a body's level is one above the highest of the neighbours
/// eliminated before it. The factorisation stays the same; rows of a level become neighbours in
/// memory, those of a level in the order of what they touch in the levels below.
void sort_by_level(const BodyGraph& graph, std::vector<int>& order) {
  const int m = static_cast<int>(order.size());
  const std::vector<int> rank = places(order);
  std::vector<int> level(m, 0);
  int levels = 0;
  for (int i : order) {
    for (int k = graph.offset[i]; k < graph.offset[i + 1]; ++k) {
      const int j = graph.neighbour[k];
      if (rank[j] < rank[i]) level[i] = std::max(level[i], level[j] + 1);
    }
    levels = std::max(levels, level[i] + 1);
  }
  std::vector<int> offset(levels + 1, 0);
  for (int i = 0; i < m; ++i) ++offset[level[i] + 1];
  std::partial_sum(offset.begin(), offset.end(), offset.begin());
  std::vector<int> fill(offset.begin(), offset.end() - 1);
  for (int i = 0; i < m; ++i) order[fill[level[i]]++] = i;

  std::vector<int> position(m);
  std::vector<double> key(m, 0.0);
  for (int l = 0; l < levels; ++l) {
    for (int k = offset[l]; k < offset[l + 1]; ++k) {
      const int i = order[k];
      double sum = 0, count = 0;
      for (int e = graph.offset[i]; e < graph.offset[i + 1]; ++e) {
        const int j = graph.neighbour[e];
        if (level[j] >= l) continue;
        const int width = offset[level[j] + 1] - offset[level[j]];
        sum += static_cast<double>(position[j] - offset[level[j]]) / width;
        count += 1;
      }
      key[i] = count > 0 ? sum / count : i;
    }
    std::stable_sort(order.begin() + offset[l], order.begin() + offset[l + 1],
                     [&](int a, int b) { return key[a] < key[b]; });
    for (int k = offset[l]; k < offset[l + 1]; ++k) position[order[k]] = k;
  }
}

/// Adds the neighbours that eliminating each body once would join, each named once.
BodyGraph filled_graph(const BodyGraph& graph, const std::vector<int>& order) {
  const int m = static_cast<int>(order.size());
  const std::vector<int> rank = places(order);
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < m; ++i) {
    for (int k = graph.offset[i]; k < graph.offset[i + 1]; ++k) {
      const int j = graph.neighbour[k];
      if (rank[i] > rank[j]) pairs.emplace_back(rank[i], rank[j]);
    }
  }
  const LowerRows filled = with_fill(lower_rows(m, std::move(pairs)));
  const auto for_each_pair = [&](const auto& act) {
    for (int i = 0; i < m; ++i) {
      for (int k = filled.offset[i]; k < filled.offset[i + 1]; ++k) {
        act(order[i], order[filled.column[k]]);
        act(order[filled.column[k]], order[i]);
      }
    }
  };
  BodyGraph result;
  result.offset.assign(static_cast<std::size_t>(m) + 1, 0);
  for_each_pair([&](int a, int) { ++result.offset[a + 1]; });
  std::partial_sum(result.offset.begin(), result.offset.end(), result.offset.begin());
  result.neighbour.resize(result.offset[m]);
  std::vector<int> next(result.offset.begin(), result.offset.end() - 1);
  for_each_pair([&](int a, int b) { result.neighbour[next[a]++] = b; });
  for (int a = 0; a < m; ++a) {
    std::sort(result.neighbour.begin() + result.offset[a],
              result.neighbour.begin() + result.offset[a + 1]);
  }
  return result;
}

}  // namespace

BodyOrder order_bodies(const ContactProblem& problem, const std::string& ordering, bool fill) {
  BodyGraph graph = body_graph(problem);
  BodyOrder result;
  result.body = elimination_order(problem, graph, ordering);
  if (fill) graph = filled_graph(graph, result.body);
  // One thread takes rows as they come. Several share those of a level, which they should find in
  // one place.
  if (ExecSpace().concurrency() == 1) {
    sort_depth_first(graph, result.body);
  } else {
    sort_by_level(graph, result.body);
  }
  result.position = places(result.body);
  return result;
}

}  // namespace ccp
