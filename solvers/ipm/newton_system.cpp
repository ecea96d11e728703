#include "solvers/ipm/newton_system.hpp"

#include <algorithm>
#include <stdexcept>

namespace ccp {
namespace {

/// T^-1 z: the normal part by 1/mu; for mu = 0 the tangential part is dropped.
KOKKOS_INLINE_FUNCTION Vec3 unscale(double mu, const Vec3& z, const Vec3& normal) {
  return mu > 0 ? stretch(1 / mu, 1, z, normal) : dot(z, normal) * normal;
}

/// T z, with the same exception.
KOKKOS_INLINE_FUNCTION Vec3 scale(double mu, const Vec3& z, const Vec3& normal) {
  return mu > 0 ? stretch(mu, 1, z, normal) : dot(z, normal) * normal;
}

/// The diagonal blocks of N + R; only the normal part of N where mu = 0.
DeviceArray<Sym3*> constant_diagonal(const Problem& problem, const DeviceArray<double* [2]>& rho) {
  DeviceArray<Sym3*> a("ccp::NewtonSystem::diagonal", problem.contacts());
  const auto normal = problem.normal();
  const auto mu = problem.mu();
  const auto block = problem.shared_delassus().diagonal_blocks();
  Kokkos::parallel_for(
      "ccp::NewtonSystem::constant_diagonal", range(problem.contacts()),
      KOKKOS_LAMBDA(const int c) {
        const double axis[3] = {normal(c, 0), normal(c, 1), normal(c, 2)};
        double nn = 0;  // n . N_cc n
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) nn += axis[i] * block(c, i, j) * axis[j];
        }
        const bool friction = mu(c) > 0;
        const double across = friction ? rho(c, 1) : 0;  // update() adds the identity where mu = 0
        const double along = rho(c, 0) - across;
        a(c) = symmetric([&](int i, int j) {
          return (friction ? block(c, i, j) : nn * axis[i] * axis[j]) + along * axis[i] * axis[j] +
                 (i == j ? across : 0);
        });
      });
  return a;
}

/// Hands velocities of contacts on, and takes those of triples beside them.
template <class Sink>
struct BesideSink {
  Sink sink;
  NewtonPools pools;
  int contacts;
  VectorView y;

  KOKKOS_INLINE_FUNCTION void operator()(int t, const Vec3& d) const {
    if (t < contacts) {
      sink(t, d);
    } else {
      store3(y, t, pools.velocity(t, d));
    }
  }
};

/// Calls sink(c, d_c) for every contact, with d = N p; velocities of triples beside them go to y.
template <class Sink>
void product(const DelassusOperator& delassus, const NewtonPools& pools, const ConstVectorView& p,
             const VectorView& y, const Sink& sink) {
  if (pools.empty()) {
    delassus.apply_fused(p, sink);
  } else {
    delassus.apply_fused(p, BesideSink<Sink>{sink, pools, delassus.contacts(), y});
  }
}

}  // namespace

// Device lambdas may not live in a constructor, hence the function above.
NewtonSystem::NewtonSystem(const Problem& problem, DeviceArray<double* [2]> regularization,
                           double of_pools)
    : map_(problem.map()),
      delassus_(problem.delassus()),
      r_(problem.r()),
      mu_(problem.mu()),
      normal_(problem.normal()),
      has_idle_(std::count(problem.host().mu.begin(), problem.host().mu.end(), 0.0) > 0),
      scaled_("ccp::NewtonSystem::scaled", 3 * static_cast<std::size_t>(problem.triples())),
      regularization_(regularization),
      scaling_("ccp::NewtonSystem::scaling", problem.contacts()),
      diagonal_(constant_diagonal(problem, regularization)),
      pools_(problem, of_pools) {
  if (!pools_.empty()) roots_ = NewtonRoots(problem, pools_, diagonal_);
}

void NewtonSystem::apply(const Vector& p, Vector& y, Teuchos::ETransp, double alpha,
                         double beta) const {
  if (alpha != 1 || beta != 0) throw std::invalid_argument("NewtonSystem::apply: alpha=1, beta=0");
  ++applies_;
  if (on_apply) on_apply();
  if (!matrix_.is_null()) {
    matrix_->apply(p, y);
    return;
  }
  const auto in = read_view(p);
  const auto out = overwrite_view(y);
  const auto normal = normal_;
  const auto mu = mu_;
  ConstVectorView pushing = in;
  if (has_idle_ || !pools_.empty()) {
    // An idle part must push nobody; Krylov vectors have none, but some preconditioners mix.
    const auto active = scaled_;
    Kokkos::parallel_for(
        "ccp::NewtonSystem::active", range(mu.extent(0)), KOKKOS_LAMBDA(const int c) {
          const Vec3 z = load3(in, c), n = row3(normal, c);
          store3(active, c, mu(c) > 0 ? z : dot(z, n) * n);
        });
    pools_.impulses(in, active);
    pushing = active;
  }
  const auto rho = regularization_;
  const auto w = scaling_;
  product(
      *delassus_, pools_, pushing, out, KOKKOS_LAMBDA(const int c, const Vec3& d) {
        const Vec3 z = load3(in, c), n = row3(normal, c), tw = row3(w, c);
        const double det = w(c, 3), zn = dot(z, n), m = mu(c);
        if (m > 0) {
          // T P(w) T z = Tw (Tw.z) - det w ((1 + mu^2) z_n n - z), and R z.
          const double along = rho(c, 0) - rho(c, 1) - det * (1 + m * m);
          store3(out, c, d + (det + rho(c, 1)) * z + (along * zn) * n + dot(tw, z) * tw);
        } else {
          const double dn = dot(d, n) + (det + rho(c, 0)) * zn;
          store3(out, c, z + (dn - zn) * n);
        }
      });
  pools_.add(in, out);
}

