#include "solvers/vipm/pool_state.hpp"

#include "solvers/core/extremes.hpp"

namespace ccp::vipm {
namespace {

/// T z or, with its inverse as the factor, T^-1 z, for T = diag(limit, 1); a limit of zero leaves
/// the half-line.
KOKKOS_INLINE_FUNCTION Wide scaled(double limit, const Wide& z) {
  return limit == 0 ? Wide{z.n, {}} : Wide{limit * z.n, z.t};
}
KOKKOS_INLINE_FUNCTION double inverse_of(double limit) {
  return limit == 0 ? 0 : 1 / limit;
}

/// Sigma of a contact's tangential part.
KOKKOS_INLINE_FUNCTION Sym3 isotropic(double value) {
  return {value, 0, 0, value, 0, value};
}

}  // namespace

PoolState::PoolState(const Problem& problem, ContactState& contacts)
    : contacts_(contacts),
      first_(problem.contacts()),
      rolling_(problem.pools().rolling()),
      equality_(problem.pools().equality()),
      given_(contacts.given()),
      place_("ccp::Vipm::place", rolling_),
      units_(pool_units(problem)),
      rows_(problem.pools().rows()),
      softness_(1e-8 * problem.delassus_scale()),
      r_("ccp::Vipm::pool_r", 3 * static_cast<std::size_t>(problem.pools().size())),
      left_("ccp::Vipm::left", 3 * static_cast<std::size_t>(equality_)),
      sliding_("ccp::Vipm::sliding", rolling_),
      turning_("ccp::Vipm::turning", rolling_),
      k_("ccp::Vipm::pool_k", problem.triples()),
      cross_("ccp::Vipm::cross", rolling_) {
  for (DeviceArray<double*>* array : {&normal_, &dnormal_, &split_, &dsplit_, &offset_, &change_}) {
    *array = DeviceArray<double*>("ccp::Vipm::rolling", rolling_);
  }
  set_up(problem);
}

void PoolState::set_up(const Problem& problem) {
  const auto length = units_.length;
  const auto from = problem.r();
  const auto r = r_;
  const int first = first_;
  Kokkos::parallel_for(
      "ccp::Vipm::set_up_pools", range(rolling_ + equality_),
      KOKKOS_LAMBDA(const int j) { store3(r, j, length(j) * load3(from, first + j)); });
  if (rolling_ == 0) return;
  const auto rolling_of = problem.pools().rolling_of();
  const auto given = given_;
  const auto place = place_;
  Kokkos::parallel_for(
      "ccp::Vipm::place", range(first_), KOKKOS_LAMBDA(const int c) {
        const int k = rolling_of(given.order(c));
        if (k >= 0) place(k) = c;
      });
}

// ---- units and starts ---------------------------------------------------------------------------

void PoolState::to_units_of_contacts(const ConstVectorView& from, const VectorView& to) const {
  const auto length = units_.length;
  const int first = first_;
  Kokkos::parallel_for(
      "ccp::Vipm::to_units", range(rolling_ + equality_), KOKKOS_LAMBDA(const int j) {
        store3(to, first + j, (1 / length(j)) * load3(from, first + j));
      });
}

void PoolState::from_units_of_contacts(const ConstVectorView& from, const VectorView& to) const {
  const auto length = units_.length;
  const int first = first_;
  Kokkos::parallel_for(
      "ccp::Vipm::from_units", range(rolling_ + equality_),
      KOKKOS_LAMBDA(const int j) { store3(to, first + j, length(j) * load3(from, first + j)); });
}

void PoolState::start_impulses() {
  const auto gamma = contacts_.gamma();
  const auto given = given_;
  const auto place = place_;
  const auto normal = normal_;
  Kokkos::parallel_for(
      "ccp::Vipm::start_moments", range(rolling_), KOKKOS_LAMBDA(const int k) {
        const int c = place(k);
        normal(k) = dot(load3(gamma, c), given.normal_of(c));
      });
}

void PoolState::start_impulses(const ConstVectorView& guess, double least) {
  const auto gamma = contacts_.gamma();
  const auto given = given_;
  const auto place = place_;
  const auto normal = normal_;
  const auto limit = units_.limit;
  const int first = first_, rolling = rolling_;
  Kokkos::parallel_for(
      "ccp::Vipm::start_moments", range(rolling_ + equality_), KOKKOS_LAMBDA(const int j) {
        if (j >= rolling) {
          store3(gamma, first + j, load3(guess, first + j));
          return;
        }
        const int c = place(j);
        const Vec3 n = given.normal_of(c), moment = load3(guess, first + j);
        const double own = dot(load3(gamma, c), n);
        const double wanted = limit(j) == 0 ? least : (norm(moment) + least) / limit(j);
        normal(j) = wanted > own ? wanted : own;
        if (wanted > own) store3(gamma, c, load3(gamma, c) + (wanted - own) * n);
        store3(gamma, first + j, limit(j) == 0 ? Vec3{} : moment);
      });
}

void PoolState::start_velocities(const VectorView& d, double least) {
  const auto gamma = contacts_.gamma(), u = contacts_.u();
  const auto r = r_;
  const auto sigma = units_.compliance;
  const auto split = split_;
  const auto limit = units_.limit;
  const int first = first_, rolling = rolling_;
  Kokkos::parallel_for(
      "ccp::Vipm::start_split", range(rolling_ + equality_), KOKKOS_LAMBDA(const int j) {
        if (j >= rolling) {
          store3(u, first + j, Vec3{});
          return;
        }
        const Vec3 turn = load3(d, first + j) + load3(r, j) + sigma(j) * load3(gamma, first + j);
        store3(u, first + j, turn);
        split(j) = limit(j) == 0 ? least : limit(j) * (norm(turn) + least);
      });
  take_split(d);
}

ContactState::Guess PoolState::judge(const ConstVectorView& guess, const ConstVectorView& d) const {
  const auto given = given_;
  const auto place = place_;
  const auto r = r_;
  const auto sigma = units_.compliance;
  const auto limit = units_.limit;
  const int first = first_, rolling = rolling_;
  ContactState::Guess result;
  Kokkos::parallel_reduce(
      "ccp::Vipm::judge_pools", range(rolling_ + equality_),
      KOKKOS_LAMBDA(const int j, double& product, double& impulse, double& velocity) {
        const Vec3 g = load3(guess, first + j),
                   u = load3(d, first + j) + load3(r, j) + sigma(j) * g;
        product += fabs(dot(g, u));
        if (j >= rolling) {
          if (norm(u) > velocity) velocity = norm(u);
          return;
        }
        const int c = place(j);
        const double outside = norm(g) - limit(j) * dot(load3(guess, c), given.normal_of(c));
        if (outside > impulse) impulse = outside;
        const double turned = limit(j) * norm(u);
        if (turned > velocity) velocity = turned;
      },
      Kokkos::Sum<double>(result.product), Kokkos::Max<double>(result.impulse),
      Kokkos::Max<double>(result.velocity));
  return result;
}

// ---- scaling -----------------------------------------------------------------------------------

void PoolState::take_split(const VectorView& d) const {
  const auto given = given_;
  const auto place = place_;
  const auto split = split_;
  Kokkos::parallel_for(
      "ccp::Vipm::take_split", range(rolling_), KOKKOS_LAMBDA(const int k) {
        const int c = place(k);
        store3(d, c, load3(d, c) - split(k) * given.normal_of(c));
      });
}

ContactState::Sums PoolState::scale(const ConstVectorView& d) {
  const auto gamma = contacts_.gamma(), u = contacts_.u(), gap = contacts_.gap();
  const auto given = given_;
  const auto place = place_;
  const auto r = r_;
  const auto normal = normal_, split = split_;
  const auto limit = units_.limit;
  const auto sigma = units_.compliance;
  const auto sliding = sliding_, turning = turning_;
  const int first = first_;
  ContactState::Sums sums;
  Kokkos::parallel_reduce(
      "ccp::Vipm::scale_rolling", range(rolling_),
      KOKKOS_LAMBDA(const int k, double& product, double& largest) {
        const int c = place(k), j = first + k, row = given.compliance_stride * given.order(c);
        const Vec3 n = given.normal_of(c), gc = load3(gamma, c), uc = load3(u, c);
        const double mu = given.mu_of(c), rho = limit(k);
        const double along = given.compliance(row, 0), across = given.compliance(row, 1);
        const double gn = dot(gc, n), un = dot(uc, n);
        if (mu == 0) {
          sliding(k) = tilted_half_line(gn, un, along);
        } else {
          const Wide x{mu * gn, gc - gn * n}, y{un / mu, uc - un * n};
          sliding(k) =
              tilted_stiffness(make_scaling(x, y, tangents(n).s), mu, along, isotropic(across), n);
        }
        const Vec3 moment = load3(gamma, j), turn = load3(u, j);
        const Vec3 open = turn - load3(d, j) - load3(r, k) - sigma(k) * moment;
        store3(gap, j, open);
        if (rho == 0) {
          turning(k) = tilted_half_line(normal(k), split(k), 0);
          product += normal(k) * split(k);
          return;
        }
        const Wide x{rho * normal(k), moment}, y{split(k) / rho, turn};
        turning(k) = tilted_stiffness(make_scaling(x, y, {1, 0, 0}), rho, 0, sigma(k), Vec3{});
        product += dot(x, y);
        raise(largest, norm(open));
      },
      Kokkos::Sum<double>(sums.product), Largest(sums.gap));
  double joints = 0;
  scale_joints(d, joints);
  raise(sums.gap, joints);
  return sums;
}

/// What is missing to u = 0.
void PoolState::scale_joints(const ConstVectorView& d, double& largest) const {
  const auto gamma = contacts_.gamma(), gap = contacts_.gap();
  const auto r = r_;
  const auto sigma = units_.compliance;
  const int first = first_, rolling = rolling_;
  Kokkos::parallel_reduce(
      "ccp::Vipm::scale_joints", range(equality_),
      KOKKOS_LAMBDA(const int e, double& maximum) {
        const int j = rolling + e, t = first + j;
        const Vec3 open = -1.0 * (load3(d, t) + load3(r, j) + sigma(j) * load3(gamma, t));
        store3(gap, t, open);
        raise(maximum, norm(open));
      },
      Largest(largest));
}

double PoolState::imbalance() const {
  const auto gamma = contacts_.gamma();
  const auto given = given_;
  const auto place = place_;
  const auto normal = normal_;
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::Vipm::imbalance", range(rolling_),
      KOKKOS_LAMBDA(const int k, double& maximum) {
        const int c = place(k);
        raise(maximum, fabs(normal(k) - dot(load3(gamma, c), given.normal_of(c))));
      },
      Largest(largest));
  return largest;
}

