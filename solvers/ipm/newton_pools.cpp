#include "solvers/ipm/newton_pools.hpp"

#include <algorithm>

#include "problems/model/constraint_math.hpp"
#include "solvers/core/extremes.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

using jordan::Wide;

/// The blocks of N between contacts and their rolling triples, velocities of the contacts by
/// moments: the angular velocity that a moment gives to both bodies moves the contact at their
/// arms.
std::vector<CrossBlock> cross_blocks(const ContactProblem& problem) {
  std::vector<CrossBlock> blocks;
  for (const std::int32_t contact : problem.rolling.contact) {
    const auto c = static_cast<std::size_t>(contact);
    CrossBlock block{};
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = problem.contact_bodies[2 * c + static_cast<std::size_t>(side)];
      if (!is_movable(problem, body)) continue;
      const Lever lever = lever_of(arm_of(problem, c, side));
      for (int p = 0; p < 3; ++p) {
        const double* const row = lever.row[p];
        const Vec3 spin =
            spin_of(problem, static_cast<std::size_t>(body), {row[0], row[1], row[2]});
        block.a[3 * p] += spin.x, block.a[3 * p + 1] += spin.y, block.a[3 * p + 2] += spin.z;
      }
    }
    blocks.push_back(block);
  }
  return blocks;
}

}  // namespace

NewtonPools::NewtonPools(const Problem& problem, double regularization)
    : first_(problem.contacts()),
      size_(problem.pools().size()),
      rolling_(problem.pools().rolling()),
      cones_(static_cast<int>(std::count_if(problem.host().rolling.rho.begin(),
                                            problem.host().rolling.rho.end(),
                                            [](double rho) { return rho > 0; }))),
      units_(pool_units(problem)),
      contact_(problem.pools().contact()),
      second_("ccp::NewtonPools::second", rolling_),
      rows_(problem.pools().rows()),
      normal_(problem.normal()),
      mu_(problem.mu()),
      own_("ccp::NewtonPools::own", size_),
      base_("ccp::NewtonPools::base", size_),
      base_cross_("ccp::NewtonPools::base_cross", rolling_),
      cross_("ccp::NewtonPools::cross", rolling_),
      second_scaling_("ccp::NewtonPools::second_scaling", rolling_),
      scaling_("ccp::NewtonPools::scaling", rolling_),
      split_("ccp::NewtonPools::split", rolling_),
      dsplit_("ccp::NewtonPools::dsplit", rolling_),
      offset_("ccp::NewtonPools::offset", rolling_) {
  if (!empty()) set_up(problem, regularization);
}

void NewtonPools::set_up(const Problem& problem, double regularization) {
  const NewtonPools self = *this;
  // As in vipm.
  const double joint = 1e-8 * problem.delassus_scale();
  const auto blocks = problem.pools().diagonal_blocks();
  const auto cross = upload<DeviceArray<CrossBlock*>>("ccp::NewtonPools::given",
                                                      cross_blocks(problem.host()), rolling_);
  const auto own = own_, base = base_;
  const FreeTwist free_twist = problem.pools().free_twist();
  const auto second = second_;
  const auto base_cross = base_cross_;
  Kokkos::parallel_for(
      "ccp::NewtonPools::set_up", range(size_), KOKKOS_LAMBDA(const int j) {
        const double length = self.units_.length(j);
        const bool idle = self.is_idle(j);
        const int rows = j < self.rolling_ ? 3 : self.rows_(j - self.rolling_);
        const double soft = idle ? 1 : j < self.rolling_ ? regularization : joint;
        own(j) = {soft, 0, 0, rows > 1 ? soft : 1, 0, rows > 2 ? soft : 1};
        if (j < self.rolling_) own(j) = free_twist.filled(j, own(j), 1 - soft);
        base(j) = symmetric([&](int p, int q) {
          return (idle ? 0 : length * length * blocks(j)(p, q)) + own(j)(p, q);
        });
        if (j >= self.rolling_) return;
        second(j) = self.first_ + j;
        const Vec3 n = self.axis(j);
        const double axis[3] = {n.x, n.y, n.z};
        CrossBlock beside = cross(j);
        free_twist.without_columns(j, beside.a);
        const bool slides = self.mu_(self.contact_(j)) > 0;
        const double unit = idle ? 0 : length;
        for (int q = 0; q < 3; ++q) {
          double along = 0;
          for (int p = 0; p < 3; ++p) along += axis[p] * beside.a[3 * p + q];
          for (int p = 0; p < 3; ++p) {
            base_cross(j).a[3 * p + q] = unit * (slides ? beside.a[3 * p + q] : axis[p] * along);
          }
        }
      });
}

