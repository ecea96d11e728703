#include "harness/referee.hpp"

#include <cmath>
#include <limits>

#include "solvers/linear/block_diagonal.hpp"

namespace ccp {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// v . B v for a symmetric B stored as six numbers.
template <class Blocks>
KOKKOS_INLINE_FUNCTION double weighted_square(const Blocks& b, int c, const Vec3& v) {
  return b(c, 0) * v.n * v.n + b(c, 3) * v.t1 * v.t1 + b(c, 5) * v.t2 * v.t2 +
         2 * (b(c, 1) * v.n * v.t1 + b(c, 2) * v.n * v.t2 + b(c, 4) * v.t1 * v.t2);
}

KOKKOS_INLINE_FUNCTION double largest_entry(const Vec3& v) {
  double largest = fabs(v.n);
  if (fabs(v.t1) > largest) largest = fabs(v.t1);
  if (fabs(v.t2) > largest) largest = fabs(v.t2);
  return largest;
}

/// The papers' cost and feas; `finite` is a sum that is finite only if gamma and u are.
struct PaperMeasures {
  double dot = 0, feas = 0, finite = 0;
};

PaperMeasures paper_measures(const DeviceArray<const double*>& mu, const VectorView& gamma,
                             const VectorView& u) {
  PaperMeasures result;
  Kokkos::parallel_reduce(
      "ccp::Referee::paper", range(mu.extent(0)),
      KOKKOS_LAMBDA(const int c, double& sum, double& worst, double& finite) {
        const Vec3 g = load3(gamma, c), uc = load3(u, c);
        sum += dot(g, uc);
        finite += fabs(g.n) + fabs(g.t1) + fabs(g.t2) + fabs(uc.n) + fabs(uc.t1) + fabs(uc.t2);
        const double dual = mu(c) * tangential_norm(uc) - uc.n;
        const double primal = tangential_norm(g) - mu(c) * g.n;
        if (dual > worst) worst = dual;
        if (primal > worst) worst = primal;
        if (mu(c) == 0 && -g.n > worst) worst = -g.n;  // the formula above is blind to it
      },
      Kokkos::Sum<double>(result.dot), Kokkos::Max<double>(result.feas),
      Kokkos::Sum<double>(result.finite));
  if (!(result.feas > 0)) result.feas = 0;
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

DeviceArray<double* [6]> inverse_blocks(const Problem& problem) {
  DeviceArray<double* [6]> inverse("ccp::Referee::inverse_diagonal", problem.contacts());
  const auto block = problem.shared_delassus().diagonal_blocks();
  Kokkos::parallel_for(
      "ccp::Referee::inverse_blocks", range(problem.contacts()), KOKKOS_LAMBDA(const int c) {
        const double a[6] = {block(c, 0, 0), block(c, 0, 1), block(c, 0, 2),
                             block(c, 1, 1), block(c, 1, 2), block(c, 2, 2)};
        double b[6] = {0, 0, 0, 0, 0, 0};
        if (a[0] > 0 && a[3] > 0 && a[5] > 0) BlockDiagonalInverse::invert_symmetric(a, b);
        for (int k = 0; k < 6; ++k) inverse(c, k) = b[k];
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
                 const VectorView& gamma, const VectorView& u, bool coulomb) {
  LawSums sums;
  const auto mu = problem.mu();
  const double s = problem.delassus_scale();
  const auto velocity = KOKKOS_LAMBDA(const int c)->Vec3 {
    Vec3 v = load3(u, c);
    if (coulomb) v.n += mu(c) * tangential_norm(v);
    return v;
  };
  Kokkos::parallel_reduce(
      "ccp::Referee::law", range(problem.contacts()),
      KOKKOS_LAMBDA(const int c, double& dual, double& primal, double& natural) {
        const Vec3 g = load3(gamma, c), v = velocity(c);
        const double d = distance_to_dual_cone(v, mu(c)), p = distance_to_cone(g, mu(c));
        if (d > dual) dual = d;
        if (p > primal) primal = p;
        const double m = largest_entry(g - project_friction_cone(g - (1 / s) * v, mu(c)));
        if (m > natural) natural = m;
      },
      Kokkos::Max<double>(sums.dual), Kokkos::Max<double>(sums.primal),
      Kokkos::Max<double>(sums.natural));
  Kokkos::parallel_reduce(
      "ccp::Referee::law_sums", range(problem.contacts()),
      KOKKOS_LAMBDA(const int c, double& total, double& merit) {
        const Vec3 g = load3(gamma, c), v = velocity(c);
        total += dot(g, v);
        const Vec3 violation = g - project_friction_cone(g - v, mu(c));  // eq. 15 of seed 004
        merit += weighted_square(weight, c, violation);
      },
      Kokkos::Sum<double>(sums.dot), Kokkos::Sum<double>(sums.merit));
  return sums;
}

}  // namespace

Referee::Referee(const Problem& problem)
    : problem_(problem),
      delassus_(problem.delassus()),
      u_(Teuchos::rcp(new Vector(problem.map(), 1))),
      inverse_diagonal_(inverse_blocks(problem)) {
  const ContactProblem& host = problem.host();
  if (problem.contacts() == 0) return;
  const double rms = std::sqrt(sum_of_squares(problem.r()) / (3.0 * problem.contacts()));
  if (rms > 0) q_ = rms;
  merit_scale_ = weighted_norm(inverse_diagonal_, problem.r());

  if (!host.reference) return;
  has_reference_ = true;
  const VectorView gamma("ccp::Referee::reference_gamma", host.reference->gamma.size());
  const auto mirror = Kokkos::create_mirror_view(gamma);
  for (std::size_t i = 0; i < host.reference->gamma.size(); ++i) mirror(i) = host.reference->gamma[i];
  Kokkos::deep_copy(gamma, mirror);
  const VectorView u = overwrite_view(*u_);
  compute_velocity(gamma, u);
  reference_objective_ = objective(gamma, u);
  if (!delassus_->is_assembled()) {
    const auto v = delassus_->body_velocities();
    reference_velocity_ = DeviceArray<double**>("ccp::Referee::reference_velocity", v.extent(0),
                                                v.extent(1));
    Kokkos::deep_copy(reference_velocity_, v);
  }
}

void Referee::compute_velocity(const VectorView& gamma, const VectorView& u) const {
  const auto r = problem_.r();
  delassus_->apply_fused(
      KOKKOS_LAMBDA(const int c) { return load3(gamma, c); },
      KOKKOS_LAMBDA(const int c, const Vec3& ng) { store3(u, c, ng + load3(r, c)); });
}

double Referee::objective(const VectorView& gamma, const VectorView& u) const {
  const auto r = problem_.r();
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Referee::objective", range(gamma.extent(0)),
      KOKKOS_LAMBDA(const int i, double& total) { total += 0.5 * gamma(i) * (u(i) + r(i)); }, sum);
  return sum;
}

Referee::LawMeasures Referee::measure_law(const VectorView& gamma, bool coulomb) const {
  const double s = problem_.delassus_scale(), n = problem_.contacts();
  const LawSums sums =
      law_sums(problem_, inverse_diagonal_, gamma, read_write_view(*u_), coulomb);
  const auto positive = [](double value) { return value > 0 ? value : 0; };  // Max starts at -max
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
  const VectorView gamma = read_write_view(const_cast<Vector&>(gamma_vector));
  const VectorView u = read_write_view(*u_);
  compute_velocity(gamma, u);
  const PaperMeasures paper = paper_measures(problem_.mu(), gamma, u);
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
    result[Measure::objective_gap] = objective(gamma, u) - reference_objective_;
    if (!delassus_->is_assembled()) {
      // The operator still holds the impulses of the product above.
      result[Measure::velocity] =
          largest_velocity_error(delassus_->body_velocities(), reference_velocity_);
    }
  }
  return result;
}

}  // namespace ccp