void PoolState::stiffness(const DeviceArray<Sym3*>& of_contacts) {
  const auto k = k_;
  const auto cross = cross_;
  const auto given = given_;
  const auto place = place_;
  const auto sliding = sliding_, turning = turning_;
  const auto sigma = units_.compliance;
  const auto rows = rows_;
  const double softness = softness_;
  const int first = first_, rolling = rolling_;
  Kokkos::deep_copy(Kokkos::subview(k, std::make_pair(0, first)), of_contacts);
  Kokkos::parallel_for(
      "ccp::Vipm::pool_stiffness", range(rolling_ + equality_), KOKKOS_LAMBDA(const int j) {
        if (j >= rolling) {
          const Sym3 s = sigma(j);
          const int in_use = rows(j - rolling);
          k(first + j) = {1 / (s.xx + softness),
                          0,
                          0,
                          in_use > 1 ? 1 / (s.yy + softness) : 0,
                          0,
                          in_use > 2 ? 1 / (s.zz + softness) : 0};
          return;
        }
        const TiltedStiffness one = sliding(j), other = turning(j);
        const double both = one.along / (one.along + other.along) * other.along;
        const Vec3 lever = given.normal_of(place(j)) + one.tilt;
        const double v[3] = {lever.x, lever.y, lever.z},
                     w[3] = {other.tilt.x, other.tilt.y, other.tilt.z};
        k(place(j)) =
            symmetric([&](int p, int q) { return both * v[p] * v[q] + one.across(p, q); });
        k(first + j) =
            symmetric([&](int p, int q) { return both * w[p] * w[q] + other.across(p, q); });
        for (int p = 0; p < 3; ++p) {
          for (int q = 0; q < 3; ++q) cross(j).a[3 * p + q] = both * v[p] * w[q];
        }
      });
}

