#include "harness/measure/referee.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "harness/measure/look.hpp"
#include "solvers/core/extremes.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

KOKKOS_INLINE_FUNCTION double largest_entry(const Vec3& v) {
  double largest = fabs(v.x);
  if (fabs(v.y) > largest) largest = fabs(v.y);
  if (fabs(v.z) > largest) largest = fabs(v.z);
  return largest;
}

/// What one pass over the contacts collects, unscaled.
struct Totals {
  double finite = 0;  ///< a sum that is finite only if gamma and u are
  double feas = 0, primal = 0;
  LawTotals convex, coulomb;
};

KOKKOS_INLINE_FUNCTION void join(LawTotals& total, const LawTotals& part) {
  total.dot += part.dot;
  total.merit += part.merit;
  total.normal += part.normal;
  raise(total.dual, part.dual);
  raise(total.natural, part.natural);
}

/// Kokkos reducer of Totals: sums and maxima.
struct TotalsReducer {
  using reducer = TotalsReducer;
  using value_type = Totals;
  using result_view_type = Kokkos::View<Totals, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  KOKKOS_INLINE_FUNCTION explicit TotalsReducer(Totals& result) : result_(&result) {}
  KOKKOS_INLINE_FUNCTION void join(Totals& total, const Totals& part) const {
    total.finite += part.finite;
    raise(total.feas, part.feas);
    raise(total.primal, part.primal);
    ccp::join(total.convex, part.convex);
    ccp::join(total.coulomb, part.coulomb);
  }
  // Kokkos before 4.0 joins through volatile references.
  KOKKOS_INLINE_FUNCTION void join(volatile Totals& total, const volatile Totals& part) const {
    join(const_cast<Totals&>(total), const_cast<const Totals&>(part));
  }
  KOKKOS_INLINE_FUNCTION void init(Totals& value) const { value = Totals{}; }
  KOKKOS_INLINE_FUNCTION Totals& reference() const { return *result_.data(); }
  KOKKOS_INLINE_FUNCTION result_view_type view() const { return result_; }
  KOKKOS_INLINE_FUNCTION bool references_scalar() const { return true; }

 private:
  result_view_type result_;
};

/// Adds contact c under one law: v is u, or De Saxce's u + (mu |u_t|, 0, 0).
KOKKOS_FORCEINLINE_FUNCTION void add_law(LawTotals& total, const Sym3& weight, const Vec3& g,
                                         const Vec3& v, double v_t, double mu, double s) {
  const Vec3 normal{1, 0, 0};
  total.dot += dot(g, v);
  raise(total.dual, distance_to_dual_cone(v.x, v_t, mu));
  const Vec3 step = g - project_friction_cone(g - (1 / s) * v, normal, mu);
  raise(total.natural, largest_entry(step));
  total.normal += fabs(step.x);
  const Vec3 violation = g - project_friction_cone(g - v, normal, mu);  // Koziara 2019 eq. 15
  total.merit += weighted_square(weight, violation);
}

/// The same of all ranks together.
Totals of_all_ranks(const Ranks& ranks, Totals totals) {
  if (ranks.size() == 1) return totals;
  double sums[] = {totals.finite,        totals.convex.dot,  totals.convex.merit,
                   totals.convex.normal, totals.coulomb.dot, totals.coulomb.merit,
                   totals.coulomb.normal};
  ranks.sum(sums, static_cast<int>(std::size(sums)));
  totals.finite = sums[0];
  totals.convex.dot = sums[1], totals.convex.merit = sums[2], totals.convex.normal = sums[3];
  totals.coulomb.dot = sums[4], totals.coulomb.merit = sums[5], totals.coulomb.normal = sums[6];
  for (double* const largest :
       {&totals.feas, &totals.primal, &totals.convex.dual, &totals.convex.natural,
        &totals.coulomb.dual, &totals.coulomb.natural}) {
    *largest = ranks.largest(*largest);
  }
  return totals;
}

