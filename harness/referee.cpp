#include "harness/referee.hpp"

#include <cmath>
#include <limits>

#include "solvers/core/upload.hpp"
#include "solvers/linear/block_diagonal.hpp"

namespace ccp {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// v . B v for a symmetric B stored as six numbers.
template <class Blocks>
KOKKOS_INLINE_FUNCTION double weighted_square(const Blocks& b, int c, const Vec3& v) {
  return b(c, 0) * v.x * v.x + b(c, 3) * v.y * v.y + b(c, 5) * v.z * v.z +
         2 * (b(c, 1) * v.x * v.y + b(c, 2) * v.x * v.z + b(c, 4) * v.y * v.z);
}

KOKKOS_INLINE_FUNCTION double largest_entry(const Vec3& v) {
  double largest = fabs(v.x);
  if (fabs(v.y) > largest) largest = fabs(v.y);
  if (fabs(v.z) > largest) largest = fabs(v.z);
  return largest;
}

/// The papers' cost and feas; `finite` is a sum that is finite only if gamma and u are.
struct PaperMeasures {
  double dot = 0, feas = 0, finite = 0;
};

PaperMeasures paper_measures(const DeviceArray<const double*>& mu, const ConstVectorView& gamma,
                             const ConstVectorView& u) {
  PaperMeasures result;
  Kokkos::parallel_reduce(
      "ccp::Referee::paper", range(mu.extent(0)),
      KOKKOS_LAMBDA(const int c, double& sum, double& worst, double& finite) {
        const Vec3 g = load3(gamma, c), uc = load3(u, c);
        sum += dot(g, uc);
        finite += norm(g) + norm(uc);
        const double dual = mu(c) * hypot(uc.y, uc.z) - uc.x;
        const double primal = hypot(g.y, g.z) - mu(c) * g.x;
        if (dual > worst) worst = dual;
        if (primal > worst) worst = primal;
        if (mu(c) == 0 && -g.x > worst) worst = -g.x;  // the formula above is blind to it
      },
      Kokkos::Sum<double>(result.dot), Kokkos::Max<double>(result.feas),
      Kokkos::Sum<double>(result.finite));
  if (!(result.feas > 0)) result.feas = 0;  // Max starts at -max
  return result;
}

double largest_velocity_error(const DeviceArray<double**>& v, const DeviceArray<double**>& reference) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::Referee::velocity", range(v.extent(0)),
      KOKKOS_LAMBDA(const int i, double& maximum) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) sum += (v(i, k) - reference(i, k)) * (v(i, k) - reference(i, k));
        if (sqrt(sum) > maximum) maximum = sqrt(sum);
      },
      Kokkos::Max<double>(largest));
  return largest > 0 ? largest : 0;
}

double sum_of_squares(const ConstVectorView& z) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Referee::sum_of_squares", range(z.extent(0)),
      KOKKOS_LAMBDA(const int i, double& total) { total += z(i) * z(i); }, sum);
  return sum;
}

/// The inverse diagonal blocks of N in contact axes: F N_cc^-1 F^T.
DeviceArray<double* [6]> inverse_blocks(const Problem& problem) {
  DeviceArray<double* [6]> inverse("ccp::Referee::inverse_diagonal", problem.contacts());
  const auto block = problem.shared_delassus().diagonal_blocks();
  const auto frame = problem.frame();
  const bool turned = frame.extent(0) > 0;
  Kokkos::parallel_for(
      "ccp::Referee::inverse_blocks", range(problem.contacts()), KOKKOS_LAMBDA(const int c) {
        double a[6], b[6] = {0, 0, 0, 0, 0, 0};
        int k = 0;
        for (int i = 0; i < 3; ++i) {
          for (int j = i; j < 3; ++j, ++k) {
            a[k] = turned ? 0 : block(c, i, j);
            if (!turned) continue;
            for (int p = 0; p < 3; ++p) {
              for (int q = 0; q < 3; ++q) a[k] += frame(c, i, p) * block(c, p, q) * frame(c, j, q);
            }
          }
        }
        if (a[0] > 0 && a[3] > 0 && a[5] > 0) BlockDiagonalInverse::invert_symmetric(a, b);
        for (int i = 0; i < 6; ++i) inverse(c, i) = b[i];
      });
  return inverse;
}

double weighted_norm(const DeviceArray<double* [6]>& weight, const ConstVectorView& z) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Referee::weighted_norm", range(weight.extent(0)),
      KOKKOS_LAMBDA(const int c, double& total) { total += weighted_square(weight, c, load3(z, c)); },
      sum);
  return sum;
}

/// Unscaled maxima and sums of one law.
struct LawSums {
  double dual = 0, primal = 0, dot = 0, natural = 0, merit = 0;
};

