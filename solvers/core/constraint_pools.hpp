#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/core/constraint_map.hpp"

namespace ccp {

/// The normal of every rolling triple that has no row about it, zero of the others; empty where all
/// have three rows. Velocities have no part along it, and no moment acts about it; moments that
/// start without one keep none in any method that adds to them what it projects and scales.
struct FreeTwist {
  DeviceArray<const double* [3]> axis;  ///< [rolling]

  KOKKOS_INLINE_FUNCTION bool any() const { return axis.extent(0) > 0; }
  /// 2 or 3.
  KOKKOS_INLINE_FUNCTION int rows(int k) const { return any() && norm(row3(axis, k)) > 0 ? 2 : 3; }
  /// What is left of a velocity or moment of rolling triple k, world axes.
  KOKKOS_INLINE_FUNCTION Vec3 without(int k, const Vec3& v) const {
    if (!any()) return v;
    const Vec3 n = row3(axis, k);
    return v - dot(n, v) * n;
  }
  /// The same of the rows and columns of a block, P B P.
  KOKKOS_INLINE_FUNCTION Sym3 without(int k, const Sym3& b) const {
    if (!any()) return b;
    const Vec3 n = row3(axis, k), along = b * n;
    const double twice = dot(n, along), a[3] = {n.x, n.y, n.z}, c[3] = {along.x, along.y, along.z};
    return symmetric(
        [&](int p, int q) { return b(p, q) - a[p] * c[q] - c[p] * a[q] + twice * a[p] * a[q]; });
  }
  /// The same of the columns of a block that belongs to the moment, B P; row-major.
  KOKKOS_INLINE_FUNCTION void without_columns(int k, double b[9]) const {
    if (!any()) return;
    for (int p = 0; p < 3; ++p) {
      const Vec3 row = without(k, Vec3{b[3 * p], b[3 * p + 1], b[3 * p + 2]});
      b[3 * p] = row.x, b[3 * p + 1] = row.y, b[3 * p + 2] = row.z;
    }
  }
  /// value on the missing row of a block, n n^T.
  KOKKOS_INLINE_FUNCTION Sym3 filled(int k, const Sym3& b, double value) const {
    if (!any()) return b;
    const Vec3 n = row3(axis, k);
    const double a[3] = {n.x, n.y, n.z};
    return symmetric([&](int p, int q) { return b(p, q) + value * a[p] * a[q]; });
  }
};

/// The triples of a problem beside its contacts, on the device (bodies form): rolling resistance,
/// which acts on the relative angular velocity of a contact's bodies, and equality constraints with
/// rows of their own (joints, motors).
///     rolling    d_j = w_B - w_A,                     world axes; across the normal where the
///                                                     triple has no row about it
///     equality   d_j = J_A (v_A, w_A) + J_B (v_B, w_B),  the constraint's own rows
/// and + Sigma p_j. Where no body rotates, rows act on linear velocities alone.
///
/// In vectors of impulses and velocities these triples follow the contacts: first the rolling ones,
/// then the equality constraints. Here they are counted from 0, in a vector from first().
class ConstraintPools {
 public:
  ConstraintPools() = default;
  /// @param inverse  M^-1, with the bodies in the problem's order
  ConstraintPools(const ContactProblem& problem, const BodyMatrices& inverse);

  bool empty() const { return size() == 0; }
  int size() const { return rolling_ + equality_; }
  int rolling() const { return rolling_; }
  int equality() const { return equality_; }
  /// The triple of a vector that is the pools' first: the number of contacts.
  int first() const { return first_; }
  bool is_compliant() const { return compliance_.extent(0) > 0; }

  /// Bodies A and B of every triple, [size][2]; m is the immovable one.
  DeviceArray<const int* [2]> body() const { return body_; }
  /// The contact of every rolling triple, [rolling].
  DeviceArray<const int*> contact() const {
    return contact_;
  }
  /// The limit |gamma_r| <= rho gamma_n, [rolling] m.
  DeviceArray<const double*> rho() const { return rho_; }
  /// The rolling triple of every contact, counted from 0, or -1; [n], empty without rolling ones.
  DeviceArray<const int*> rolling_of() const { return rolling_of_; }
  /// What rolling triples of two rows have no part of.
  FreeTwist free_twist() const { return free_twist_; }
  /// Rows of equality constraints in use, 1 to 3, [equality].
  DeviceArray<const int*> rows() const { return rows_; }
  /// Their rows, [equality][2 sides][18], row-major 3 x 6.
  DeviceArray<const double* [2][18]> jacobian() const { return jacobian_; }
  /// Sigma in the axes of the triple, [size] 1/(kg m^2) or 1/kg; empty where it is zero.
  DeviceArray<const Sym3*> compliance() const {
    return compliance_;
  }

  /// Diagonal blocks of N + Sigma, [size]; rows that are not in use are zero.
  DeviceArray<Sym3*> diagonal_blocks() const;

