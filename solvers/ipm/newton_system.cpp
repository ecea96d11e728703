#include "solvers/ipm/newton_system.hpp"

namespace ccp {
namespace {

/// T^-1 z.
template <class Scale>
KOKKOS_INLINE_FUNCTION Vec3 scaled(const Scale& inverse_scale, int c, const Vec3& z) {
  const double normal = inverse_scale(c, 0), tangential = inverse_scale(c, 1);
  return {normal * z.n, tangential * z.t1, tangential * z.t2};
}

}  // namespace

NewtonSystem::NewtonSystem(const Problem& problem, DeviceArray<double* [2]> regularization)
    : map_(problem.map()),
      delassus_(problem.delassus()),
      r_(problem.r()),
      inverse_scale_("ccp::NewtonSystem::inverse_scale", problem.contacts()),
      regularization_(regularization),
      scaling_("ccp::NewtonSystem::scaling", problem.contacts()),
      diagonal_("ccp::NewtonSystem::diagonal", problem.contacts()) {
  const auto mu = problem.mu();
  const auto s = inverse_scale_;
  const auto rho = regularization_;
  const auto d = diagonal_;
  const auto block = problem.shared_delassus().diagonal_blocks();
  Kokkos::parallel_for(
      "ccp::NewtonSystem::setup", range(problem.contacts()), KOKKOS_LAMBDA(const int c) {
        s(c, 0) = mu(c) > 0 ? 1 / mu(c) : 1;
        s(c, 1) = mu(c) > 0 ? 1 : 0;
        rho(c, 0) *= s(c, 0) * s(c, 0);
        rho(c, 1) *= s(c, 1) * s(c, 1);
        const double n = s(c, 0), t = s(c, 1);
        d(c, 0) = n * n * block(c, 0, 0) + rho(c, 0);
        d(c, 1) = n * t * block(c, 0, 1);
        d(c, 2) = n * t * block(c, 0, 2);
        d(c, 3) = t * t * block(c, 1, 1) + rho(c, 1);
        d(c, 4) = t * t * block(c, 1, 2);
        d(c, 5) = t * t * block(c, 2, 2) + rho(c, 1);
      });
}

void NewtonSystem::apply(const Vector& x, Vector& y, Teuchos::ETransp, double, double) const {
  ++applies_;
  if (on_apply) on_apply();
  const auto in = read_view(x);
  const auto out = overwrite_view(y);
  const auto s = inverse_scale_;
  const auto rho = regularization_;
  const auto w = scaling_;
  delassus_->apply_fused(
      KOKKOS_LAMBDA(const int c) { return scaled(s, c, load3(in, c)); },
      KOKKOS_LAMBDA(const int c, const Vec3& u) {
        const Vec3 z = load3(in, c);
        const Vec3 nz = scaled(s, c, u);
        const double det = w(c, 3);
        if (s(c, 1) == 0) {
          store3(out, c, Vec3{nz.n + (det + rho(c, 0)) * z.n, z.t1, z.t2});
          return;
        }
        const Vec3 pz = jordan::quadratic({w(c, 0), w(c, 1), w(c, 2)}, det, z);
        store3(out, c,
               Vec3{nz.n + pz.n + rho(c, 0) * z.n, nz.t1 + pz.t1 + rho(c, 1) * z.t1,
                    nz.t2 + pz.t2 + rho(c, 1) * z.t2});
      });
}

void NewtonSystem::apply_delassus(const VectorView& x, const VectorView& y) const {
  ++applies_;
  const auto s = inverse_scale_;
  delassus_->apply_fused(
      KOKKOS_LAMBDA(const int c) { return scaled(s, c, load3(x, c)); },
      KOKKOS_LAMBDA(const int c, const Vec3& u) { store3(y, c, scaled(s, c, u)); });
}

void NewtonSystem::velocity(const VectorView& x, const VectorView& y) const {
  ++applies_;
  const auto s = inverse_scale_;
  const auto r = r_;
  delassus_->apply_fused(
      KOKKOS_LAMBDA(const int c) { return scaled(s, c, load3(x, c)); },
      KOKKOS_LAMBDA(const int c, const Vec3& u) { store3(y, c, scaled(s, c, u + load3(r, c))); });
}

void NewtonSystem::impulse(const VectorView& x, const VectorView& gamma) const {
  const auto s = inverse_scale_;
  Kokkos::parallel_for(
      "ccp::NewtonSystem::impulse", range(inverse_scale_.extent(0)),
      KOKKOS_LAMBDA(const int c) { store3(gamma, c, scaled(s, c, load3(x, c))); });
}

void NewtonSystem::set_scaling(const VectorView& x, const VectorView& y) {
  const auto s = inverse_scale_;
  const auto w = scaling_;
  Kokkos::parallel_for(
      "ccp::NewtonSystem::set_scaling", range(inverse_scale_.extent(0)),
      KOKKOS_LAMBDA(const int c) {
        const Vec3 xc = load3(x, c), yc = load3(y, c);
        if (s(c, 1) == 0) {
          w(c, 0) = w(c, 1) = w(c, 2) = 0;
          w(c, 3) = yc.n / xc.n;
          return;
        }
        const jordan::ScalingPoint point = jordan::nt_scaling(xc, yc);
        w(c, 0) = point.w.n, w(c, 1) = point.w.t1, w(c, 2) = point.w.t2;
        w(c, 3) = point.det;
      });
}

void NewtonSystem::update(BlockDiagonalInverse& preconditioner) const {
  const auto s = inverse_scale_;
  const auto w = scaling_;
  const auto d = diagonal_;
  preconditioner.update(KOKKOS_LAMBDA(const int c, double* a) {
    const double det = w(c, 3);
    for (int k = 0; k < 6; ++k) a[k] = d(c, k);
    if (s(c, 1) == 0) {
      a[0] += det;
      a[3] += 1, a[5] += 1;
      return;
    }
    a[0] += w(c, 0) * w(c, 0) - det;
    a[1] += w(c, 0) * w(c, 1);
    a[2] += w(c, 0) * w(c, 2);
    a[3] += w(c, 1) * w(c, 1) + det;
    a[4] += w(c, 1) * w(c, 2);
    a[5] += w(c, 2) * w(c, 2) + det;
  });
}

}  // namespace ccp