// ---- directions --------------------------------------------------------------------------------

namespace {

/// The split that balances the normal impulses: without dz, or with its d alone.
struct SplitBalance {
  GivenContacts given;
  DeviceArray<int*> place;
  DeviceArray<TiltedStiffness*> sliding, turning;
  int first;

  /// Of impulses p and second, by which n_2 exceeds the other; they are changed to what they are
  /// with this split.
  template <class View>
  KOKKOS_INLINE_FUNCTION double from_impulses(int k, const View& p, double second) const {
    const int c = place(k);
    const Vec3 n = given.normal_of(c), pc = load3(p, c);
    const TiltedStiffness one = sliding(k), other = turning(k);
    const double db = (second - dot(pc, n)) / (one.along + other.along);
    store3(p, c, pc + (db * one.along) * (n + one.tilt));
    store3(p, first + k, load3(p, first + k) - (db * other.along) * other.tilt);
    return db;
  }
  template <class View>
  KOKKOS_INLINE_FUNCTION double from_velocities(int k, const View& d) const {
    const int c = place(k);
    const TiltedStiffness one = sliding(k), other = turning(k);
    return (one.along * dot(load3(d, c), given.normal_of(c) + one.tilt) -
            other.along * dot(load3(d, first + k), other.tilt)) /
           (one.along + other.along);
  }
};

}  // namespace