LawSums law_sums(const Problem& problem, const DeviceArray<double* [6]>& weight,
                 const ConstVectorView& gamma, const ConstVectorView& u, bool coulomb) {
  LawSums sums;
  const auto mu = problem.mu();
  const double s = problem.delassus_scale();
  const auto velocity = KOKKOS_LAMBDA(const int c)->Vec3 {
    Vec3 v = load3(u, c);
    if (coulomb) v.x += mu(c) * hypot(v.y, v.z);
    return v;
  };
  Kokkos::parallel_reduce(
      "ccp::Referee::law", range(problem.contacts()),
      KOKKOS_LAMBDA(const int c, double& dual, double& primal, double& natural) {
        const Vec3 g = load3(gamma, c), v = velocity(c), normal{1, 0, 0};
        const double d = distance_to_dual_cone(v, normal, mu(c));
        const double p = distance_to_cone(g, normal, mu(c));
        if (d > dual) dual = d;
        if (p > primal) primal = p;
        const double m = largest_entry(g - project_friction_cone(g - (1 / s) * v, normal, mu(c)));
        if (m > natural) natural = m;
      },
      Kokkos::Max<double>(sums.dual), Kokkos::Max<double>(sums.primal),
      Kokkos::Max<double>(sums.natural));
  Kokkos::parallel_reduce(
      "ccp::Referee::law_sums", range(problem.contacts()),
      KOKKOS_LAMBDA(const int c, double& total, double& merit) {
        const Vec3 g = load3(gamma, c), v = velocity(c), normal{1, 0, 0};
        total += dot(g, v);
        const Vec3 violation = g - project_friction_cone(g - v, normal, mu(c));  // eq. 15 of seed 004
        merit += weighted_square(weight, c, violation);
      },
      Kokkos::Sum<double>(sums.dot), Kokkos::Sum<double>(sums.merit));
  return sums;
}

}  // namespace

Referee::Referee(const Problem& problem)
    : problem_(problem),
      delassus_(problem.delassus()),
      impulse_("ccp::Referee::impulse", 3 * static_cast<std::size_t>(problem.contacts())),
      u_("ccp::Referee::u", 3 * static_cast<std::size_t>(problem.contacts())),
      inverse_diagonal_(inverse_blocks(problem)) {
  const ContactProblem& host = problem.host();
  if (problem.contacts() == 0) return;
  const auto r = upload<VectorView>("ccp::Referee::r", host.r, host.r.size());
  const double rms = std::sqrt(sum_of_squares(r) / static_cast<double>(host.r.size()));
  if (rms > 0) q_ = rms;
  merit_scale_ = weighted_norm(inverse_diagonal_, r);

  if (!host.reference) return;
  has_reference_ = true;
  const auto gamma = upload<VectorView>("ccp::Referee::reference_gamma", host.reference->gamma,
                                        host.reference->gamma.size());
  compute_velocity(gamma);
  reference_objective_ = objective(gamma);
  if (!delassus_->is_assembled()) {
    const auto v = delassus_->body_velocities(impulse_);
    reference_velocity_ = DeviceArray<double**>("ccp::Referee::reference_velocity", v.extent(0),
                                                v.extent(1));
    Kokkos::deep_copy(reference_velocity_, v);
  }
}

void Referee::compute_velocity(const ConstVectorView& gamma) const {
  problem_.to_world_axes(gamma, impulse_);
  const auto r = problem_.r();
  const auto u = u_;
  delassus_->apply_fused(impulse_, KOKKOS_LAMBDA(const int c, const Vec3& d) {
    store3(u, c, d + load3(r, c));
  });
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
  return sum;
}

Referee::LawMeasures Referee::measure_law(const ConstVectorView& gamma, bool coulomb) const {
  const double s = problem_.delassus_scale(), n = problem_.contacts();
  const LawSums sums =
      law_sums(problem_, inverse_diagonal_, gamma, u_, coulomb);
  const auto positive = [](double value) { return value > 0 ? value : 0; };
  LawMeasures result;
  result.dual = positive(sums.dual) / q_;
  result.primal = positive(sums.primal) * s / q_;
  result.complementarity = std::abs(sums.dot) * s / (n * q_ * q_);
  result.natural_map = positive(sums.natural) * s / q_;
  result.merit = merit_scale_ > 0 ? sums.merit / merit_scale_ : sums.merit;
  return result;
}

Measures Referee::measure(const Vector& gamma_vector) {
  Measures result;
  const int n = problem_.contacts();
  if (n == 0) return result;
  const ConstVectorView gamma = read_view(gamma_vector);
  compute_velocity(gamma);
  const PaperMeasures paper = paper_measures(problem_.mu(), gamma, u_);
  if (!std::isfinite(paper.finite) || !std::isfinite(paper.dot)) {
    for (std::size_t m = 0; m < measure_count; ++m) result[static_cast<Measure>(m)] = not_a_number;
    return result;
  }
  result[Measure::cost] = std::abs(paper.dot) / n;
  result[Measure::feas] = paper.feas;
  result[Measure::error] = std::max(result[Measure::cost], paper.feas);

  const LawMeasures convex = measure_law(gamma, false);
  result[Measure::dual] = convex.dual;
  result[Measure::primal] = convex.primal;
  result[Measure::complementarity] = convex.complementarity;
  result[Measure::residual] = std::max({convex.dual, convex.primal, convex.complementarity});
  result[Measure::natural_map] = convex.natural_map;
  result[Measure::energy] = std::sqrt(2 * convex.complementarity);
  result[Measure::merit] = convex.merit;
  const LawMeasures coulomb = measure_law(gamma, true);
  result[Measure::coulomb_residual] =
      std::max({coulomb.dual, coulomb.primal, coulomb.complementarity});
  result[Measure::coulomb_natural_map] = coulomb.natural_map;
  result[Measure::coulomb_merit] = coulomb.merit;

  result[Measure::velocity] = not_a_number;
  result[Measure::objective_gap] = not_a_number;
  if (has_reference_) {
    result[Measure::objective_gap] = objective(gamma) - reference_objective_;
    if (!delassus_->is_assembled()) {
      result[Measure::velocity] =
          largest_velocity_error(delassus_->body_velocities(impulse_), reference_velocity_);
    }
  }
  return result;
}

}  // namespace ccp