// ---- the Newton system --------------------------------------------------------------------------

void NewtonPools::impulses(const ConstVectorView& from, const VectorView& to) const {
  if (empty()) return;
  const NewtonPools self = *this;
  Kokkos::parallel_for(
      "ccp::NewtonPools::impulses", range(size_), KOKKOS_LAMBDA(const int j) {
        const int t = self.first_ + j;
        store3(to, t, self.is_idle(j) ? Vec3{} : self.units_.length(j) * load3(from, t));
      });
}

void NewtonPools::add_velocities(const ConstVectorView& r, const VectorView& y) const {
  if (empty()) return;
  const NewtonPools self = *this;
  Kokkos::parallel_for(
      "ccp::NewtonPools::add_velocities", range(size_), KOKKOS_LAMBDA(const int j) {
        const int t = self.first_ + j;
        store3(y, t, load3(y, t) + self.velocity(t, load3(r, t)));
      });
}

void NewtonPools::steps(const VectorView& dgamma, const VectorView& dx) const {
  if (empty()) return;
  const NewtonPools self = *this;
  Kokkos::parallel_for(
      "ccp::NewtonPools::steps", range(size_), KOKKOS_LAMBDA(const int j) {
        const int t = self.first_ + j;
        store3(dx, t, self.is_idle(j) ? Vec3{} : load3(dgamma, t));
      });
}

void NewtonPools::set_scaling(const VectorView& x, const VectorView& y) {
  if (empty()) return;
  const NewtonPools self = *this;
  const auto second = second_scaling_;
  const auto scaling = scaling_;
  const auto split = split_;
  const auto cross = cross_, base = base_cross_;
  Kokkos::parallel_for(
      "ccp::NewtonPools::set_scaling", range(rolling_), KOKKOS_LAMBDA(const int k) {
        if (self.is_idle(k)) return;
        const Wide spread = self.spread(k, split(k), load3(y, self.first_ + k));
        const jordan::WideScaling s = make_scaling(self.impulse(k, x), spread, {1, 0, 0});
        second(k) = s;
        const double hh = s.high * s.high, ll = s.low * s.low, side = s.high * s.low;
        const double mean = 0.5 * (hh + ll), limit = self.units_.limit(k);
        const double v[3] = {s.direction.x, s.direction.y, s.direction.z};
        const Vec3 n = self.axis(k), tilt = (0.5 * limit * (hh - ll)) * s.direction;
        scaling(k) = {limit * limit * mean, tilt, symmetric([&](int p, int q) {
                        return (mean - side) * v[p] * v[q] + (p == q ? side : 0);
                      })};
        const double axis[3] = {n.x, n.y, n.z}, t[3] = {tilt.x, tilt.y, tilt.z};
        for (int p = 0; p < 3; ++p) {
          for (int q = 0; q < 3; ++q) {
            cross(k).a[3 * p + q] = base(k).a[3 * p + q] + axis[p] * t[q];
          }
        }
      });
}

void NewtonPools::add(const ConstVectorView& p, const VectorView& y) const {
  if (empty()) return;
  const NewtonPools self = *this;
  Kokkos::parallel_for(
      "ccp::NewtonPools::add", range(size_), KOKKOS_LAMBDA(const int j) {
        const int t = self.first_ + j;
        const Vec3 impulse = load3(p, t);
        Vec3 push = self.own_(j) * impulse;
        if (j < self.rolling_ && !self.is_idle(j)) {
          const int c = self.contact_(j);
          const Vec3 n = self.axis(j);
          const double along = dot(load3(p, c), n);
          const Block& block = self.scaling_(j);
          push = push + along * block.tilt + block.across * impulse;
          store3(y, c, load3(y, c) + (block.along * along + dot(block.tilt, impulse)) * n);
        }
        store3(y, t, load3(y, t) + push);
      });
}