void NewtonSystem::velocity(const VectorView& x, const VectorView& y) const {
  ++applies_;
  impulse(x, scaled_);
  const auto normal = normal_;
  const auto mu = mu_;
  const auto r = r_;
  product(
      *delassus_, pools_, scaled_, y, KOKKOS_LAMBDA(const int c, const Vec3& d) {
        store3(y, c, unscale(mu(c), d + load3(r, c), row3(normal, c)));
      });
  pools_.add_velocities(r, y);
}

void NewtonSystem::direction(const VectorView& dgamma, const VectorView& dx,
                             const VectorView& dy) const {
  ++applies_;
  const auto normal = normal_;
  const auto mu = mu_;
  ConstVectorView pushing = dgamma;
  if (!pools_.empty()) {
    Kokkos::deep_copy(scaled_, dgamma);
    pools_.impulses(dgamma, scaled_);
    pools_.steps(dgamma, dx);
    pushing = scaled_;
  }
  product(
      *delassus_, pools_, pushing, dy, KOKKOS_LAMBDA(const int c, const Vec3& d) {
        const Vec3 n = row3(normal, c);
        store3(dx, c, scale(mu(c), load3(dgamma, c), n));
        store3(dy, c, unscale(mu(c), d, n));
      });
}

void NewtonSystem::impulse(const VectorView& x, const VectorView& gamma) const {
  const auto normal = normal_;
  const auto mu = mu_;
  Kokkos::parallel_for(
      "ccp::NewtonSystem::impulse", range(mu.extent(0)), KOKKOS_LAMBDA(const int c) {
        store3(gamma, c, unscale(mu(c), load3(x, c), row3(normal, c)));
      });
  pools_.impulses(x, gamma);
}

void NewtonSystem::scale_rhs(const VectorView& b) const {
  const auto normal = normal_;
  const auto mu = mu_;
  Kokkos::parallel_for(
      "ccp::NewtonSystem::scale_rhs", range(mu.extent(0)),
      KOKKOS_LAMBDA(const int c) { store3(b, c, scale(mu(c), load3(b, c), row3(normal, c))); });
}

void NewtonSystem::set_scaling(const VectorView& x, const VectorView& y) {
  const auto normal = normal_;
  const auto mu = mu_;
  const auto w = scaling_;
  Kokkos::parallel_for(
      "ccp::NewtonSystem::set_scaling", range(mu.extent(0)), KOKKOS_LAMBDA(const int c) {
        const Vec3 n = row3(normal, c), xc = load3(x, c), yc = load3(y, c);
        if (mu(c) == 0) {
          w(c, 0) = w(c, 1) = w(c, 2) = 0;
          w(c, 3) = dot(yc, n) / dot(xc, n);
          return;
        }
        const jordan::ScalingPoint point = jordan::nt_scaling(xc, yc, n);
        const Vec3 tw = scale(mu(c), point.w, n);
        w(c, 0) = tw.x, w(c, 1) = tw.y, w(c, 2) = tw.z;
        w(c, 3) = point.det;
      });
  pools_.set_scaling(x, y);
  if (!pools_.empty()) roots_.update(x, y, pools_);
}

void NewtonSystem::set_scaling(const DeviceArray<const double* [4]>& scaling) {
  Kokkos::deep_copy(scaling_, scaling);
}

void NewtonSystem::diagonal_blocks(const DeviceArray<Sym3*>& blocks) const {
  const auto normal = normal_;
  const auto mu = mu_;
  const auto w = scaling_;
  const auto base = diagonal_;
  const auto a = blocks;
  Kokkos::parallel_for(
      "ccp::NewtonSystem::diagonal_blocks", range(mu.extent(0)), KOKKOS_LAMBDA(const int c) {
        const double det = w(c, 3), m = mu(c);
        const double n[3] = {normal(c, 0), normal(c, 1), normal(c, 2)};
        // mu = 0: det along the normal, 1 across it.
        const double along = m > 0 ? -det * (1 + m * m) : det - 1, across = m > 0 ? det : 1;
        const Sym3 own = base(c);
        a(c) = symmetric([&](int i, int j) {
          return own(i, j) + w(c, i) * w(c, j) + along * n[i] * n[j] + (i == j ? across : 0);
        });
      });
  pools_.diagonal_blocks(blocks);
}

}  // namespace ccp
