#pragma once

#include "problems/model/constraint_math.hpp"
#include "problems/model/contact_problem.hpp"
#include "solvers/core/cone.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// The order in which a map keeps contacts and bodies; an empty list: the problem's.
struct MapOrder {
  std::vector<int> contacts;  ///< [n] the problem's contact at each place
  std::vector<int> places;    ///< [m] the place of each of the problem's bodies
};

/// What of the mass matrix M a kernel multiplies with.
enum class MassPower {
  inverse,  ///< M^-1, 1/kg and 1/(kg m^2)
  root,     ///< L with L L^T = M^-1, its blocks lower triangles; zero where M^-1 has no extent
  mass,     ///< M, kg and kg m^2; zero where M^-1 is. A singular inverse inertia (a body that turns
            ///< about some axes only) is shifted by 1e-8 of its mean eigenvalue, which changes what
            ///< is in its range by as much
};

/// One such block-diagonal matrix. The last row is the immovable body's: zero, but for `mass`, too.
struct BodyMatrices {
  DeviceArray<double*> linear;          ///< [m + 1] multiples of the identity
  DeviceArray<double* [3][3]> angular;  ///< [m + 1]; empty where no body rotates
};
BodyMatrices body_matrices(const ContactProblem& problem, MassPower power,
                           const MapOrder& order = {});

// ---- kernels, one for each thing the map does --------------------------------------------------

/// Row i of an array with three columns or more.
template <class Array>
struct Rows {
  Array v;
  KOKKOS_INLINE_FUNCTION Vec3 operator()(const int i) const { return row3(v, i); }
};

/// Velocities of bodies in six columns: linear and angular.
template <class Array>
struct SpatialRows {
  Array v;
  KOKKOS_INLINE_FUNCTION Vec3 linear(const int i) const { return row3(v, i); }
  KOKKOS_INLINE_FUNCTION Vec3 angular(const int i) const { return {v(i, 3), v(i, 4), v(i, 5)}; }
};

/// velocity, d_c = v_B - v_A: what fetches a contact's relative velocity, for bodies that do not
/// rotate. @tparam Velocity  v(i) of body i
template <class Velocity>
struct RelativeVelocity {
  DeviceArray<const int* [2]> body;
  Velocity v;
  KOKKOS_INLINE_FUNCTION Vec3 operator()(const int c) const {
    const Vec3 a = v(body(c, 0)), b = v(body(c, 1));
    return b - a;
  }
};

/// velocity, d_c = sum over both sides of sign (v + w x arm): the same at the contact points of
/// rotating bodies. @tparam Velocity  v.linear(i) and v.angular(i) of body i
template <class Velocity>
struct RelativeVelocityAtArms {
  DeviceArray<const int* [2]> body;
  DeviceArray<const double* [2][3]> arm;
  Velocity v;
  KOKKOS_INLINE_FUNCTION Vec3 operator()(const int c) const {
    Vec3 d;
    for (int side = 0; side < 2; ++side) {
      const int i = body(c, side);
      const double sign = side_sign(side);
      const Vec3 u = v.linear(i), w = v.angular(i);
      const double r0 = arm(c, side, 0), r1 = arm(c, side, 1), r2 = arm(c, side, 2);
      d.x += sign * (u.x + w.y * r2 - w.z * r1);
      d.y += sign * (u.y + w.z * r0 - w.x * r2);
      d.z += sign * (u.z + w.x * r1 - w.y * r0);
    }
    return d;
  }
};

/// load: the sum of sign p over the contacts of body i, N s.
struct BodyForce {
  DeviceArray<const int*> offset, incidence;
  ConstVectorView p;
  KOKKOS_INLINE_FUNCTION Vec3 operator()(const int i) const {
    const double signs[2] = {-1, 1};
    Vec3 sum;
    for (int k = offset(i); k < offset(i + 1); ++k) {
      const double sign = signs[incidence(k) & 1];
      const int first = incidence(k) >> 1;
      sum = sum + sign * Vec3{p(first), p(first + 1), p(first + 2)};
    }
    return sum;
  }
};

