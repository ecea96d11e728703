#include "solvers/batch/batch_vipm.hpp"

#include <algorithm>

#include "problems/base/error.hpp"
#include "solvers/batch/dense_cholesky.hpp"
#include "solvers/batch/judge.hpp"
#include "solvers/batch/product.hpp"
#include "solvers/vipm/contact_step.hpp"

namespace ccp {
namespace {

using batch::each, batch::sum, batch::Team;

/// E, its transpose and S for bodies that do not rotate: v = M^-1/2 z.
struct StillBodies {
  static constexpr int width = 3;
  DeviceArray<const int* [2]> body;
  DeviceArray<const int*> offset, incidence;
  DeviceArray<double*> root;

  struct Velocity {
    DeviceArray<double*> root;
    VectorView z;
    KOKKOS_INLINE_FUNCTION Vec3 operator()(int i) const { return root(i) * load3(z, i); }
  };
  KOKKOS_INLINE_FUNCTION Vec3 contact_velocity(const VectorView& z, int c) const {
    return RelativeVelocity<Velocity>{body, {root, z}}(c);
  }
  /// f_i = (E^T p)_i.
  KOKKOS_INLINE_FUNCTION void load(const VectorView& p, const VectorView& f, int i) const {
    store3(f, i, root(i) * BodyForce{offset, incidence, p}(i));
  }
  KOKKOS_INLINE_FUNCTION ScaledSide side_of(int, int, int i) const { return {root(i), {}}; }
};

struct TurningBodies {
  static constexpr int width = 6;
  DeviceArray<const int* [2]> body;
  DeviceArray<const int*> offset, incidence;
  DeviceArray<const double* [2][3]> arm;
  BodyMatrices root;  ///< L of M^-1 = L L^T

  struct Velocity {
    BodyMatrices root;
    VectorView z;
    KOKKOS_INLINE_FUNCTION Vec3 linear(int i) const { return root.linear(i) * load3(z, 2 * i); }
    KOKKOS_INLINE_FUNCTION Vec3 angular(int i) const {
      const auto& l = root.angular;
      const Vec3 w = load3(z, 2 * i + 1);
      return {l(i, 0, 0) * w.x, l(i, 1, 0) * w.x + l(i, 1, 1) * w.y,
              l(i, 2, 0) * w.x + l(i, 2, 1) * w.y + l(i, 2, 2) * w.z};
    }
  };
  KOKKOS_INLINE_FUNCTION Vec3 contact_velocity(const VectorView& z, int c) const {
    return RelativeVelocityAtArms<Velocity>{body, arm, {root, z}}(c);
  }
  KOKKOS_INLINE_FUNCTION void load(const VectorView& p, const VectorView& f, int i) const {
    const BodyWrench::Sum sum = BodyWrench{offset, incidence, arm, p}(i);
    const auto& l = root.angular;
    const Vec3& t = sum.torque;
    store3(f, 2 * i, root.linear(i) * sum.force);
    store3(f, 2 * i + 1,
           {l(i, 0, 0) * t.x + l(i, 1, 0) * t.y + l(i, 2, 0) * t.z,
            l(i, 1, 1) * t.y + l(i, 2, 1) * t.z, l(i, 2, 2) * t.z});
  }
  KOKKOS_INLINE_FUNCTION ScaledSide side_of(int c, int side, int i) const {
    ScaledSide result;
    result.mass = root.linear(i);
    result.set_lever(arm, root.angular, c, side, i);
    return result;
  }
};

/// Of a look at the iterate.
struct LookSums {
  double product = 0, normal = 0;
  KOKKOS_INLINE_FUNCTION void add(const LookSums& other) {
    product += other.product;
    normal += other.normal;
  }
};

/// The largest step inside both cones, and gamma.u along it: ContactState::Step.
struct VipmSums {
  double theta = 1e300, product = 0, cross = 0, square = 0;
  KOKKOS_INLINE_FUNCTION void add(const VipmSums& other) {
    lower(theta, other.theta);
    product += other.product;
    cross += other.cross;
    square += other.square;
  }
};

/// Of contacts, m/s.
struct Speed {
  double largest = 0;
  KOKKOS_INLINE_FUNCTION void add(const Speed& other) { raise(largest, other.largest); }
};

/// Some iterations of one problem. The steps have the numbers of vipm/README.md.
template <class Bodies>
struct VipmIterations {
  static constexpr int width = Bodies::width;