void PoolState::right_hand_side(bool predictor, const VectorView& p) {
  const auto gamma = contacts_.gamma(), gap = contacts_.gap(), g = contacts_.dgamma();
  const auto dnormal = dnormal_, offset = offset_;
  const auto sigma = units_.compliance;
  const auto turning = turning_;
  const auto k = k_;
  const int first = first_, rolling = rolling_;
  const SplitBalance balance{given_, place_, sliding_, turning_, first_};
  Kokkos::parallel_for(
      "ccp::Vipm::pool_right_hand_side", range(rolling_ + equality_), KOKKOS_LAMBDA(const int j) {
        const int t = first + j;
        if (j >= rolling) {
          store3(p, t, load3(gamma, t) + k(t) * load3(gap, t));
          return;
        }
        const Wide target = predictor ? Wide{} : Wide{dnormal(j), load3(g, t)};
        const Vec3 yielded = sigma(j) * (target.t - load3(gamma, t));
        const Wide push = turning(j)({0, load3(gap, t) - yielded});
        store3(p, t, target.t + push.t);
        offset(j) = balance.from_impulses(j, p, target.n + push.n);
      });
}

void PoolState::refinement(const VectorView& p) {
  const auto normal = normal_, dnormal = dnormal_, offset = offset_;
  const auto k = k_;
  const auto left = left_;
  const int first = first_, rolling = rolling_;
  const SplitBalance balance{given_, place_, sliding_, turning_, first_};
  Kokkos::parallel_for(
      "ccp::Vipm::pool_refinement", range(rolling_ + equality_), KOKKOS_LAMBDA(const int j) {
        const int t = first + j;
        if (j < rolling) {
          offset(j) = balance.from_impulses(j, p, normal(j) + dnormal(j));
        } else {
          store3(p, t, load3(p, t) + k(t) * load3(left, j - rolling));
        }
      });
}

