#include "problems/geometry/support_ascent.hpp"

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/sym3.hpp"

namespace ccp {
namespace {

/// A tangent direction of the sphere at n, unit.
Vec3 any_tangent(const Vec3& n) {
  const double x = std::abs(n.x), y = std::abs(n.y), z = std::abs(n.z);
  const Vec3 away = x <= y && x <= z ? Vec3{1, 0, 0} : y <= z ? Vec3{0, 1, 0} : Vec3{0, 0, 1};
  const Vec3 t = cross(n, away);
  return 1 / norm(t) * t;
}

/// A symmetric 2x2 matrix, and what is left of it in planar problems: xx.
struct Curvature {
  double xx = 0, xy = 0, yy = 0;
};

/// (L v): what the semi-axes have of v.
Vec3 along_axes(const RoundSolid& solid, const Vec3& v) {
  return {dot(solid.semi_axis[0], v), dot(solid.semi_axis[1], v), dot(solid.semi_axis[2], v)};
}

/// Adds sign times the second derivative of |L n| along e1 and e2: (L e).(L e) / h, without what
/// lies along L n.
void add_curvature(const RoundSolid& solid, const Vec3& n, const Vec3& e1, const Vec3& e2,
                   double sign, Curvature& sum) {
  const Vec3 ln = along_axes(solid, n);
  const double h = norm(ln);
  if (!(h > 0)) return;
  const Vec3 unit = 1 / h * ln;
  // Projected first, then squared: no difference of large numbers.
  Vec3 l1 = along_axes(solid, e1), l2 = along_axes(solid, e2);
  l1 = l1 - dot(l1, unit) * unit;
  l2 = l2 - dot(l2, unit) * unit;
  sum.xx += sign / h * dot(l1, l1);
  sum.xy += sign / h * dot(l1, l2);
  sum.yy += sign / h * dot(l2, l2);
}

/// Solves (B + shift 1) s = g with the smallest shift for which the matrix is safely positive.
/// Where g vanishes and f is not at a maximum, s leads away along the direction in which f bends
/// upwards.
void uphill_step(const Curvature& b, double g1, double g2, bool planar, double& s1, double& s2) {
  constexpr double tiny = 1e-6, away = 0.1;
  if (planar) {
    s1 = g1 / std::max(std::abs(b.xx), 1e-300), s2 = 0;
    if (b.xx < 0 && std::abs(s1) < tiny) s1 = g1 < 0 ? -away : away;
    return;
  }
  const double mean = 0.5 * (b.xx + b.yy);
  const double spread = std::hypot(0.5 * (b.xx - b.yy), b.xy);
  const double smallest = mean - spread, size = std::max(std::abs(mean) + spread, 1e-300);
  const double shift = smallest > 1e-13 * size ? 0 : std::max(-2 * smallest, 1e-3 * size);
  const double xx = b.xx + shift, yy = b.yy + shift, determinant = xx * yy - b.xy * b.xy;
  s1 = (yy * g1 - b.xy * g2) / determinant;
  s2 = (xx * g2 - b.xy * g1) / determinant;
  if (smallest < -1e-9 * size && std::hypot(s1, s2) < tiny) {
    // The eigenvector of the smallest eigenvalue, from the better of two formulas.
    double v1 = b.xy, v2 = smallest - b.xx;
    if (b.xx < b.yy) v1 = smallest - b.yy, v2 = b.xy;
    const double length = std::hypot(v1, v2);
    v1 = length > 0 ? v1 / length : 1, v2 = length > 0 ? v2 / length : 0;
    const double side = v1 * g1 + v2 * g2 < 0 ? -away : away;
    s1 = side * v1, s2 = side * v2;
  }
}

Vec3 unit_or(const Vec3& v, const Vec3& otherwise) {
  const double size = norm(v);
  return size > 0 ? 1 / size * v : otherwise;
}

}  // namespace

RoundSolid round_solid(const PlacedShape& placed) {
  const auto& size = placed.shape.size;
  const auto& axes = placed.axes;
  if (placed.shape.kind == "sphere")
    return {{size[0] * axes[0], size[0] * axes[1], size[0] * axes[2]}};
  if (placed.shape.kind == "ellipse") return {{size[0] * axes[0], Vec3{}, size[1] * axes[2]}};
  if (placed.shape.kind == "ellipsoid") {
    return {{size[0] * axes[0], size[1] * axes[1], size[2] * axes[2]}};
  }
  throw InputError("round shape", "kind", "sphere, ellipse or ellipsoid",
                   std::string(placed.shape.kind));
}

Support support(const RoundSolid& solid, const Vec3& n) {
  const Vec3 ln = along_axes(solid, n);
  const double h = norm(ln);
  if (!(h > 0)) return {};
  return {
      h,
      1 / h * (ln.x * solid.semi_axis[0] + ln.y * solid.semi_axis[1] + ln.z * solid.semi_axis[2])};
}

double smallest_curvature_radius(const RoundSolid& solid) {
  double least = 0, most = 0;
  for (const Vec3& axis : solid.semi_axis) {
    const double length = norm(axis);
    if (length > 0 && (least == 0 || length < least)) least = length;
    most = std::max(most, length);
  }
  return most > 0 ? least * least / most : 0;
}

double SupportProblem::value(const Vec3& n) const {
  const double reach = norm(along_axes(first, n)) + norm(along_axes(second, n));
  return dot(n, d) + (outer ? reach : -reach);
}

SupportMaximum climb(const SupportProblem& problem, const Vec3& start) {
  constexpr int most_steps = 100;
  const double sign = problem.outer ? 1 : -1;
  Vec3 n = start;
  double value = problem.value(n);
  for (int step = 0; step < most_steps; ++step) {
    const Vec3 e1 = problem.planar ? cross(problem.axis, n) : any_tangent(n);
    const Vec3 e2 = cross(n, e1);
    const Vec3 gradient =
        problem.d + sign * (support(problem.first, n).point + support(problem.second, n).point);
    const double g1 = dot(gradient, e1), g2 = problem.planar ? 0 : dot(gradient, e2);
    Curvature b{value, 0, value};  // of minus f on the sphere
    add_curvature(problem.first, n, e1, e2, -sign, b);
    add_curvature(problem.second, n, e1, e2, -sign, b);
    double s1, s2;
    uphill_step(b, g1, g2, problem.planar, s1, s2);
    const double length = std::hypot(s1, s2);
    if (!(length > 0)) break;
    double scale = length > 1 ? 1 / length : 1;  // at most 45 degrees
    bool better = false;
    for (int halving = 0; halving < 40; ++halving, scale *= 0.5) {
      const Vec3 next = n + scale * s1 * e1 + scale * s2 * e2;
      const Vec3 candidate = 1 / norm(next) * next;
      const double there = problem.value(candidate);
      // A last step is below what f resolves, but not below what n does.
      if (there > value || (halving == 0 && length < 1e-6)) {
        better = there > value;
        n = candidate, value = there;
        break;
      }
    }
    if (!better) break;
  }
  return {n, value};
}

SupportMaximum maximize(const SupportProblem& problem, double enough) {
  const RoundSolid &a = problem.first, &b = problem.second;
  const Vec3 fallback =
      problem.planar ? cross(problem.axis, unit_or(a.semi_axis[0], {1, 0, 0})) : Vec3{0, 0, 1};
  // Along the line of centres, and along the normal there of an ellipsoid like the sum of both.
  const Vec3 line = unit_or(problem.d, unit_or(fallback, {0, 0, 1}));
  const Sym3 shape = symmetric([&](int i, int j) {
    double sum = 0;
    for (const RoundSolid* solid : {&a, &b}) {
      for (const Vec3& axis : solid->semi_axis) {
        const double v[3] = {axis.x, axis.y, axis.z};
        sum += v[i] * v[j];
      }
    }
    return sum;
  });
  Vec3 start = line;
  double best_start = problem.value(line);
  if (!problem.planar) {
    const Vec3 other = unit_or(inverse(shape) * line, line);
    const double there = problem.value(other);
    if (there > best_start) start = other, best_start = there;
  }
  if (best_start > enough) return {start, best_start};
  SupportMaximum best = climb(problem, start);
  if (-best.value <= smallest_curvature_radius(a) + smallest_curvature_radius(b)) return best;
  for (const RoundSolid* solid : {&a, &b}) {
    for (const Vec3& axis : solid->semi_axis) {
      Vec3 along = axis;
      if (problem.planar) along = along - dot(along, problem.axis) * problem.axis;
      if (!(norm(along) > 0)) continue;
      for (const double side : {1.0, -1.0}) {
        const SupportMaximum found = climb(problem, side / norm(along) * along);
        // Better by more than rounding, so that the choice between equals does not hang on it.
        if (found.value > best.value + 1e-13 * std::abs(best.value)) best = found;
      }
    }
  }
  return best;
}

}  // namespace ccp