void NewtonPools::diagonal_blocks(const DeviceArray<Sym3*>& blocks) const {
  if (empty()) return;
  const NewtonPools self = *this;
  Kokkos::parallel_for(
      "ccp::NewtonPools::diagonal_blocks", range(size_), KOKKOS_LAMBDA(const int j) {
        const Sym3 base = self.base_(j);
        blocks(self.first_ + j) = base;
        if (j >= self.rolling_ || self.is_idle(j)) return;
        const Block& block = self.scaling_(j);
        blocks(self.first_ + j) =
            symmetric([&](int p, int q) { return base(p, q) + block.across(p, q); });
        const int c = self.contact_(j);
        const Sym3 own = blocks(c);
        const Vec3 n = self.axis(j);
        const double axis[3] = {n.x, n.y, n.z};
        blocks(c) =
            symmetric([&](int p, int q) { return own(p, q) + block.along * axis[p] * axis[q]; });
      });
}

// ---- the iterate --------------------------------------------------------------------------------

void NewtonPools::start(const VectorView& x, double alpha, const VectorView& y) {
  if (empty()) return;
  const NewtonPools self = *this;
  const auto split = split_;
  Kokkos::parallel_for(
      "ccp::NewtonPools::start", range(rolling_), KOKKOS_LAMBDA(const int k) {
        split(k) = 0;
        if (self.is_idle(k)) return;
        split(k) = self.units_.limit(k) * alpha * inverse(self.impulse(k, x)).n;
        const int c = self.contact_(k);
        store3(y, c, load3(y, c) - (self.share(k) * split(k)) * self.axis(k));
      });
}

void NewtonPools::central_partner(const VectorView& x, double alpha, const VectorView& y) const {
  if (empty()) return;
  const NewtonPools self = *this;
  Kokkos::parallel_for(
      "ccp::NewtonPools::central_partner", range(size_), KOKKOS_LAMBDA(const int j) {
        const bool cone = j < self.rolling_ && !self.is_idle(j);
        store3(y, self.first_ + j, cone ? alpha * inverse(self.impulse(j, x)).t : Vec3{});
      });
}

void NewtonPools::add_rhs(const VectorView& x, double alpha, const VectorView& b) {
  if (empty()) return;
  const NewtonPools self = *this;
  const auto offset = offset_;
  Kokkos::parallel_for(
      "ccp::NewtonPools::add_rhs", range(rolling_), KOKKOS_LAMBDA(const int k) {
        if (self.is_idle(k)) return;
        offset(k) = self.units_.limit(k) * alpha * inverse(self.impulse(k, x)).n - self.split_(k);
        const int c = self.contact_(k);
        store3(b, c, load3(b, c) + offset(k) * self.axis(k));
      });
}

void NewtonPools::direction(const VectorView& dgamma, const VectorView& dy) {
  if (empty()) return;
  const NewtonPools self = *this;
  const auto dsplit = dsplit_;
  Kokkos::parallel_for(
      "ccp::NewtonPools::direction", range(rolling_), KOKKOS_LAMBDA(const int k) {
        if (self.is_idle(k)) return;
        const int c = self.contact_(k);
        const Vec3 n = self.axis(k);
        const Block& block = self.scaling_(k);
        dsplit(k) = self.offset_(k) - block.along * dot(load3(dgamma, c), n) -
                    dot(block.tilt, load3(dgamma, self.first_ + k));
        store3(dy, c, load3(dy, c) - (self.share(k) * dsplit(k)) * n);
      });
}

