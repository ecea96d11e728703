#include "solvers/vipm/contact_state.hpp"

#include "solvers/core/extremes.hpp"
#include "solvers/core/vector_kernels.hpp"
#include "solvers/vipm/contact_step.hpp"

namespace ccp::vipm {
namespace {

/// Blocks of K of a stage, number by number: compilers cannot put records of six numbers into
/// lanes.
struct StagedBlocks {
  double xx[stage], xy[stage], xz[stage], yy[stage], yz[stage], zz[stage];

  KOKKOS_INLINE_FUNCTION void put(int i, const Sym3& k) {
    xx[i] = k.xx, xy[i] = k.xy, xz[i] = k.xz;
    yy[i] = k.yy, yz[i] = k.yz, zz[i] = k.zz;
  }
  KOKKOS_INLINE_FUNCTION Sym3 get(int i) const {
    return {xx[i], xy[i], xz[i], yy[i], yz[i], zz[i]};
  }
};

}  // namespace

GivenContacts::GivenContacts(const Problem& problem, const DeviceArray<const int*>& contact_order,
                             const DeviceArray<const double* [2]>& rigid)
    : order(contact_order),
      r(problem.r()),
      normal(problem.normal()),
      mu(problem.mu()),
      compliance(problem.shared_delassus().constraints().compliance()),
      compliance_stride(compliance.extent(0) > 0 ? 1 : 0) {
  if (!is_compliant()) compliance = rigid;
}

ContactState::ContactState(const Problem& problem, const DeviceArray<const int*>& order, bool roots)
    : ranks_(problem.ranks()),
      contacts_(problem.contacts()),
      order_(order),
      given_(problem, order_, rigid_) {
  const std::size_t size = 3 * static_cast<std::size_t>(problem.triples());
  for (VectorView* array : {&gamma_, &u_, &dgamma_, &du_, &gap_}) {
    *array = VectorView("ccp::Vipm::contacts", size);
  }
  g_ = dgamma_;
  k_.k = DeviceArray<Sym3*>("ccp::Vipm::k", contacts_);
  if (roots) k_.root = DeviceArray<ImpulseRoot*>("ccp::Vipm::root", contacts_);
}

void ContactState::write_gamma(const VectorView& out) const {
  restore(gamma_, out);
}

void ContactState::restore(const ConstVectorView& from, const VectorView& to) const {
  const auto given = given_;
  Kokkos::parallel_for(
      "ccp::Vipm::restore", range(contacts_),
      KOKKOS_LAMBDA(const int c) { store3(to, given.order(c), load3(from, c)); });
}

void ContactState::reorder(const ConstVectorView& from, const VectorView& to) const {
  const auto given = given_;
  Kokkos::parallel_for(
      "ccp::Vipm::reorder", range(contacts_),
      KOKKOS_LAMBDA(const int c) { store3(to, c, load3(from, given.order(c))); });
}

void ContactState::start_impulses(double impulse) {
  const auto gamma = gamma_;
  const auto given = given_;
  Kokkos::parallel_for(
      "ccp::Vipm::start_impulses", range(contacts_),
      KOKKOS_LAMBDA(const int c) { store3(gamma, c, impulse * given.normal_of(c)); });
}

void ContactState::start_impulses(const ConstVectorView& guess, double least) {
  const auto gamma = gamma_;
  const auto given = given_;
  Kokkos::parallel_for(
      "ccp::Vipm::start_impulses", range(contacts_), KOKKOS_LAMBDA(const int c) {
        const double m = given.mu_of(c);
        const Vec3 n = given.normal_of(c), start = load3(guess, c);
        if (m == 0) {
          const double value = dot(start, n);
          store3(gamma, c, (value > least ? value : least) * n);
          return;
        }
        const Vec3 x = push_inside(scaled_impulse(start, n, m), n, least);
        store3(gamma, c, stretch(1 / m, 1, x, n));
      });
}

void ContactState::start_velocities(const ConstVectorView& d, double least) {
  const auto u = u_, gamma = gamma_;
  const auto given = given_;
  Kokkos::parallel_for(
      "ccp::Vipm::start_velocities", range(contacts_), KOKKOS_LAMBDA(const int c) {
        const double m = given.mu_of(c);
        const Vec3 n = given.normal_of(c),
                   free = load3(d, c) + given.r_of(c) + given.given_way(c, load3(gamma, c));
        if (m == 0) {
          const double value = dot(free, n);
          store3(u, c, value > least ? free : free + (least - value) * n);
          return;
        }
        const Vec3 y = push_inside(scaled_velocity(free, n, m), n, least);
        store3(u, c, stretch(m, 1, y, n));
      });
}

ContactState::Guess ContactState::judge(const ConstVectorView& guess,
                                        const ConstVectorView& d) const {
  const auto given = given_;
  Guess result;
  Kokkos::parallel_reduce(
      "ccp::Vipm::judge", range(contacts_),
      KOKKOS_LAMBDA(const int c, double& product, double& impulse, double& velocity) {
        const double m = given.mu_of(c);
        const Vec3 n = given.normal_of(c), gc = load3(guess, c),
                   uc = load3(d, c) + given.r_of(c) + given.given_way(c, gc);
        const Split g = split(gc, n), u = split(uc, n);
        product += fabs(dot(gc, uc));
        const double outside = g.size - m * g.n, below = m * u.size - u.n;
        if (outside > impulse) impulse = outside;
        if (below > velocity) velocity = below;
      },
      Kokkos::Sum<double>(result.product), Kokkos::Max<double>(result.impulse),
      Kokkos::Max<double>(result.velocity));
  return {ranks_.sum(result.product), ranks_.largest(result.impulse),
          ranks_.largest(result.velocity)};
}

ContactState::Sums ContactState::scale(const ConstVectorView& d) {
  const auto gamma = gamma_, u = u_, gap = gap_;
  const auto given = given_;
  const auto k = k_.k;
  const int contacts = contacts_;
  Sums sums;
  Kokkos::parallel_reduce(
      "ccp::Vipm::scale", range(stages(contacts)),
      KOKKOS_LAMBDA(const int block, double& product, double& impulses,
                    double& largest) CCP_FLATTEN {
        const int begin = block * stage, count = staged_count(begin, contacts);
        const StagedContacts staged(given, begin, count);
        Vec3 r[stage], yielded[stage];
        double yielding[stage];  // n . Sigma n
        for (int i = 0; i < count; ++i) {
          r[i] = given.r_of(begin + i);
          yielded[i] = given.given_way(begin + i, load3(gamma, begin + i));
          yielding[i] = dot(given.given_way(begin + i, staged.normal[i]), staged.normal[i]);
          CCP_NO_GATHER;
        }
        double products[stage], normals[stage], gaps[stage];
        StagedBlocks blocks;
        CCP_LANES
        for (int i = 0; i < count; ++i) {
          const double m = staged.mu[i];
          const Vec3 n = staged.normal[i], gc = load3(gamma, begin + i), uc = load3(u, begin + i);
          const Vec3 open = uc - load3(d, begin + i) - r[i] - yielded[i];
          store3(gap, begin + i, open);
          const double gn = dot(gc, n), un = dot(uc, n);
          const double ratio = gn / (un + gn * yielding[i]);
          const double v[3] = {n.x, n.y, n.z};
          const Sym3 cone = impulse_per_velocity(
              make_scaling(scaled_impulse(gc, n, m), scaled_velocity(uc, n, m), n), m);
          blocks.put(i, symmetric([&](int row, int column) {
                       return m == 0 ? ratio * v[column] * v[row] : cone(row, column);
                     }));
          normals[i] = gn;
          products[i] = m == 0 ? gn * un : dot(gc, uc);
          gaps[i] = m == 0 ? fabs(dot(open, n)) : norm(open);
        }
        for (int i = 0; i < count; ++i) {
          k(begin + i) = blocks.get(i);
          product += products[i];
          impulses += normals[i];
          raise(largest, gaps[i]);
        }
      },
      Kokkos::Sum<double>(sums.product), Kokkos::Sum<double>(sums.normal), Largest(sums.gap));
  if (given.is_compliant() || k_.root.extent(0) > 0) scale_by_roots();
  double both[2] = {sums.product, sums.normal};
  ranks_.sum(both, 2);
  return {both[0], both[1], ranks_.largest(sums.gap)};
}

void ContactState::scale_by_roots() {
  const auto gamma = gamma_, u = u_;
  const auto given = given_;
  const auto k = k_.k;
  const auto root = k_.root;
  Kokkos::parallel_for(
      "ccp::Vipm::scale_by_roots", range(contacts_), KOKKOS_LAMBDA(const int c) {
        const double m = given.mu_of(c);
        const Vec3 n = given.normal_of(c), gc = load3(gamma, c), uc = load3(u, c);
        if (m == 0) {
          if (root.extent(0) > 0) root(c) = {{sqrt(dot(gc, n) / dot(uc, n)) * n, {}, {}}};
          return;
        }
        const Scaling s = make_scaling(scaled_impulse(gc, n, m), scaled_velocity(uc, n, m), n);
        if (given.is_compliant()) {
          const int i = given.order(c);
          k(c) =
              yielding_impulse_per_velocity(s, m, given.compliance(i, 0), given.compliance(i, 1));
        } else {
          root(c) = impulse_root(s, m);
        }
      });
}

/// Calls direction(c, dgamma, du) for every contact and measures the step along what it gives.
template <class Direction>
ContactState::Step ContactState::measure_step(const Direction& direction) {
  const auto gamma = gamma_, u = u_, dgamma = dgamma_, du = du_;
  const auto given = given_;
  const int contacts = contacts_;
  Step step;
  Kokkos::parallel_reduce(
      "ccp::Vipm::step", range(stages(contacts)),
      KOKKOS_LAMBDA(const int block, double& smallest, double& product, double& cross,
                    double& square) CCP_FLATTEN {
        const int begin = block * stage, count = staged_count(begin, contacts);
        const StagedContacts staged(given, begin, count);
        for (int c = begin; c < begin + count; ++c) {
          Vec3 dg, dv;
          direction(c, dg, dv);
          store3(dgamma, c, dg);
          store3(du, c, dv);
          CCP_NO_GATHER;
        }
        double reach[stage], products[stage], crosses[stage], squares[stage];
        CCP_LANES
        for (int i = 0; i < count; ++i) {
          const double m = staged.mu[i];
          const Vec3 n = staged.normal[i], gc = load3(gamma, begin + i), uc = load3(u, begin + i);
          const Vec3 dg = load3(dgamma, begin + i), dv = load3(du, begin + i);
          const double one =
              jordan::max_step(scaled_impulse(gc, n, m), scaled_impulse(dg, n, m), n, m == 0);
          const double other =
              jordan::max_step(scaled_velocity(uc, n, m), scaled_velocity(dv, n, m), n, m == 0);
          reach[i] = other < one ? other : one;
          products[i] = dot(gc, uc);  // with mu = 0 impulses have a normal part only
          crosses[i] = dot(gc, dv) + dot(uc, dg);
          squares[i] = dot(dg, dv);
        }
        for (int i = 0; i < count; ++i) {
          lower(smallest, reach[i]);
          product += products[i];
          cross += crosses[i];
          square += squares[i];
        }
      },
      Smallest(step.theta), Kokkos::Sum<double>(step.product), Kokkos::Sum<double>(step.cross),
      Kokkos::Sum<double>(step.square));
  double sums[3] = {step.product, step.cross, step.square};
  ranks_.sum(sums, 3);
  return {-ranks_.largest(-step.theta), sums[0], sums[1], sums[2]};
}

ContactState::Step ContactState::predictor(const ConstVectorView& d) {
  const auto gamma = gamma_, gap = gap_;
  const auto k = k_;
  const auto given = given_;
  return measure_step(KOKKOS_LAMBDA(const int c, Vec3& dg, Vec3& dv) {
    const Vec3 gc = load3(gamma, c);
    dv = load3(d, c) - load3(gap, c);
    dg = -1.0 * (gc + k.fused(c, dv - given.given_way(c, gc)));
    dv = dv + given.given_way(c, dg);
  });
}

ContactState::Step ContactState::direction(const ConstVectorView& d) {
  const auto gamma = gamma_, gap = gap_, g = g_;
  const auto k = k_;
  const auto given = given_;
  return measure_step(KOKKOS_LAMBDA(const int c, Vec3& dg, Vec3& dv) {
    const Vec3 target = load3(g, c) - load3(gamma, c);
    dv = load3(d, c) - load3(gap, c);
    dg = target - k(c, dv + given.given_way(c, target));
    dv = dv + given.given_way(c, dg);
  });
}

ContactState::Step ContactState::refine(const ConstVectorView& d) {
  const auto dgamma = dgamma_, du = du_;
  const auto k = k_;
  const auto given = given_;
  return measure_step(KOKKOS_LAMBDA(const int c, Vec3& dg, Vec3& dv) {
    // K acts on the correction itself: in the sum du + correction its digits would be lost.
    const Vec3 change = k(c, load3(d, c));
    dv = load3(du, c) + load3(d, c) - given.given_way(c, change);
    dg = load3(dgamma, c) - change;
  });
}

void ContactState::corrector_target(double sigma_mu) {
  const auto gamma = gamma_, u = u_, dgamma = dgamma_, du = du_, g = g_;
  const auto given = given_;
  const int contacts = contacts_;
  Kokkos::parallel_for(
      "ccp::Vipm::corrector_target", range(stages(contacts)),
      KOKKOS_LAMBDA(const int block) CCP_FLATTEN {
        const int begin = block * stage, count = staged_count(begin, contacts);
        const StagedContacts staged(given, begin, count);
        CCP_LANES
        for (int i = 0; i < count; ++i) {
          const double m = staged.mu[i];
          const Vec3 n = staged.normal[i], gc = load3(gamma, begin + i), uc = load3(u, begin + i);
          const Vec3 dg = load3(dgamma, begin + i), dv = load3(du, begin + i);
          const double along = (2 * sigma_mu - dot(dg, n) * dot(dv, n)) / dot(uc, n);
          const Vec3 x = scaled_impulse(gc, n, m), y = scaled_velocity(uc, n, m);
          const double det_x = jordan::det(x, n), det_y = jordan::det(y, n);
          const Scaling s = make_scaling(x, y, n);
          const Vec3 target =
              (sigma_mu / det_y) * jordan::reflect(y, n) -
              second_order(s, x, scaled_impulse(dg, n, m), scaled_velocity(dv, n, m), det_x, det_y);
          store3(g, begin + i, select(m == 0, along * n, stretch(1 / m, 1, target, n)));
        }
      });
}

void ContactState::centrality_target(double theta, const Band& band, const VectorView& c,
                                     const VectorView& p) const {
  const auto gamma = gamma_, u = u_, dgamma = dgamma_, du = du_;
  const auto given = given_;
  const auto k = k_;
  const int contacts = contacts_;
  Kokkos::parallel_for(
      "ccp::Vipm::centrality_target", range(stages(contacts)),
      KOKKOS_LAMBDA(const int block) CCP_FLATTEN {
        const int begin = block * stage, count = staged_count(begin, contacts);
        const StagedContacts staged(given, begin, count);
        CCP_LANES
        for (int i = 0; i < count; ++i) {
          const double m = staged.mu[i];
          const Vec3 n = staged.normal[i], gc = load3(gamma, begin + i), uc = load3(u, begin + i);
          const Vec3 dg = load3(dgamma, begin + i), dv = load3(du, begin + i);
          const double product =
              (dot(gc, n) + theta * dot(dg, n)) * (dot(uc, n) + theta * dot(dv, n));
          const double along = band.missing(product) / dot(uc, n);
          const Vec3 x = scaled_impulse(gc, n, m), y = scaled_velocity(uc, n, m);
          const Vec3 target = centrality(make_scaling(x, y, n), x, scaled_impulse(dg, n, m),
                                         scaled_velocity(dv, n, m), jordan::det(x, n),
                                         jordan::det(y, n), theta, band);
          store3(c, begin + i, select(m == 0, along * n, stretch(1 / m, 1, target, n)));
        }
        for (int i = begin; i < begin + count; ++i) {
          const Vec3 target = load3(c, i);
          store3(p, i, target - k(i, given.given_way(i, target)));
        }
      });
}

ContactState::Step ContactState::add_correction(const VectorView& c, const VectorView& d) {
  const auto dgamma = dgamma_, du = du_;
  const auto k = k_;
  const auto given = given_;
  return measure_step(KOKKOS_LAMBDA(const int i, Vec3& dg, Vec3& dv) {
    const Vec3 target = load3(c, i), free = load3(d, i);
    const Vec3 impulse = target - k(i, free + given.given_way(i, target));
    const Vec3 velocity = free + given.given_way(i, impulse);
    store3(c, i, impulse);
    store3(d, i, velocity);
    dg = load3(dgamma, i) + impulse;
    dv = load3(du, i) + velocity;
  });
}

ContactState::Step ContactState::drop_correction(const ConstVectorView& c,
                                                 const ConstVectorView& d) {
  const auto dgamma = dgamma_, du = du_;
  return measure_step(KOKKOS_LAMBDA(const int i, Vec3& dg, Vec3& dv) {
    dg = load3(dgamma, i) - load3(c, i);
    dv = load3(du, i) - load3(d, i);
  });
}

void ContactState::centring_target(double sigma_mu) {
  const auto u = u_, g = g_;
  const auto given = given_;
  Kokkos::parallel_for(
      "ccp::Vipm::centring_target", range(contacts_), KOKKOS_LAMBDA(const int c) {
        const double m = given.mu_of(c);
        const Vec3 n = given.normal_of(c), uc = load3(u, c);
        if (m == 0) {
          store3(g, c, (2 * sigma_mu / dot(uc, n)) * n);
          return;
        }
        const Vec3 y = scaled_velocity(uc, n, m);
        store3(g, c, stretch(1 / m, 1, (sigma_mu / jordan::det(y, n)) * jordan::reflect(y, n), n));
      });
}

void ContactState::right_hand_side(bool predictor, const VectorView& p) const {
  const auto gap = gap_, g = g_, gamma = gamma_;
  const auto k = k_;
  const auto given = given_;
  Kokkos::parallel_for(
      "ccp::Vipm::right_hand_side", range(contacts_), KOKKOS_LAMBDA(const int c) {
        Vec3 target;
        if (!predictor) target = load3(g, c);
        const Vec3 yielded = given.given_way(c, target - load3(gamma, c));
        const Vec3 sum = k(c, load3(gap, c) - yielded);
        store3(p, c, predictor ? sum : sum + target);
      });
}

void ContactState::next_impulses(const VectorView& p) const {
  const auto gamma = gamma_, dgamma = dgamma_;
  Kokkos::parallel_for(
      "ccp::Vipm::next_impulses", range(p.extent(0)),
      KOKKOS_LAMBDA(const int i) { p(i) = gamma(i) + dgamma(i); });
}

void ContactState::advance(double theta) {
  const auto gamma = gamma_, u = u_, dgamma = dgamma_, du = du_;
  Kokkos::parallel_for(
      "ccp::Vipm::advance", range(gamma.extent(0)), KOKKOS_LAMBDA(const int i) {
        gamma(i) += theta * dgamma(i);
        u(i) += theta * du(i);
      });
  keep_inside();
}

void ContactState::keep_inside() {
  constexpr double rounding = 4e-16;
  const auto gamma = gamma_, u = u_;
  const auto given = given_;
  Kokkos::parallel_for(
      "ccp::Vipm::keep_inside", range(contacts_), KOKKOS_LAMBDA(const int c) {
        const double m = given.mu_of(c);
        if (m == 0) return;
        const Vec3 n = given.normal_of(c), gc = load3(gamma, c), uc = load3(u, c);
        const Split x = split(scaled_impulse(gc, n, m), n), y = split(scaled_velocity(uc, n, m), n);
        const double x_misses = rounding * x.size - (x.n - x.size);
        const double y_misses = rounding * y.size - (y.n - y.size);
        if (x_misses > 0) store3(gamma, c, gc + (2 * x_misses / m) * n);
        if (y_misses > 0) store3(u, c, uc + (2 * y_misses * m) * n);
      });
}

void ContactState::change_of_velocity(bool predictor, const VectorView& d) const {
  const auto gamma = gamma_, gap = gap_, g = g_;
  const auto k = k_;
  const auto given = given_;
  Kokkos::parallel_for(
      "ccp::Vipm::change_of_velocity", range(contacts_), KOKKOS_LAMBDA(const int c) {
        const Vec3 gc = load3(gamma, c), dv = load3(d, c) - load3(gap, c);
        const Vec3 target = predictor ? -1.0 * gc : load3(g, c) - gc;
        const Vec3 dg = target - k(c, dv + given.given_way(c, target));
        store3(d, c, dv + given.given_way(c, dg));
      });
}

void ContactState::push_of(const ConstVectorView& dr, const VectorView& p) const {
  const auto k = k_;
  Kokkos::parallel_for(
      "ccp::Vipm::push_of", range(contacts_),
      KOKKOS_LAMBDA(const int c) { store3(p, c, -1.0 * (k(c, load3(dr, c)))); });
}

void ContactState::respond(const ConstVectorView& dr, const VectorView& d) const {
  const auto k = k_;
  const auto given = given_;
  Kokkos::parallel_for(
      "ccp::Vipm::respond", range(contacts_), KOKKOS_LAMBDA(const int c) {
        const Vec3 free = load3(d, c) + load3(dr, c);
        store3(d, c, free - given.given_way(c, k(c, free)));
      });
}

void ContactState::change_gap(double a, const ConstVectorView& dr) const {
  vector_kernels::add(1, gap_, -a, dr, gap_);
}

}  // namespace ccp::vipm