  BatchSolver::Progress progress;
  batch::Judge judge;
  Bodies bodies;
  batch::GivenWay given_way;
  DeviceArray<const double* [2]> compliance;
  BatchVipm::State state;
  BatchVipm::Options options;
  DeviceArray<const int*> body_offset;
  int limit;
  std::size_t scratch;  ///< doubles of a team

  /// What a team knows of its problem.
  struct Own {
    int contact, contact_end, body, body_end;
    double q, s;
    batch::DenseMatrix matrix;
  };

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int k = progress.round.begin(team);
    Own own{judge.offset(k),
            judge.offset(k + 1),
            body_offset(k),
            body_offset(k + 1),
            judge.scales(k, 0),
            judge.scales(k, 1),
            {}};
    own.matrix.data = static_cast<double*>(
        team.team_scratch(1).get_shmem(static_cast<int>(scratch * sizeof(double))));
    own.matrix.size = width * (own.body_end - own.body);
    int outer = progress.outer(k);
    double best = state.number(k, 0), since = state.number(k, 1);
    if (outer == 0) start(team, own);
    Status status = Status::running;
    for (int done = 0; status == Status::running && progress.round.goes_on(team, done); ++done) {
      const double residual = look(team, own, k);
      if (residual < best) {
        best = residual;
        since = 0;
        each(team, 3 * own.contact, 3 * own.contact_end,
             [&](const int i) { state.best(i) = state.gamma(i); });
      } else {
        since += 1;
      }
      constexpr double patience = 10;
      status = best <= progress.goal ? Status::stopped_by_observer
               : !(residual < 1e300) ? Status::numerical_error
               : outer >= limit      ? Status::max_iterations
               : since >= patience   ? Status::stagnated
                                     : Status::running;
      if (status != Status::running) break;
      status = step(team, own);
      ++outer;
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      state.number(k, 0) = best;
      state.number(k, 1) = since;
      progress.outer(k) = outer;
      progress.applies(k) = 2 * outer;
      progress.residual(k) = best;
      progress.status(k) = static_cast<int>(status);
    });
  }

  template <class Act>
  KOKKOS_INLINE_FUNCTION void each_contact(const Team& team, const Own& own, const Act& act) const {
    each(team, own.contact, own.contact_end, act);
  }
  template <class Act>
  KOKKOS_INLINE_FUNCTION void each_unknown(const Team& team, const Own& own, const Act& act) const {
    each(team, width * own.body, width * own.body_end, act);
  }
  /// f = E^T p.
  KOKKOS_INLINE_FUNCTION void load(const Team& team, const Own& own, const VectorView& p,
                                   const VectorView& f) const {
    each(team, own.body, own.body_end, [&](const int i) { bodies.load(p, f, i); });
  }
  KOKKOS_INLINE_FUNCTION Vec3 normal_of(int c) const { return row3(judge.normal, c); }
  KOKKOS_INLINE_FUNCTION Vec3 yielded(int c, const Vec3& p) const { return given_way(c, p); }

