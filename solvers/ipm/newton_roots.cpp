#include "solvers/ipm/newton_roots.hpp"

namespace ccp {
namespace {

using jordan::Wide;
using jordan::WideScaling;

/// The cone of one contact's own triple, in squares. @tparam N  3, or 6 with its rolling triple
struct OwnCone {
  DeviceArray<const double* [3]> normal;
  DeviceArray<const double*> mu;
  VectorView x, y;

  template <int N>
  KOKKOS_INLINE_FUNCTION static void add(double factor, const Vec3& v, TriangularRoot<N>& root) {
    double row[N] = {factor * v.x, factor * v.y, factor * v.z};
    root.add(row);
  }
  template <int N>
  KOKKOS_INLINE_FUNCTION void operator()(int c, TriangularRoot<N>& root) const {
    const Vec3 n = row3(normal, c), xc = load3(x, c), yc = load3(y, c);
    const double xn = dot(xc, n), yn = dot(yc, n), m = mu(c);
    const Tangents across = tangents(n);
    if (m == 0) {  // idle across the normal: identity
      add(sqrt(yn / xn), n, root);
      add(1, across.s, root);
      add(1, across.t, root);
      return;
    }
    const WideScaling s = make_scaling(Wide{xn, xc - xn * n}, Wide{yn, yc - yn * n}, across.s);
    add(s.high / jordan::sqrt2, m * n + s.direction, root);
    add(s.low / jordan::sqrt2, m * n - s.direction, root);
    add(sqrt(s.high * s.low), cross(n, s.direction), root);
  }
};

/// The second cone, of (n, t) with its limit.
KOKKOS_INLINE_FUNCTION void add_second_cone(const WideScaling& s, double limit, const Vec3& n,
                                            TriangularRoot<6>& root) {
  const auto add = [&](double factor, double along, const Vec3& t) {
    double row[6] = {factor * along * n.x, factor * along * n.y, factor * along * n.z,
                     factor * t.x,         factor * t.y,         factor * t.z};
    root.add(row);
  };
  const double side = sqrt(s.high * s.low);
  const Tangents across = tangents(s.direction);
  add(s.high / jordan::sqrt2, limit, s.direction);
  add(s.low / jordan::sqrt2, limit, -1.0 * s.direction);
  add(side, 0, across.s);
  add(side, 0, across.t);
}

}  // namespace

NewtonRoots::NewtonRoots(const Problem& problem, const NewtonPools& pools,
                         const DeviceArray<const Sym3*>& diagonal)
    : normal_(problem.normal()),
      mu_(problem.mu()),
      pair_(problem.pools().rolling_of()),
      contact_(problem.pools().contact()),
      alone_("ccp::NewtonRoots::alone", problem.contacts()),
      constant_alone_("ccp::NewtonRoots::constant_alone", problem.contacts()),
      together_("ccp::NewtonRoots::together", problem.pools().rolling()),
      constant_together_("ccp::NewtonRoots::constant_together", problem.pools().rolling()) {
  set_up(pools, diagonal);
}

void NewtonRoots::set_up(const NewtonPools& pools, const DeviceArray<const Sym3*>& diagonal) {
  const auto alone = constant_alone_;
  const auto together = constant_together_;
  const auto contact = contact_;
  Kokkos::parallel_for(
      "ccp::NewtonRoots::constant_alone", range(alone.extent(0)), KOKKOS_LAMBDA(const int c) {
        const Sym3 block = diagonal(c);
        alone(c) = TriangularRoot<3>::of([&](int i, int j) { return block(i, j); });
      });
  Kokkos::parallel_for(
      "ccp::NewtonRoots::constant_together", range(together.extent(0)), KOKKOS_LAMBDA(const int k) {
        const Sym3 own = diagonal(contact(k)), second = pools.constant_block(k);
        const CrossBlock beside = pools.constant_cross(k);
        together(k) = TriangularRoot<6>::of([&](int i, int j) {
          return j < 3 ? own(i, j) : i < 3 ? beside.a[3 * i + j - 3] : second(i - 3, j - 3);
        });
      });
}

void NewtonRoots::update(const VectorView& x, const VectorView& y, const NewtonPools& pools) {
  const OwnCone own{normal_, mu_, x, y};
  const auto alone = alone_, constant_alone = constant_alone_;
  const auto together = together_, constant_together = constant_together_;
  const auto pair = pair_, contact = contact_;
  const bool paired = together.extent(0) > 0;
  Kokkos::parallel_for(
      "ccp::NewtonRoots::alone", range(alone.extent(0)), KOKKOS_LAMBDA(const int c) {
        if (paired && pair(c) >= 0) return;
        TriangularRoot<3> root = constant_alone(c);
        own(c, root);
        alone(c) = root;
      });
  Kokkos::parallel_for(
      "ccp::NewtonRoots::together", range(together.extent(0)), KOKKOS_LAMBDA(const int k) {
        TriangularRoot<6> root = constant_together(k);
        own(contact(k), root);
        if (!pools.is_idle(k)) {
          add_second_cone(pools.second_scaling(k), pools.limit(k), pools.axis(k), root);
        }
        together(k) = root;
      });
}

}  // namespace ccp
