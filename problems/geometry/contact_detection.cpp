#include "problems/geometry/contact_detection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nanoflann.hpp>

#include "problems/base/error.hpp"
#include "problems/geometry/sphere_pairs.hpp"

namespace ccp {
namespace {

/// Sphere centres in the shape nanoflann asks for.
struct Centres {
  const std::vector<double>& position;
  std::size_t kdtree_get_point_count() const { return position.size() / 3; }
  double kdtree_get_pt(std::size_t i, std::size_t axis) const { return position[3 * i + axis]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using KdTree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Centres>,
                                                   Centres, 3, std::size_t>;

double length(const double* v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

}  // namespace

std::vector<Candidate> find_candidates(const Spheres& spheres, double cutoff, double sweep) {
  std::vector<Candidate> candidates;
  const std::size_t m = spheres.count();
  if (m == 0) return candidates;
  std::vector<double> speed(m);
  for (std::size_t i = 0; i < m; ++i) speed[i] = length(&spheres.velocity[3 * i]);
  for (std::size_t i = 0; i < m; ++i) {
    const double gap = plane_sphere(ground, spheres.placed(i)).gap;
    const double closing = std::max(0.0, -spheres.velocity[3 * i + 2]);
    if (gap < cutoff + sweep * closing) {
      candidates.push_back({-1, static_cast<std::int32_t>(i), gap});
    }
  }
  const double largest = *std::max_element(spheres.radius.begin(), spheres.radius.end());
  const double fastest = *std::max_element(speed.begin(), speed.end());
  const Centres centres{spheres.position};
  const KdTree tree(3, centres, nanoflann::KDTreeSingleIndexAdaptorParams(16));
  std::vector<std::pair<std::size_t, double>> found;
  nanoflann::SearchParams parameters;
  parameters.sorted = false;
  for (std::size_t i = 0; i < m; ++i) {
    const double reach =
        std::max(0.0, spheres.radius[i] + largest + cutoff + sweep * (speed[i] + fastest));
    found.clear();
    tree.radiusSearch(&spheres.position[3 * i], reach * reach, found, parameters);
    for (const auto& [j, squared] : found) {
      if (j <= i) continue;
      const double gap = sphere_sphere(spheres.placed(i), spheres.placed(j)).gap;
      double closing = 0;  // speed of approach times the distance
      for (int k = 0; k < 3; ++k) {
        closing -= (spheres.velocity[3 * j + k] - spheres.velocity[3 * i + k]) *
                   (spheres.position[3 * j + k] - spheres.position[3 * i + k]);
      }
      if (gap < cutoff + (closing > 0 ? sweep * closing / std::sqrt(squared) : 0)) {
        candidates.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), gap});
      }
    }
  }
  std::sort(candidates.begin(), candidates.end(), by_bodies);
  return candidates;
}

std::size_t papers_contacts(std::size_t spheres) {
  switch (spheres) {
    case 2048:
      return 8378;
    case 5040:
      return 21050;
    case 10192:
      return 43409;
    default:
      return 0;
  }
}

std::vector<Candidate> nearest_candidates(const Spheres& spheres, std::size_t count) {
  if (count == 0 || spheres.count() == 0) {
    if (count > 0) throw InputError(fmt::format("{} contacts asked for, but no spheres", count));
    return {};
  }
  const double largest = *std::max_element(spheres.radius.begin(), spheres.radius.end());
  std::vector<Candidate> candidates;
  for (const double reach : {0.5, 1.0, 2.0}) {  // gap in largest radii
    candidates = find_candidates(spheres, reach * largest);
    if (candidates.size() >= count) break;
  }
  if (candidates.size() < count) {
    throw InputError(fmt::format("{} contacts asked for, but only {} pairs are within reach", count,
                                 candidates.size()));
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    return x.gap != y.gap ? x.gap < y.gap : by_bodies(x, y);
  });
  candidates.resize(count);
  std::sort(candidates.begin(), candidates.end(), by_bodies);
  return candidates;
}

}  // namespace ccp