  /// Impulses that would give velocities above the size of r.
  KOKKOS_INLINE_FUNCTION void start(const Team& team, const Own& own) const {
    const double impulse = options.start * own.q / own.s;
    each_contact(team, own, [&](const int c) { store3(state.gamma, c, impulse * normal_of(c)); });
    load(team, own, state.gamma, state.z);
    each_contact(team, own, [&](const int c) {
      const double m = judge.mu(c);
      const Vec3 n = normal_of(c);
      const Vec3 free = bodies.contact_velocity(state.z, c) + load3(judge.r, c) +
                        yielded(c, load3(state.gamma, c));
      if (m == 0) {
        const double value = dot(free, n);
        store3(state.u, c, value > own.q ? free : free + (own.q - value) * n);
      } else {
        store3(state.u, c,
               stretch(m, 1, vipm::push_inside(vipm::scaled_velocity(free, n, m), n, own.q), n));
      }
    });
  }

  /// Primal and momentum residuals. @return the residual of the impulses
  KOKKOS_INLINE_FUNCTION double look(const Team& team, const Own& own, int k) const {
    load(team, own, state.gamma, state.momentum);
    const double residual = judge(team, k, state.gamma, [&](const int c) {
      return bodies.contact_velocity(state.momentum, c) + yielded(c, load3(state.gamma, c));
    });
    each_contact(team, own, [&](const int c) {
      store3(state.gap, c,
             load3(state.u, c) - bodies.contact_velocity(state.z, c) - load3(judge.r, c) -
                 yielded(c, load3(state.gamma, c)));
    });
    return residual;
  }

  /// One iteration: 1 to 5.
  KOKKOS_INLINE_FUNCTION Status step(const Team& team, const Own& own) const {
    const LookSums sums = scale(team, own);
    assemble(team, own);
    if (!own.matrix.factorise(team)) return Status::stagnated;
    const int cones = own.contact_end - own.contact;
    const double mu = sums.product / (2.0 * cones);
    // The predictor.
    each_contact(team, own, [&](const int c) {
      const Vec3 given = yielded(c, -1.0 * load3(state.gamma, c));
      store3(state.d, c, state.k(c) * (load3(state.gap, c) - given));
    });
    solve(team, own);
    const VipmSums ahead = measure(team, own, [&](const int c, Vec3& dg, Vec3& dv) {
      const Vec3 g = load3(state.gamma, c);
      dv = bodies.contact_velocity(state.dz, c) - load3(state.gap, c);
      dg = -1.0 * (g + state.k(c) * (dv - yielded(c, g)));
      dv = dv + yielded(c, dg);
    });
    const double reach = ahead.theta < 1 ? ahead.theta : 1;
    const double left =
        (ahead.product + reach * (ahead.cross + reach * ahead.square)) / (2.0 * cones * mu);
    const double square = left * left;
    const double sigma = square < 1e-8 ? 1e-8 : square > 1 ? 1 : square;
    // The corrector.
    each_contact(team, own, [&](const int c) { store3(state.g, c, target(c, sigma * mu)); });
    each_contact(team, own, [&](const int c) {
      const Vec3 goal = load3(state.g, c);
      const Vec3 given = yielded(c, goal - load3(state.gamma, c));
      store3(state.d, c, goal + state.k(c) * (load3(state.gap, c) - given));
    });
    solve(team, own);
    VipmSums step = measure(team, own, [&](const int c, Vec3& dg, Vec3& dv) {
      const Vec3 goal = load3(state.g, c) - load3(state.gamma, c);
      dv = bodies.contact_velocity(state.dz, c) - load3(state.gap, c);
      dg = goal - state.k(c) * (dv + yielded(c, goal));
      dv = dv + yielded(c, dg);
    });
    const double typical = sums.normal / cones, least = 0.05 * own.q / own.s;
    step = refine(team, own, options.forcing * mu / (typical > least ? typical : least), step);
    const double longest = options.step_fraction * step.theta, theta = longest < 1 ? longest : 1;
    if (step.cross != step.cross || !(theta > 1e-8)) return Status::stagnated;
    each(team, 3 * own.contact, 3 * own.contact_end, [&](const int i) {
      state.gamma(i) += theta * state.dgamma(i);
      state.u(i) += theta * state.du(i);
    });
    each_unknown(team, own, [&](const int i) { state.z(i) += theta * state.dz(i); });
    each_contact(team, own, [&](const int c) { keep_inside(c); });
    return Status::running;
  }

