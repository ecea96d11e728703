#pragma once

#include "solvers/batch/merged.hpp"
#include "solvers/batch/team.hpp"

/// N times the impulses of one problem, by its team. Each of the following has
///     load(team, begin, end)   what impulses p do to the bodies [begin, end), into v
///     velocity(c)              (N p)_c of a contact then, m/s
/// and reads p and v of the whole batch.
namespace ccp::batch {

/// Sigma p of a contact, where there are compliant ones.
struct GivenWay {
  DeviceArray<const double* [2]> compliance;
  DeviceArray<const double* [3]> normal;

  KOKKOS_INLINE_FUNCTION Vec3 operator()(int c, const Vec3& p) const {
    return compliance.extent(0) > 0 ? comply(compliance, normal, c, p) : Vec3{};
  }
};

/// Row i of a flat array of bodies' velocities.
template <int width>
struct FlatRows {
  VectorView v;
  KOKKOS_INLINE_FUNCTION Vec3 operator()(int i) const { return linear(i); }
  KOKKOS_INLINE_FUNCTION Vec3 linear(int i) const {
    return {v(width * i), v(width * i + 1), v(width * i + 2)};
  }
  KOKKOS_INLINE_FUNCTION Vec3 angular(int i) const {
    return {v(width * i + 3), v(width * i + 4), v(width * i + 5)};
  }
};

/// Bodies that do not rotate.
struct StillProduct {
  static constexpr int width = 3;
  BodyForce force;
  RelativeVelocity<FlatRows<3>> relative;
  DeviceArray<double*> inverse_mass;
  GivenWay given_way;

  KOKKOS_INLINE_FUNCTION void load(const Team& team, int begin, int end) const {
    const VectorView& v = relative.v.v;
    each(team, begin, end, [&](const int i) { store3(v, i, inverse_mass(i) * force(i)); });
  }
  KOKKOS_INLINE_FUNCTION Vec3 velocity(int c) const {
    return relative(c) + given_way(c, {force.p(3 * c), force.p(3 * c + 1), force.p(3 * c + 2)});
  }
};

struct TurningProduct {
  static constexpr int width = 6;
  BodyWrench wrench;
  RelativeVelocityAtArms<FlatRows<6>> relative;
  BodyMatrices inverse;
  GivenWay given_way;

  KOKKOS_INLINE_FUNCTION void load(const Team& team, int begin, int end) const {
    const VectorView& v = relative.v.v;
    each(team, begin, end, [&](const int i) {
      const BodyWrench::Sum sum = wrench(i);
      store3(v, 2 * i, inverse.linear(i) * sum.force);
      const auto& a = inverse.angular;
      const Vec3& t = sum.torque;
      for (int k = 0; k < 3; ++k) {
        v(6 * i + 3 + k) = a(i, k, 0) * t.x + a(i, k, 1) * t.y + a(i, k, 2) * t.z;
      }
    });
  }
  KOKKOS_INLINE_FUNCTION Vec3 velocity(int c) const {
    return relative(c) + given_way(c, {wrench.p(3 * c), wrench.p(3 * c + 1), wrench.p(3 * c + 2)});
  }
};

/// N itself.
struct AssembledProduct {
  BlockRows rows;
  ConstVectorView p;

  KOKKOS_INLINE_FUNCTION void load(const Team&, int, int) const {}
  KOKKOS_INLINE_FUNCTION Vec3 velocity(int c) const { return rows.product(p, c); }
};

/// Calls act(product) with the product of p; v is an array of its own [6 (bodies + 1)].
template <class Act>
void with_product(const Batch& batch, const ConstVectorView& p, const VectorView& v,
                  const Act& act) {
  const ConstraintMap& map = batch.problem().shared_delassus().constraints();
  if (batch.host().form == ContactProblem::Form::assembled) {
    act(AssembledProduct{make_block_rows(with_compliance(batch.host(), batch.host().delassus)), p});
    return;
  }
  const GivenWay given_way{map.compliance(), map.compliant_normal()};
  if (map.rotates()) {
    act(TurningProduct{map.wrench(p), map.relative_at_arms(FlatRows<6>{v}), map.masses(),
                       given_way});
  } else {
    act(StillProduct{map.force(p), map.relative(FlatRows<3>{v}), map.masses().linear, given_way});
  }
}

}  // namespace ccp::batch