Totals collect(const Problem& problem, const DeviceArray<Sym3*>& weight,
               const ConstVectorView& gamma, const ConstVectorView& u) {
  Totals totals;
  const auto mu = problem.mu();
  const double s = problem.delassus_scale();
  Kokkos::parallel_reduce(
      "ccp::Referee::collect", range(problem.contacts()),
      KOKKOS_LAMBDA(const int c, Totals& total) {
        const Vec3 g = load3(gamma, c), v = load3(u, c);
        const double m = mu(c);
        const double g_t = sqrt(g.y * g.y + g.z * g.z), v_t = sqrt(v.y * v.y + v.z * v.z);
        total.finite += fabs(g.x) + g_t + fabs(v.x) + v_t;
        raise(total.feas, m * v_t - v.x);
        raise(total.feas, g_t - m * g.x);
        if (m == 0) raise(total.feas, -g.x);  // the formula above is blind to it
        raise(total.primal, distance_to_cone(g.x, g_t, m));
        add_law(total.convex, weight(c), g, v, v_t, m, s);
        add_law(total.coulomb, weight(c), g, {v.x + m * v_t, v.y, v.z}, v_t, m, s);
      },
      TotalsReducer(totals));
  return of_all_ranks(problem.ranks(), totals);
}

double largest_velocity_error(const DeviceArray<double**>& v,
                              const DeviceArray<double**>& reference) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::Referee::velocity", range(v.extent(0)),
      KOKKOS_LAMBDA(const int i, double& maximum) {
        double sum = 0;
        for (int k = 0; k < 3; ++k)
          sum += (v(i, k) - reference(i, k)) * (v(i, k) - reference(i, k));
        if (sqrt(sum) > maximum) maximum = sqrt(sum);
      },
      Kokkos::Max<double>(largest));
  return largest > 0 ? largest : 0;
}

/// The mean of |gamma_n - reference_n| / reference_n over contacts whose reference normal impulse
/// is at least a thousandth of the mean one.
double mean_relative_error(const Problem& problem, const ConstVectorView& gamma,
                           const ConstVectorView& reference) {
  const int n = problem.contacts();
  double total = 0, sum = 0, count = 0;
  Kokkos::parallel_reduce(
      "ccp::Referee::mean_impulse", range(n),
      KOKKOS_LAMBDA(const int c, double& impulse) { impulse += reference(3 * c); }, total);
  const Ranks& ranks = problem.ranks();
  const double least = 1e-3 * ranks.sum(total) / static_cast<double>(problem.all_contacts());
  Kokkos::parallel_reduce(
      "ccp::Referee::mean_relative_error", range(n),
      KOKKOS_LAMBDA(const int c, double& error, double& contacts) {
        if (!(reference(3 * c) > 0) || reference(3 * c) < least) return;
        error += fabs(gamma(3 * c) - reference(3 * c)) / reference(3 * c);
        contacts += 1;
      },
      Kokkos::Sum<double>(sum), Kokkos::Sum<double>(count));
  sum = ranks.sum(sum);
  count = ranks.sum(count);
  return count > 0 ? sum / count : 0;
}

double sum_of_squares(const ConstVectorView& z) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Referee::sum_of_squares", range(z.extent(0)),
      KOKKOS_LAMBDA(const int i, double& total) { total += z(i) * z(i); }, sum);
  return sum;
}

/// The inverse diagonal blocks of N in contact axes, (F N_cc F^T)^-1. (pqn's merit has them in
/// world axes; the referee's are its own.)
DeviceArray<Sym3*> inverse_blocks(const Problem& problem) {
  DeviceArray<Sym3*> inverse("ccp::Referee::inverse_diagonal", problem.contacts());
  const auto block = problem.shared_delassus().diagonal_blocks();
  const auto frame = problem.frame();
  const bool turned = frame.extent(0) > 0;
  const double spare = problem.delassus_scale();
  Kokkos::parallel_for(
      "ccp::Referee::inverse_blocks", range(problem.contacts()), KOKKOS_LAMBDA(const int c) {
        const auto axes = [&](int i, int j) { return frame(c, i, j); };
        const auto world = [&](int i, int j) { return block(c, i, j); };
        inverse(c) = inverse_or_shifted(turned ? congruence(axes, world) : symmetric(world), spare);
      });
  return inverse;
}

double weighted_norm(const DeviceArray<Sym3*>& weight, const ConstVectorView& z) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Referee::weighted_norm", range(weight.extent(0)),
      KOKKOS_LAMBDA(const int c, double& total) {
        total += weighted_square(weight(c), load3(z, c));
      },
      sum);
  return sum;
}

}  // namespace