  /// K of every contact.
  KOKKOS_INLINE_FUNCTION LookSums scale(const Team& team, const Own& own) const {
    return sum<LookSums>(team, own.contact, own.contact_end, [&](const int c, LookSums& part) {
      const double m = judge.mu(c);
      const Vec3 n = normal_of(c), g = load3(state.gamma, c), u = load3(state.u, c);
      const double gn = dot(g, n), un = dot(u, n);
      part.normal += gn;
      part.product += m == 0 ? gn * un : dot(g, u);
      if (m == 0) {
        const double ratio = gn / (un + gn * dot(yielded(c, n), n));
        const double v[3] = {n.x, n.y, n.z};
        state.k(c) = symmetric([&](int i, int j) { return ratio * v[j] * v[i]; });
        return;
      }
      const vipm::Scaling scaling =
          vipm::make_scaling(vipm::scaled_impulse(g, n, m), vipm::scaled_velocity(u, n, m), n);
      state.k(c) = compliance.extent(0) > 0 ? vipm::yielding_impulse_per_velocity(
                                                  scaling, m, compliance(c, 0), compliance(c, 1))
                                            : vipm::impulse_per_velocity(scaling, m);
    });
  }

  /// S = 1 + E^T K E, a block row for each thread.
  KOKKOS_INLINE_FUNCTION void assemble(const Team& team, const Own& own) const {
    const batch::DenseMatrix& a = own.matrix;
    each(team, own.body, own.body_end, [&](const int i) {
      const int row = width * (i - own.body);
      for (int q = 0; q < row + width; ++q) {
        for (int p = 0; p < width; ++p) a(row + p, q) = row + p == q ? 1 : 0;
      }
      for (int l = bodies.offset(i); l < bodies.offset(i + 1); ++l) {
        const int c = (bodies.incidence(l) >> 1) / 3, side = bodies.incidence(l) & 1;
        double k[9];
        expand(state.k(c), k);
        const ScaledSide here = bodies.side_of(c, side, i);
        add_pair(a, k, 1, here, here, row, row);
        const int j = bodies.body(c, 1 - side);
        if (j < own.body || j >= i) continue;
        add_pair(a, k, -1, here, bodies.side_of(c, 1 - side, j), row, width * (j - own.body));
      }
    });
  }
  KOKKOS_INLINE_FUNCTION static void add_pair(const batch::DenseMatrix& a, const double k[9],
                                              double sign, const ScaledSide& one,
                                              const ScaledSide& other, int row, int column) {
    double block[width * width] = {};
    add_body_pair<width>(sign, k, one, other, block);
    for (int p = 0; p < width; ++p) {
      for (int q = 0; q < width; ++q) a(row + p, column + q) += block[width * p + q];
    }
  }

  /// dz = S^-1 (E^T p - z), p in d.
  KOKKOS_INLINE_FUNCTION void solve(const Team& team, const Own& own) const {
    load(team, own, state.d, state.dz);
    each_unknown(team, own, [&](const int i) { state.dz(i) -= state.z(i); });
    own.matrix.solve(team, &state.dz(width * own.body));
  }

  /// direction(c, dgamma, du) of every contact, and the step along it.
  template <class Direction>
  KOKKOS_INLINE_FUNCTION VipmSums measure(const Team& team, const Own& own,
                                          const Direction& direction) const {
    return sum<VipmSums>(team, own.contact, own.contact_end, [&](const int c, VipmSums& part) {
      Vec3 dg, dv;
      direction(c, dg, dv);
      store3(state.dgamma, c, dg);
      store3(state.du, c, dv);
      const double m = judge.mu(c);
      const Vec3 n = normal_of(c), g = load3(state.gamma, c), u = load3(state.u, c);
      const double one = jordan::max_step(vipm::scaled_impulse(g, n, m),
                                          vipm::scaled_impulse(dg, n, m), n, m == 0);
      const double other = jordan::max_step(vipm::scaled_velocity(u, n, m),
                                            vipm::scaled_velocity(dv, n, m), n, m == 0);
      part.add({other < one ? other : one, dot(g, u), dot(g, dv) + dot(u, dg), dot(dg, dv)});
    });
  }