void PoolState::recover_split(const VectorView& d) {
  const auto offset = offset_, change = change_;
  const auto given = given_;
  const auto place = place_;
  const SplitBalance balance{given_, place_, sliding_, turning_, first_};
  Kokkos::parallel_for(
      "ccp::Vipm::recover_split", range(rolling_), KOKKOS_LAMBDA(const int k) {
        const int c = place(k);
        change(k) = offset(k) + balance.from_velocities(k, d);
        store3(d, c, load3(d, c) - change(k) * given.normal_of(c));
      });
}

/// The impulses of joints, and what their softness leaves: the change times it.
void PoolState::move_joints(const ConstVectorView& d, bool again) const {
  const auto dgamma = contacts_.dgamma(), gap = contacts_.gap(), du = contacts_.du();
  const auto left = left_;
  const auto k = k_;
  const double softness = softness_;
  const int before = first_ + rolling_;
  Kokkos::parallel_for(
      "ccp::Vipm::move_joints", range(equality_), KOKKOS_LAMBDA(const int e) {
        const int t = before + e;
        const Vec3 missing = again ? load3(left, e) : load3(gap, t);
        const Vec3 change = k(t) * (missing - load3(d, t));
        store3(dgamma, t, again ? load3(dgamma, t) + change : change);
        store3(left, e, softness * change);
        store3(du, t, Vec3{});
      });
}

ContactState::Step PoolState::measure_step() const {
  const auto gamma = contacts_.gamma(), u = contacts_.u(), dgamma = contacts_.dgamma(),
             du = contacts_.du();
  const auto normal = normal_, dnormal = dnormal_, split = split_, dsplit = dsplit_;
  const auto limit = units_.limit;
  const int first = first_;
  ContactState::Step step;
  step.theta = 1e300;
  if (rolling_ == 0) return step;
  Kokkos::parallel_reduce(
      "ccp::Vipm::rolling_step", range(rolling_),
      KOKKOS_LAMBDA(const int k, double& smallest, double& product, double& cross, double& square) {
        const int t = first + k;
        const double rho = limit(k), inverse_rho = inverse_of(rho);
        const Wide x = scaled(rho, {normal(k), load3(gamma, t)}),
                   dx = scaled(rho, {dnormal(k), load3(dgamma, t)});
        const Wide y = scaled(inverse_rho, {split(k), load3(u, t)}),
                   dy = scaled(inverse_rho, {dsplit(k), load3(du, t)});
        lower(smallest, max_step(x, dx));
        lower(smallest, max_step(y, dy));
        product += dot(x, y);
        cross += dot(x, dy) + dot(y, dx);
        square += dot(dx, dy);
      },
      Smallest(step.theta), Kokkos::Sum<double>(step.product), Kokkos::Sum<double>(step.cross),
      Kokkos::Sum<double>(step.square));
  return step;
}

ContactState::Step PoolState::predictor(const ConstVectorView& d) {
  const auto dgamma = contacts_.dgamma();
  const auto dnormal = dnormal_;
  const int first = first_;
  Kokkos::parallel_for(
      "ccp::Vipm::no_target", range(rolling_), KOKKOS_LAMBDA(const int k) {
        dnormal(k) = 0;
        store3(dgamma, first + k, Vec3{});
      });
  return direction(d);
}