Referee::Referee(const Problem& problem)
    : problem_(problem),
      delassus_(problem.delassus()),
      impulse_("ccp::Referee::impulse", 3 * static_cast<std::size_t>(problem.triples())),
      u_("ccp::Referee::u", 3 * static_cast<std::size_t>(problem.triples())),
      inverse_diagonal_(inverse_blocks(problem)) {
  const ContactProblem& host = problem.host();
  if (problem.all_triples() == 0) return;
  if (!problem.pools().empty()) pooled_.emplace(host);
  const auto r = upload<VectorView>("ccp::Referee::r", host.r, host.r.size());
  const double rms = std::sqrt(problem.ranks().sum(sum_of_squares(r)) /
                               (3.0 * static_cast<double>(problem.all_contacts())));
  if (rms > 0) q_ = rms;
  if (pooled_) q_ = pooled_->q();
  merit_scale_ = problem.ranks().sum(weighted_norm(inverse_diagonal_, r));

  if (!host.reference) return;
  has_reference_ = true;
  const auto gamma = upload<VectorView>("ccp::Referee::reference_gamma", host.reference->gamma,
                                        host.reference->gamma.size());
  reference_gamma_ = gamma;
  compute_velocity(gamma);
  reference_objective_ = objective(gamma);
  if (!delassus_->is_assembled()) {
    const auto v = delassus_->body_velocities(impulse_);
    reference_velocity_ =
        DeviceArray<double**>("ccp::Referee::reference_velocity", v.extent(0), v.extent(1));
    Kokkos::deep_copy(reference_velocity_, v);
  }
}

void Referee::compute_velocity(const ConstVectorView& gamma) const {
  problem_.to_world_axes(gamma, impulse_);
  const auto r = problem_.r();
  const auto u = u_;
  delassus_->apply_fused(
      impulse_, KOKKOS_LAMBDA(const int c, const Vec3& d) { store3(u, c, d + load3(r, c)); });
  problem_.to_contact_axes(u, u);
}

double Referee::objective(const ConstVectorView& gamma) const {
  // f = gamma.N gamma / 2 + r.gamma = gamma.(u + r) / 2; in world axes r is at hand.
  const auto r = problem_.r();
  const auto p = impulse_;
  const auto u = u_;
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Referee::objective", range(gamma.extent(0)),
      KOKKOS_LAMBDA(const int i, double& total) { total += 0.5 * (gamma(i) * u(i) + p(i) * r(i)); },
      sum);
  return problem_.ranks().sum(sum);
}

/// Totals, and the scales that go with them.
struct Referee::Judged {
  Totals totals;
  long long cones;
  double s;
};

Referee::Judged Referee::judge(const ConstVectorView& gamma) const {
  if (!pooled_) {
    return {collect(problem_, inverse_diagonal_, gamma, u_), problem_.all_contacts(),
            problem_.delassus_scale()};
  }
  const PooledReferee::Totals found = pooled_->measure(download(gamma), download(u_));
  Totals totals{found.finite, not_a_number, found.primal, found.convex, found.coulomb};
  for (LawTotals* law : {&totals.convex, &totals.coulomb}) law->merit = law->normal = not_a_number;
  return {totals, pooled_->cones(), pooled_->s()};
}

Measures Referee::measure(const Vector& gamma_vector) {
  if (problem_.all_triples() == 0) return Measures(0);
  const ConstVectorView gamma = read_view(gamma_vector);
  compute_velocity(gamma);
  const auto [totals, n, s] = judge(gamma);
  if (!std::isfinite(totals.finite) || !std::isfinite(totals.convex.dot)) {
    return Measures(not_a_number);
  }
  Look look{problem_,
            gamma,
            u_,
            n,
            s,
            q_,
            totals.feas,
            totals.primal,
            totals.convex,
            totals.coulomb,
            merit_scale_,
            not_a_number,
            not_a_number,
            not_a_number};
  if (has_reference_) {
    look.multiplier = mean_relative_error(problem_, gamma, reference_gamma_);
    look.objective_gap = objective(gamma) - reference_objective_;
    if (!delassus_->is_assembled()) {
      look.velocity = problem_.ranks().largest(
          largest_velocity_error(delassus_->body_velocities(impulse_), reference_velocity_));
    }
  }
  Measures result;
  for (const Measure m : all_measures()) result[m] = entry_of(m).value(look);
  return result;
}

}  // namespace ccp
