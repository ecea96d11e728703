#include "problems/dynamics/pseudo_rigid.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ccp {
namespace {

double trace(const Mat3& a) {
  return a[0] + a[4] + a[8];
}

Mat3 combined(double s, const Mat3& a, double t, const Mat3& b) {
  Mat3 c;
  for (int i = 0; i < 9; ++i) c[i] = s * a[i] + t * b[i];
  return c;
}

/// lambda tr(e) 1 + 2 shear e of a symmetric strain.
Mat3 stress(const Elasticity& body, const Mat3& strain) {
  return combined(body.lambda * trace(strain), identity3(), 2 * body.shear, strain);
}

Mat3 green_strain(const Mat3& f) {
  return combined(0.5, transposed(f) * f, -0.5, identity3());
}

/// Columns of a rotation matrix.
Quaternion quaternion_of(const Mat3& r) {
  // The largest of the four squares first, so that nothing is divided by what is nearly zero.
  const double square[4] = {1 + r[0] + r[4] + r[8], 1 + r[0] - r[4] - r[8], 1 - r[0] + r[4] - r[8],
                            1 - r[0] - r[4] + r[8]};
  int most = 0;
  for (int k = 1; k < 4; ++k) {
    if (square[k] > square[most]) most = k;
  }
  const double big = 0.5 * std::sqrt(square[most]), part = 0.25 / big;
  const double wx = part * (r[7] - r[5]), wy = part * (r[2] - r[6]), wz = part * (r[3] - r[1]);
  const double xy = part * (r[1] + r[3]), xz = part * (r[2] + r[6]), yz = part * (r[5] + r[7]);
  Quaternion q;
  if (most == 0) q = {big, wx, wy, wz};
  if (most == 1) q = {wx, big, xy, xz};
  if (most == 2) q = {wy, xy, big, yz};
  if (most == 3) q = {wz, xz, yz, big};
  return normalized(q);
}

/// The rotation of the polar decomposition by Newton's iteration (Higham 1986).
Mat3 polar_rotation(const Mat3& f) {
  Mat3 r = f;
  for (int k = 0; k < 50; ++k) {
    const Mat3 next = combined(0.5, r, 0.5, transposed(inverted(r)));
    double change = 0;
    for (int i = 0; i < 9; ++i) change = std::max(change, std::abs(next[i] - r[i]));
    r = next;
    if (!(change > 1e-15)) break;
  }
  return r;
}

/// Turns a symmetric matrix by Jacobi's rotations until it is diagonal. @return the turn: a = v d
/// v^T
Mat3 diagonalise(Mat3& a) {
  Mat3 v = identity3();
  for (int sweep = 0; sweep < 30; ++sweep) {
    const double off = a[1] * a[1] + a[2] * a[2] + a[5] * a[5];
    if (!(off > 1e-34 * trace(a) * trace(a))) break;
    for (const auto& [p, q] : {std::pair<int, int>{0, 1}, {0, 2}, {1, 2}}) {
      const double entry = a[3 * p + q];
      if (entry == 0) continue;
      const double theta = (a[4 * q] - a[4 * p]) / (2 * entry);
      const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
      const double c = 1 / std::sqrt(t * t + 1), s = t * c;
      Mat3 turn = identity3();
      turn[4 * p] = turn[4 * q] = c;
      turn[3 * p + q] = s, turn[3 * q + p] = -s;
      a = transposed(turn) * a * turn;
      v = v * turn;
    }
  }
  return v;
}

}  // namespace

Elasticity elasticity_of(double young, double poisson, double damping, double volume,
                         const Vec3& inertia) {
  Elasticity body;
  body.lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  body.shear = young / (2 * (1 + poisson));
  body.damping = damping;
  body.volume = volume;
  const double half = 0.5 * (inertia.x + inertia.y + inertia.z);
  body.euler = {half - inertia.x, half - inertia.y, half - inertia.z};
  return body;
}

double strain_energy(const Elasticity& body, const Mat3& f) {
  const Mat3 e = green_strain(f);
  double square = 0;
  for (const double entry : e.a) square += entry * entry;
  return body.volume * (0.5 * body.lambda * trace(e) * trace(e) + body.shear * square);
}

Mat3 internal_force(const Elasticity& body, const Mat3& f) {
  return combined(-body.volume, f * stress(body, green_strain(f)), 0, identity3());
}

Mat3 stiffness_times(const Elasticity& body, const Mat3& f, const Mat3& d) {
  const Mat3 rate = transposed(f) * d;
  return combined(body.volume, f * stress(body, combined(0.5, rate, 0.5, transposed(rate))), 0,
                  identity3());
}

ImplicitInertia::ImplicitInertia(const Elasticity& body, const Mat3& f, double dt) {
  const double weight = 0.5 * body.damping * dt + 0.25 * dt * dt;
  const double euler[3] = {body.euler.x, body.euler.y, body.euler.z};
  double* const a = factor_.data();
  for (int k = 0; k < 9; ++k) {
    Mat3 unit;
    unit[k] = 1;
    const Mat3 column = stiffness_times(body, f, unit);
    for (int i = 0; i < 9; ++i) a[9 * i + k] = weight * column[i];
    a[10 * k] += euler[k % 3];
  }
  for (int j = 0; j < 9; ++j) {  // Cholesky
    for (int i = j; i < 9; ++i) {
      double sum = a[9 * i + j];
      for (int k = 0; k < j; ++k) sum -= a[9 * i + k] * a[9 * j + k];
      a[9 * i + j] = i == j ? std::sqrt(sum) : sum / a[10 * j];
    }
  }
}

Mat3 ImplicitInertia::solve(const Mat3& load) const {
  const double* const l = factor_.data();
  Mat3 x = load;
  for (int i = 0; i < 9; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= l[9 * i + k] * x[k];
    x[i] /= l[10 * i];
  }
  for (int i = 8; i >= 0; --i) {
    for (int k = i + 1; k < 9; ++k) x[i] -= l[9 * k + i] * x[k];
    x[i] /= l[10 * i];
  }
  return x;
}

Quaternion rotation_of(const Mat3& f) {
  return quaternion_of(polar_rotation(f));
}

DeformedShape deformed(const Shape& shape, const Mat3& f) {
  const Mat3 r = polar_rotation(f);
  if (shape.kind != "ellipsoid") return {shape, quaternion_of(r)};
  // Seen from the rotated axes F is nearly diagonal, so that axes keep their order.
  Mat3 g = transposed(r) * f;
  for (int i = 0; i < 9; ++i) g[i] *= shape.size[static_cast<std::size_t>(i % 3)];
  Mat3 squares = g * transposed(g);
  const Mat3 axes = diagonalise(squares);
  DeformedShape made{shape, quaternion_of(r * axes)};
  for (int k = 0; k < 3; ++k) {
    made.shape.size[static_cast<std::size_t>(k)] = std::sqrt(squares[4 * k]);
  }
  return made;
}

}  // namespace ccp