  /// What the corrector aims at: sigma mu gamma^-1 less the second-order term of the predictor.
  KOKKOS_INLINE_FUNCTION Vec3 target(int c, double sigma_mu) const {
    const double m = judge.mu(c);
    const Vec3 n = normal_of(c), g = load3(state.gamma, c), u = load3(state.u, c),
               dg = load3(state.dgamma, c), dv = load3(state.du, c);
    if (m == 0) return ((2 * sigma_mu - dot(dg, n) * dot(dv, n)) / dot(u, n)) * n;
    const Vec3 x = vipm::scaled_impulse(g, n, m), y = vipm::scaled_velocity(u, n, m);
    const double det_x = jordan::det(x, n), det_y = jordan::det(y, n);
    const vipm::Scaling scaling = vipm::make_scaling(x, y, n);
    const Vec3 goal = (sigma_mu / det_y) * jordan::reflect(y, n) -
                      vipm::second_order(scaling, x, vipm::scaled_impulse(dg, n, m),
                                         vipm::scaled_velocity(dv, n, m), det_x, det_y);
    return stretch(1 / m, 1, goal, n);
  }

  /// Solves again for what the direction leaves of the momentum balance, as long as contacts would
  /// move by more than `enough`, m/s.
  KOKKOS_INLINE_FUNCTION VipmSums refine(const Team& team, const Own& own, double enough,
                                         VipmSums step) const {
    for (int round = 0; round < options.refinements; ++round) {
      each(team, 3 * own.contact, 3 * own.contact_end,
           [&](const int i) { state.d(i) = state.gamma(i) + state.dgamma(i); });
      load(team, own, state.d, state.b);
      each_unknown(team, own, [&](const int i) { state.b(i) -= state.z(i) + state.dz(i); });
      const double left =
          sum<Speed>(team, own.contact, own.contact_end, [&](const int c, Speed& part) {
            raise(part.largest, norm(bodies.contact_velocity(state.b, c)));
          }).largest;
      if (!(left > enough)) break;
      each_unknown(team, own, [&](const int i) {
        state.kept(i) = state.dz(i);
        state.dz(i) = state.b(i);
      });
      own.matrix.solve(team, &state.dz(width * own.body));
      step = measure(team, own, [&](const int c, Vec3& dg, Vec3& dv) {
        const Vec3 d = bodies.contact_velocity(state.dz, c), change = state.k(c) * d;
        dv = load3(state.du, c) + d - yielded(c, change);
        dg = load3(state.dgamma, c) - change;
      });
      each_unknown(team, own, [&](const int i) { state.dz(i) += state.kept(i); });
    }
    return step;
  }
  /// Off the boundary by what rounding may have done: ContactState::keep_inside.
  KOKKOS_INLINE_FUNCTION void keep_inside(int c) const {
    constexpr double rounding = 4e-16;
    const double m = judge.mu(c);
    if (m == 0) return;
    const Vec3 n = normal_of(c), g = load3(state.gamma, c), u = load3(state.u, c);
    const Split x = split(vipm::scaled_impulse(g, n, m), n),
                y = split(vipm::scaled_velocity(u, n, m), n);
    const double x_misses = rounding * x.size - (x.n - x.size);
    const double y_misses = rounding * y.size - (y.n - y.size);
    if (x_misses > 0) store3(state.gamma, c, g + (2 * x_misses / m) * n);
    if (y_misses > 0) store3(state.u, c, u + (2 * y_misses * m) * n);
  }
};

}  // namespace