/// load for rotating bodies: the same, and the sum of arm x sign p, N m s.
struct BodyWrench {
  struct Sum {
    Vec3 force, torque;
  };
  DeviceArray<const int*> offset, incidence;
  DeviceArray<const double* [2][3]> arm;
  ConstVectorView p;
  KOKKOS_INLINE_FUNCTION Sum operator()(const int i) const {
    Sum sum;
    for (int k = offset(i); k < offset(i + 1); ++k) {
      const int first = incidence(k) >> 1, c = first / 3, side = incidence(k) & 1;
      const double sign = side_sign(side);
      const double p0 = sign * p(first), p1 = sign * p(first + 1), p2 = sign * p(first + 2);
      const double r0 = arm(c, side, 0), r1 = arm(c, side, 1), r2 = arm(c, side, 2);
      sum.force.x += p0, sum.force.y += p1, sum.force.z += p2;
      sum.torque.x += r1 * p2 - r2 * p1;
      sum.torque.y += r2 * p0 - r0 * p2;
      sum.torque.z += r0 * p1 - r1 * p0;
    }
    return sum;
  }
};

/// Sigma p of a compliant contact, in the axes in which the normal is given.
template <class Compliance, class Normals>
KOKKOS_INLINE_FUNCTION Vec3 comply(const Compliance& compliance, const Normals& normal, int c,
                                   const Vec3& p) {
  return stretch(compliance(c, 0), compliance(c, 1), p, row3(normal, c));
}

/// One side of a contact in body space: mass-scaled velocities z of its body give it the velocity
///     [ mass * 1 | lever ] z,   lever = L_c L_J,   L_J L_J^T = J^-1.
struct ScaledSide {
  double mass;
  double lever[9];

  template <class Arm, class Root>
  KOKKOS_INLINE_FUNCTION void set_lever(const Arm& arm, const Root& root, int c, int side, int i) {
    const Lever turned = lever_of({arm(c, side, 0), arm(c, side, 1), arm(c, side, 2)});
    for (int p = 0; p < 3; ++p) {
      for (int q = 0; q < 3; ++q) {
        double sum = 0;
        for (int k = q; k < 3; ++k) sum += turned.row[p][k] * root(i, k, q);
        lever[3 * p + q] = sum;
      }
    }
  }
};

/// The pair block of body space: block += sign A^T K B, row-major NB x NB, for the two sides A and
/// B of a contact with the impulse per velocity K, row-major. (3 % NB is where spins start, and a
/// legal index for NB = 3, too.)
template <int NB>
KOKKOS_INLINE_FUNCTION void add_body_pair(double sign, const double k[9], const ScaledSide& a,
                                          const ScaledSide& b, double* block) {
  double kb[3 * NB];  // K B
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q < 3; ++q) {
      kb[NB * p + q] = sign * b.mass * k[3 * p + q];
      if (NB == 6) {
        double sum = 0;
        for (int l = 0; l < 3; ++l) sum += k[3 * p + l] * b.lever[3 * l + q];
        kb[NB * p + 3 % NB + q] = sign * sum;
      }
    }
  }
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q < NB; ++q) {
      block[NB * p + q] += a.mass * kb[NB * p + q];
      if (NB == 6) {
        double sum = 0;
        for (int l = 0; l < 3; ++l) sum += a.lever[3 * l + p] * kb[NB * l + q];
        block[NB * (p + 3 % NB) + q] += sum;
      }
    }
  }
}

// ---- the map -----------------------------------------------------------------------------------

/// What maps the impulses of constraints to bodies and the velocities of bodies to constraints
/// (bodies form), on the device: who touches whom, arms, inverse masses, compliances. Everything
/// that walks over contacts and their bodies rests on it; `DelassusOperator` writes the product
///     N p = D^T M^-1 D p,    D p = load,    D^T v = velocity
/// with it, and Gauss-Seidel sweeps and the body side of velocity-space methods have maps of the
/// same kind in orders of their own.
///
/// World axes (see DelassusOperator). A constraint is a triple of rows; those of one kind
/// (ConstraintKind) are a pool, so that each kernel has one shape. There is one pool today,
/// contacts; problems with others are refused before a map is made (`why_unsupported`).
///
/// Bodies and contacts are counted by their places in the order of the map; place m is the
/// immovable body. Copies share the data.
class ConstraintMap {
 public:
  ConstraintMap() = default;
  /// @param problem  in bodies form
  explicit ConstraintMap(const ContactProblem& problem, const MapOrder& order = {},
                         MassPower power = MassPower::inverse);

  int contacts() const { return contacts_; }
  int bodies() const { return bodies_; }
  bool rotates() const { return masses_.angular.extent(0) > 0; }
  bool is_compliant() const { return compliance_.extent(0) > 0; }