void NewtonPools::add_centrality(const VectorView& x, const VectorView& y, const VectorView& d,
                                 Centrality& sum) const {
  if (empty()) return;
  const NewtonPools self = *this;
  Centrality own;
  Kokkos::parallel_reduce(
      "ccp::NewtonPools::centrality", range(rolling_),
      KOKKOS_LAMBDA(const int k, double& product, double& along, double& logs) {
        if (self.is_idle(k)) return;
        const int t = self.first_ + k;
        const Wide one = self.impulse(k, x), other = self.spread(k, self.split_(k), load3(y, t));
        product += dot(one, other);
        along += dot(one.t, load3(d, t));
        logs += log(4 * det(one) * det(other));
      },
      Kokkos::Sum<double>(own.dot), Kokkos::Sum<double>(own.along), Kokkos::Sum<double>(own.logs));
  sum.dot += own.dot, sum.along += own.along, sum.logs += own.logs;
}

double NewtonPools::max_step(const VectorView& x, const VectorView& dx, const VectorView& y,
                             const VectorView& dy) const {
  if (empty()) return 1e300;
  const NewtonPools self = *this;
  double theta = 1e300;
  Kokkos::parallel_reduce(
      "ccp::NewtonPools::max_step", range(rolling_),
      KOKKOS_LAMBDA(const int k, double& smallest) {
        if (self.is_idle(k)) return;
        const int t = self.first_ + k;
        lower(smallest, jordan::max_step(self.impulse(k, x), self.impulse(k, dx)));
        lower(smallest, jordan::max_step(self.spread(k, self.split_(k), load3(y, t)),
                                         self.spread(k, self.dsplit_(k), load3(dy, t))));
      },
      Smallest(theta));
  return theta;
}

void NewtonPools::advance(double theta) {
  if (empty()) return;
  const auto split = split_, dsplit = dsplit_;
  Kokkos::parallel_for(
      "ccp::NewtonPools::advance", range(rolling_),
      KOKKOS_LAMBDA(const int k) { split(k) += theta * dsplit(k); });
}

void NewtonPools::keep_inside(const VectorView& x, const VectorView& y) {
  if (empty()) return;
  const NewtonPools self = *this;
  const auto split = split_;
  Kokkos::parallel_for(
      "ccp::NewtonPools::keep_inside", range(rolling_), KOKKOS_LAMBDA(const int k) {
        if (self.is_idle(k)) return;
        const int c = self.contact_(k), t = self.first_ + k;
        const Vec3 n = self.axis(k);
        const double limit = self.units_.limit(k), share = self.share(k);
        const Wide one = self.impulse(k, x), other = self.spread(k, split(k), load3(y, t));
        const double more = jordan::lift_inside(one.n, norm(one.t)),
                     wider = limit * jordan::lift_inside(other.n, norm(other.t));
        if (more > 0) store3(x, c, load3(x, c) + (more / (limit * share)) * n);
        if (!(wider > 0)) return;
        split(k) += wider;
        store3(y, c, load3(y, c) - (share * wider) * n);
      });
}

bool NewtonPools::is_feasible(const VectorView& y, const VectorView& d, double s) const {
  if (empty()) return true;
  const NewtonPools self = *this;
  int outside = 0;
  Kokkos::parallel_reduce(
      "ccp::NewtonPools::is_feasible", range(rolling_),
      KOKKOS_LAMBDA(const int k, int& count) {
        if (self.is_idle(k)) return;
        const int t = self.first_ + k;
        const Wide z = self.spread(k, self.split_(k), load3(y, t) - s * load3(d, t));
        if (!(z.n > norm(z.t))) ++count;
      },
      outside);
  return outside == 0;
}

double NewtonPools::joint_error(const VectorView& y, const VectorView& d, double s) const {
  if (empty()) return 0;
  const int joints = first_ + rolling_;
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::NewtonPools::joint_error", range(size_ - rolling_),
      KOKKOS_LAMBDA(const int e, double& error) {
        raise(error, norm(load3(y, joints + e) - s * load3(d, joints + e)));
      },
      Largest(largest));
  return largest;
}

}  // namespace ccp