void BatchVipm::add_options(OptionList& list) {
  list.integer("refinements", options_.refinements, {0}, "of a direction")
      .number("forcing", options_.forcing, {0, 1, true},
              "largest momentum error of a body per mu / mean(gamma_n) that is not refined")
      .number("step_fraction", options_.step_fraction, {0, 1, true},
              "part of the largest step inside the cones that is taken")
      .number("start", options_.start, OptionList::Range::positive(),
              "scales the starting impulses")
      .integer("max_outer", options_.max_outer, {1}, "limit of outer iterations");
}

void BatchVipm::setup(const Batch& batch) {
  if (batch.host().form == ContactProblem::Form::assembled) {
    throw InputError("batch", batch.problems().front()->name,
                     "bodies: vipm takes no problem in a batch of which only N is known",
                     "assembled form");
  }
  make_progress(batch);
  const std::size_t n = batch.host().contacts(), unknowns = 6 * (batch.host().bodies() + 1);
  for (VectorView* array : {&state_.gamma, &state_.u, &state_.dgamma, &state_.du, &state_.gap,
                            &state_.g, &state_.d, &state_.best}) {
    *array = VectorView(to_be_filled("ccp::BatchVipm::contacts"), 3 * n);
  }
  for (VectorView* array : {&state_.z, &state_.dz, &state_.b, &state_.momentum, &state_.kept}) {
    *array = VectorView("ccp::BatchVipm::bodies", unknowns);
  }
  state_.k = DeviceArray<Sym3*>(to_be_filled("ccp::BatchVipm::k"), n);
  state_.number = DeviceArray<double* [2]>("ccp::BatchVipm::number", batch.size());
  roots_ = body_matrices(batch.host(), MassPower::root);
  std::size_t most = 0;
  for (const ContactProblem* problem : batch.problems()) most = std::max(most, problem->bodies());
  most_unknowns_ = (batch.host().rotates() ? 6 : 3) * most;
}

void BatchVipm::start() {
  const ExecSpace space;
  for (const VectorView& array : {state_.z, state_.dz, state_.momentum, state_.best}) {
    Kokkos::deep_copy(space, array, 0.0);
  }
  const auto number = state_.number;
  Kokkos::parallel_for(
      "ccp::BatchVipm::start", range(batch_->size()), KOKKOS_LAMBDA(const int k) {
        number(k, 0) = 1e301;
        number(k, 1) = 0;
      });
}

template <class Bodies>
void BatchVipm::iterate(const Bodies& bodies) {
  const ConstraintMap& map = batch_->problem().shared_delassus().constraints();
  const std::size_t scratch = most_unknowns_ * most_unknowns_ + 1;
  batch::Policy policy = batch::policy(progress_.round.size);
  policy.set_scratch_size(1, Kokkos::PerTeam(static_cast<int>(scratch * sizeof(double) + 64)));
  Kokkos::parallel_for(
      "ccp::BatchVipm::iterations", policy,
      VipmIterations<Bodies>{progress_,
                             batch::Judge(*batch_, law()),
                             bodies,
                             {map.compliance(), map.compliant_normal()},
                             map.compliance(),
                             state_,
                             options_,
                             batch_->body_offset(),
                             std::min(options_.max_outer, progress_.iteration_limit),
                             scratch});
}

void BatchVipm::advance() {
  const ConstraintMap& map = batch_->problem().shared_delassus().constraints();
  if (map.rotates()) {
    iterate(TurningBodies{map.body(), map.incidence_offset(), map.incidence(), map.arm(), roots_});
  } else {
    iterate(StillBodies{map.body(), map.incidence_offset(), map.incidence(), roots_.linear});
  }
}

void BatchVipm::answer(const VectorView& p) {
  Kokkos::deep_copy(ExecSpace(), p, state_.best);
}

void BatchVipm::count(int outer, Info& info) const {
  info.counters.factorizations = outer;
}

}  // namespace ccp
