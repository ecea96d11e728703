#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "problems/geometry/pair_table.hpp"
#include "problems/geometry/shape_table.hpp"

namespace ccp::test {

/// Random shapes and poses, and what can be said of them by trying all directions.
class RandomShapes {
 public:
  explicit RandomShapes(unsigned seed) : engine_(seed) {}

  double uniform(double low, double high) {
    // Not std::uniform_real_distribution: its numbers differ between libraries.
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  Vec3 direction() {
    for (;;) {
      const Vec3 v{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      const double size = norm(v);
      if (size > 0.1 && size <= 1) return 1 / size * v;
    }
  }
  Quaternion orientation() { return rotation(uniform(0, 6) * direction()); }
  /// Sizes between 0.1 and 1 m.
  Shape shape(std::string_view kind) {
    std::vector<double> sizes;
    for (std::size_t k = 0; k < shape_kind(kind).sizes.size(); ++k) {
      sizes.push_back(std::pow(10, uniform(-1, 0)));
    }
    return make_shape(kind, sizes);
  }

 private:
  std::mt19937_64 engine_;
};

/// max over the points x of a shape of n.x, from its position.
inline double reach(const PlacedShape& placed, const Vec3& n) {
  const auto& size = placed.shape.size;
  const std::string_view kind = placed.shape.kind;
  const double x = dot(placed.axes[0], n), y = dot(placed.axes[1], n), z = dot(placed.axes[2], n);
  if (kind == "sphere") return size[0] * norm(n);
  if (kind == "rod") return size[0] * std::abs(x);
  if (kind == "ellipse") return std::hypot(size[0] * x, size[1] * z);
  const Vec3 part{size[0] * x, size[1] * y, size[2] * z};
  return kind == "box" ? std::abs(part.x) + std::abs(part.y) + std::abs(part.z) : norm(part);
}

/// How far two shapes are apart along n; no larger than their signed distance, for any n.
inline double separation(const PlacedShape& a, const PlacedShape& b, const Vec3& n) {
  return dot(n, b.position - a.position) - reach(a, n) - reach(b, n);
}

/// Whether a point is in a shape, or no farther than `tolerance` outside.
inline bool contains(const PlacedShape& placed, const Vec3& point, double tolerance) {
  const Vec3 x = point - placed.position;
  const auto& size = placed.shape.size;
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const double along = dot(placed.axes[k], x);
    if (placed.shape.kind == "box") {
      if (std::abs(along) > size[k] + tolerance) return false;
    } else {
      const double semi = placed.shape.kind == "sphere" ? size[0] : size[k];
      sum += along * along / (semi * semi);
    }
  }
  return std::sqrt(sum) <= 1 + tolerance;
}

/// Directions all over the sphere: a spiral.
inline std::vector<Vec3> directions(int count) {
  std::vector<Vec3> found;
  for (int k = 0; k < count; ++k) {
    const double z = 1 - (2 * k + 1.0) / count, r = std::sqrt(1 - z * z);
    const double angle = k * 2.399963229728653;  // the golden angle
    found.push_back({r * std::cos(angle), r * std::sin(angle), z});
  }
  return found;
}

/// The signed distance by brute force: the largest separation over given directions, and uphill
/// from the `starts` best ones by trying the neighbours in smaller and smaller circles. From below.
/// @param axis  for planar shapes: only directions across it; zero: all
inline double brute_force(const PlacedShape& a, const PlacedShape& b,
                          const std::vector<Vec3>& directions, int starts, const Vec3& axis = {}) {
  std::vector<std::pair<double, std::size_t>> value(directions.size());
  for (std::size_t k = 0; k < directions.size(); ++k) {
    value[k] = {-separation(a, b, directions[k]), k};
  }
  std::partial_sort(value.begin(), value.begin() + starts, value.end());
  constexpr double r = 0.7071067811865476;
  constexpr double eighth[8][2] = {{1, 0},  {r, r},   {0, 1},  {-r, r},
                                   {-1, 0}, {-r, -r}, {0, -1}, {r, -r}};
  double best = -value[0].first;
  for (int s = 0; s < starts; ++s) {
    Vec3 n = directions[value[static_cast<std::size_t>(s)].second];
    double here = -value[static_cast<std::size_t>(s)].first;
    double step = 0.1;
    for (int round = 0; round < 200 && step > 1e-8; ++round) {  // ridges are climbed in tiny steps
      const Vec3 other = std::abs(n.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
      const Vec3 t1 = norm(axis) > 0 ? cross(axis, n) : 1 / norm(cross(n, other)) * cross(n, other);
      const Vec3 t2 = cross(n, t1);
      bool better = false;
      const int count = norm(axis) > 0 ? 2 : 8;
      for (int k = 0; k < count; ++k) {
        Vec3 next = n + step * (count == 2 ? 1 - 2 * k : eighth[k][0]) * t1;
        if (count == 8) next = next + step * eighth[k][1] * t2;
        next = 1 / norm(next) * next;
        const double there = separation(a, b, next);
        if (there > here) here = there, n = next, better = true;
      }
      if (!better) step *= 0.5;
    }
    best = std::max(best, here);
  }
  return best;
}

}  // namespace ccp::test