  /// Bodies A and B, [n][2].
  DeviceArray<const int* [2]> body() const { return body_; }
  /// From the centres of bodies A and B to the contact, [n][2][3] m; empty where no body rotates.
  DeviceArray<const double* [2][3]> arm() const { return arm_; }
  /// Of every body [m + 1] where its list begins in incidence(): 2 (3 contact) + side.
  DeviceArray<const int*> incidence_offset() const {
    return incidence_offset_;
  }
  DeviceArray<const int*> incidence() const { return incidence_; }
  /// M^-1 or what else the map was asked for.
  const BodyMatrices& masses() const { return masses_; }
  /// Sigma, [n][2] normal and tangential, 1/kg; empty where it is zero.
  DeviceArray<const double* [2]> compliance() const { return compliance_; }
  /// Unit normals of compliant contacts, [n][3].
  DeviceArray<const double* [3]> compliant_normal() const { return normal_; }

  /// load as a functor of the body.
  BodyForce force(const ConstVectorView& p) const {
    return {incidence_offset_, incidence_, p};
  }
  BodyWrench wrench(const ConstVectorView& p) const {
    return {incidence_offset_, incidence_, arm_, p};
  }
  /// velocity as a functor of the contact.
  template <class Velocity>
  RelativeVelocity<Velocity> relative(const Velocity& v) const {
    return {body_, v};
  }
  template <class Velocity>
  RelativeVelocityAtArms<Velocity> relative_at_arms(const Velocity& v) const {
    return {body_, arm_, v};
  }

  /// The 3x3 diagonal blocks of N + Sigma (a map with MassPower::inverse). @return [n][3][3] 1/kg
  DeviceArray<double* [3][3]> diagonal_blocks() const;

 private:
  int contacts_ = 0, bodies_ = 0;
  DeviceArray<const int* [2]> body_;
  DeviceArray<const double* [2][3]> arm_;
  DeviceArray<const int*> incidence_offset_, incidence_;
  BodyMatrices masses_;
  DeviceArray<const double* [2]> compliance_;
  DeviceArray<const double* [3]> normal_;
};

// ---- assembled form ----------------------------------------------------------------------------

/// Rows of 3x3 blocks on the device: N where it is all that is known.
struct BlockRows {
  DeviceArray<const std::int64_t*> offset;  ///< [n + 1]
  DeviceArray<const int*> column;
  DeviceArray<const double* [3][3]> block;  ///< 1/kg

  /// Row c of the matrix times p, m/s.
  template <class View>
  KOKKOS_INLINE_FUNCTION Vec3 product(const View& p, int c) const {
    Vec3 u;
    for (std::int64_t k = offset(c); k < offset(c + 1); ++k) {
      const Vec3 g = load3(p, column(k));
      u.x += block(k, 0, 0) * g.x + block(k, 0, 1) * g.y + block(k, 0, 2) * g.z;
      u.y += block(k, 1, 0) * g.x + block(k, 1, 1) * g.y + block(k, 1, 2) * g.z;
      u.z += block(k, 2, 0) * g.x + block(k, 2, 1) * g.y + block(k, 2, 2) * g.z;
    }
    return u;
  }
};
/// @param contacts  [n] the contact at each place, or empty; rows and columns are then places
BlockRows make_block_rows(const BlockMatrix& matrix, const std::vector<int>& contacts = {});
/// Zero where there is none. @return [n][3][3]
DeviceArray<double* [3][3]> diagonal_blocks(const BlockRows& rows);

// ---- contact space, on the host ----------------------------------------------------------------

/// matrix + Sigma in the axes that solvers work in: world axes for problems in bodies form, contact
/// axes for assembled ones. A row without a diagonal block gets one. Nothing changes where no
/// contact is compliant.
BlockMatrix with_compliance(const ContactProblem& problem, BlockMatrix matrix);

/// N = D^T M^-1 D (+ Sigma) written out [1/kg], in the axes that solvers work in
/// (DelassusOperator): world axes for problems in bodies form, contact axes for assembled ones.
/// Contacts that share a movable body have a block, on the diagonal everybody has one.
///
/// On the host, once per problem: about (contacts per body)^2 x bodies blocks of 72 bytes. A body
/// with very many contacts (a moving container) makes N nearly dense; then it should not be
/// assembled.
BlockMatrix assemble_delassus(const ContactProblem& problem);

/// Triples on the body that has most; in assembled form, blocks in the longest row of N; 1 where
/// there is none. The largest eigenvalue of N is at most that many times the one of its diagonal
/// blocks (Cauchy and Schwarz, body by body).
double most_neighbours(const ContactProblem& problem);

}  // namespace ccp