  /// velocity <- velocity + M^-1 D p of these triples, for [m + 1][3 or 6].
  template <class Image>
  void add_body_velocities(const ConstVectorView& p, const Image& velocity) const;

  /// Calls sink(first() + j, d_j + Sigma p_j) for every triple, for the velocities of bodies.
  /// @param p  looked at only where Sigma is not zero
  template <class Image, class Sink>
  void for_each_velocity(const Image& velocity, const ConstVectorView& p, const Sink& sink) const;

 private:
  int first_ = 0, rolling_ = 0, equality_ = 0;
  DeviceArray<const int* [2]> body_;
  DeviceArray<const int*> offset_, incidence_;  ///< of every body: 2 j + side
  DeviceArray<const int*> contact_, rolling_of_, rows_;
  FreeTwist free_twist_;
  DeviceArray<const double*> rho_;
  DeviceArray<const double* [2][18]> jacobian_;
  DeviceArray<const Sym3*> compliance_;
  BodyMatrices inverse_;
};

/// N + Sigma of all triples written out, contacts first (assemble_delassus has those alone), in the
/// axes and units that solvers work in: rolling triples in world axes, equality constraints in
/// their own rows; unused rows are zero. All triples have a block on the diagonal, and a contact
/// and its rolling triple have one together, be they zero. On the host, once per problem.
BlockMatrix assemble_triples(const ContactProblem& problem);

// ---- kernels ------------------------------------------------------------------------------------

/// velocity of one triple of the pools from those of its bodies. @tparam Image  [m + 1][3 or 6]
template <class Image>
struct PoolVelocity {
  int rolling, columns;
  DeviceArray<const int* [2]> body;
  DeviceArray<const double* [2][18]> jacobian;
  FreeTwist free_twist;
  Image v;

  KOKKOS_INLINE_FUNCTION Vec3 operator()(const int j) const {
    const int a = body(j, 0), b = body(j, 1);
    if (j < rolling) {
      return free_twist.without(j, Vec3{v(b, 3) - v(a, 3), v(b, 4) - v(a, 4), v(b, 5) - v(a, 5)});
    }
    double d[3] = {0, 0, 0};
    for (int side = 0; side < 2; ++side) {
      const int i = side == 0 ? a : b;
      for (int row = 0; row < 3; ++row) {
        for (int k = 0; k < columns; ++k) {
          d[row] += jacobian(j - rolling, side, 6 * row + k) * v(i, k);
        }
      }
    }
    return {d[0], d[1], d[2]};
  }
};

template <class Image>
void ConstraintPools::add_body_velocities(const ConstVectorView& p, const Image& velocity) const {
  const BodyMatrices inverse = inverse_;
  const int rolling = rolling_, first = first_;
  const bool rotates = inverse.angular.extent(0) > 0;
  const auto offset = offset_, incidence = incidence_;
  const auto jacobian = jacobian_;
  const FreeTwist free_twist = free_twist_;
  Kokkos::parallel_for(
      "ccp::ConstraintPools::add_body_velocities", range(offset.extent(0) - 1),
      KOKKOS_LAMBDA(const int i) {
        double load[6] = {0, 0, 0, 0, 0, 0};
        for (int k = offset(i); k < offset(i + 1); ++k) {
          const int j = incidence(k) >> 1, side = incidence(k) & 1;
          const Vec3 given = load3(p, first + j);
          const Vec3 g = j < rolling ? free_twist.without(j, given) : given;
          const double impulse[3] = {g.x, g.y, g.z};
          if (j < rolling) {
            for (int l = 0; l < 3; ++l) load[3 + l] += side_sign(side) * impulse[l];
            continue;
          }
          for (int row = 0; row < 3; ++row) {
            for (int l = 0; l < 6; ++l) {
              load[l] += jacobian(j - rolling, side, 6 * row + l) * impulse[row];
            }
          }
        }
        for (int l = 0; l < 3; ++l) velocity(i, l) += inverse.linear(i) * load[l];
        if (!rotates) return;
        for (int l = 0; l < 3; ++l) {
          velocity(i, 3 + l) += inverse.angular(i, l, 0) * load[3] +
                                inverse.angular(i, l, 1) * load[4] +
                                inverse.angular(i, l, 2) * load[5];
        }
      });
}

template <class Image, class Sink>
void ConstraintPools::for_each_velocity(const Image& velocity, const ConstVectorView& p,
                                        const Sink& sink) const {
  const PoolVelocity<Image> relative{
      rolling_, inverse_.angular.extent(0) > 0 ? 6 : 3, body_, jacobian_, free_twist_, velocity};
  const bool compliant = is_compliant();
  const auto compliance = compliance_;
  const int first = first_;
  Kokkos::parallel_for(
      "ccp::ConstraintPools::velocity", range(size()), KOKKOS_LAMBDA(const int j) {
        Vec3 d = relative(j);
        if (compliant) d = d + compliance(j) * load3(p, first + j);
        sink(first + j, d);
      });
}

}  // namespace ccp