ContactState::Step PoolState::direction(const ConstVectorView& d) {
  const auto gamma = contacts_.gamma(), gap = contacts_.gap(), dgamma = contacts_.dgamma(),
             du = contacts_.du();
  const auto normal = normal_, dnormal = dnormal_, dsplit = dsplit_, change = change_;
  const auto sigma = units_.compliance;
  const auto turning = turning_;
  const int first = first_;
  Kokkos::parallel_for(
      "ccp::Vipm::rolling_direction", range(rolling_), KOKKOS_LAMBDA(const int k) {
        const int t = first + k;
        const Wide target{dnormal(k) - normal(k), load3(dgamma, t) - load3(gamma, t)};
        const Vec3 turn = load3(d, t) - load3(gap, t);
        const Wide push = turning(k)({change(k), turn + sigma(k) * target.t});
        const Vec3 moment = target.t - push.t;
        dsplit(k) = change(k);
        dnormal(k) = target.n - push.n;
        store3(dgamma, t, moment);
        store3(du, t, turn + sigma(k) * moment);
      });
  move_joints(d, false);
  return measure_step();
}

ContactState::Step PoolState::refine(const ConstVectorView& d) {
  const auto dgamma = contacts_.dgamma(), du = contacts_.du();
  const auto dnormal = dnormal_, dsplit = dsplit_, change = change_;
  const auto sigma = units_.compliance;
  const auto turning = turning_;
  const int first = first_;
  Kokkos::parallel_for(
      "ccp::Vipm::refine_rolling", range(rolling_), KOKKOS_LAMBDA(const int k) {
        const int t = first + k;
        const Wide push = turning(k)({change(k), load3(d, t)});
        dsplit(k) += change(k);
        dnormal(k) -= push.n;
        store3(du, t, load3(du, t) + load3(d, t) - sigma(k) * push.t);
        store3(dgamma, t, load3(dgamma, t) - push.t);
      });
  move_joints(d, true);
  return measure_step();
}

void PoolState::corrector_target(double sigma_mu) {
  const auto gamma = contacts_.gamma(), u = contacts_.u(), dgamma = contacts_.dgamma(),
             du = contacts_.du();
  const auto normal = normal_, dnormal = dnormal_, split = split_, dsplit = dsplit_;
  const auto limit = units_.limit;
  const int first = first_;
  Kokkos::parallel_for(
      "ccp::Vipm::rolling_target", range(rolling_), KOKKOS_LAMBDA(const int k) {
        const int t = first + k;
        const double rho = limit(k);
        if (rho == 0) {
          dnormal(k) = (2 * sigma_mu - dnormal(k) * dsplit(k)) / split(k);
          store3(dgamma, t, Vec3{});
          return;
        }
        const double inverse_rho = 1 / rho;
        const Wide x = scaled(rho, {normal(k), load3(gamma, t)}),
                   dx = scaled(rho, {dnormal(k), load3(dgamma, t)});
        const Wide y = scaled(inverse_rho, {split(k), load3(u, t)}),
                   dy = scaled(inverse_rho, {dsplit(k), load3(du, t)});
        const Wide h = second_order(make_scaling(x, y, {1, 0, 0}), x, dx, dy), centre = inverse(y);
        dnormal(k) = (sigma_mu * centre.n - h.n) / rho;
        store3(dgamma, t, sigma_mu * centre.t - h.t);
      });
}

void PoolState::advance(double theta) {
  constexpr double rounding = 4e-16;
  const auto gamma = contacts_.gamma(), u = contacts_.u();
  const auto normal = normal_, dnormal = dnormal_, split = split_, dsplit = dsplit_;
  const auto limit = units_.limit;
  const int first = first_;
  Kokkos::parallel_for(
      "ccp::Vipm::advance_rolling", range(rolling_), KOKKOS_LAMBDA(const int k) {
        normal(k) += theta * dnormal(k);
        split(k) += theta * dsplit(k);
        if (limit(k) == 0) return;
        // As in ContactState::keep_inside.
        const double moment = norm(load3(gamma, first + k)), turn = norm(load3(u, first + k));
        const double x_misses = rounding * moment - (limit(k) * normal(k) - moment);
        const double y_misses = rounding * turn - (split(k) / limit(k) - turn);
        if (x_misses > 0) normal(k) += 2 * x_misses / limit(k);
        if (y_misses > 0) split(k) += 2 * y_misses * limit(k);
      });
}

}  // namespace ccp::vipm
