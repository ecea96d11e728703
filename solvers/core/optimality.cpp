#include "solvers/core/optimality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/core/constraint_cones.hpp"
#include "solvers/core/extremes.hpp"
#include "solvers/core/scales.hpp"

namespace ccp {
namespace {

double finite_or_nan(double value) {
  return std::isfinite(value) ? value : std::nan("");
}

/// The number of the contact (or of the equality constraint, after them) whose value is `most`.
long long number_of_largest(const Problem& problem, const DeviceArray<const double*>& value,
                            double most_of_all) {
  Kokkos::MaxLoc<double, int>::value_type largest;
  Kokkos::parallel_reduce(
      "ccp::Optimality::place_of_largest", range(value.extent(0)),
      KOKKOS_LAMBDA(const int c, Kokkos::MaxLoc<double, int>::value_type& most) {
        if (value(c) > most.val) most.val = value(c), most.loc = c;
      },
      Kokkos::MaxLoc<double, int>(largest));
  const Ranks& ranks = problem.ranks();
  if (ranks.size() == 1) return largest.loc;
  const auto none = static_cast<double>(problem.all_contacts());
  const bool here = value.extent(0) > 0 && largest.val == most_of_all;
  const double own = here ? static_cast<double>(problem.number_of(largest.loc)) : none;
  return static_cast<long long>(-ranks.largest(-own));  // the first such rank's
}

}  // namespace

double Optimality::residual() const {
  if (std::isnan(dual) || std::isnan(primal) || std::isnan(complementarity)) return std::nan("");
  return std::max({dual, primal, complementarity});
}

namespace {

/// What double precision leaves of a velocity that impulses of a size sum up to, both relative.
double rounding_of(double impulse) {
  constexpr double epsilon = 2.2e-16, operations = 100;
  return operations * epsilon * std::max(impulse, 1.0);
}

/// What is summed up over the cones of this rank, in the units of the terms, of all ranks.
/// @param sums     dual [m/s] and primal [N s], the largest
/// @param work     sum of gamma . v, J  @param largest  impulse, N s  @param dual  by cone, m/s
Optimality scaled(Optimality sums, const Problem& problem, double work, double largest,
                  const DeviceArray<const double*>& dual) {
  const Ranks& ranks = problem.ranks();
  const double cones = ranks.size() > 1 ? static_cast<double>(problem.all_contacts())
                                        : static_cast<double>(dual.extent(0));
  work = ranks.sum(work);
  largest = ranks.largest(largest);
  sums.dual = ranks.largest(sums.dual);
  sums.primal = ranks.largest(sums.primal);
  const double q = velocity_scale(problem), s = problem.delassus_scale();
  Optimality result;
  result.complementarity = std::abs(work) * s / (cones * q * q);
  result.dual = finite_or_nan(sums.dual) / q;
  result.primal = finite_or_nan(sums.primal) * s / q;
  result.rounding = rounding_of(largest * s / q);
  if (result.residual() == result.dual) {
    result.worst_contact = number_of_largest(problem, dual, sums.dual);
  }
  return result;
}

/// What one cone adds: distances, and its part of gamma . v.
struct ConePart {
  double dual = 0, primal = 0, work = 0, impulse = 0;
};

/// The same in problems with triples beside the contacts, for one cone of them.
struct PooledCone {
  ConstraintCones cones;
  VectorView p, u;
  DeviceArray<const double*> length;
  bool coulomb;

  KOKKOS_INLINE_FUNCTION ConePart operator()(int cone) const {
    if (cone >= cones.contacts) return joint(cone);
    const Vec3 axis = row3(cones.normal, cone), g = load3(p, cone), d = load3(u, cone);
    const int k = cones.rolling_triple(cone);
    const double unit = k < 0 ? 1 : length(k - cones.contacts);
    const Vec3 given = k < 0 ? Vec3{} : (1 / unit) * load3(p, k);
    const Vec3 roll = k < 0 ? given : cones.free_twist.without(k - cones.contacts, given);
    const Vec3 turn = k < 0 ? Vec3{} : unit * load3(u, k);
    const double mu = cones.mu(cone), rho = k < 0 ? 0 : cones.limit(k) / unit;
    const double lift = coulomb ? mu * split(d, axis).size + rho * norm(turn) : 0;
    const Vec3 v = d + lift * axis;
    const double outside = distance_to_rolling_cone({g, roll}, axis, mu, rho);
    return {distance_to_rolling_dual_cone({v, turn}, axis, mu, rho),
            hypot(outside, norm(given - roll)), dot(g, v) + dot(roll, turn), norm(g)};
  }
  KOKKOS_INLINE_FUNCTION ConePart joint(int cone) const {
    const int t = cones.equality_triple(cone), rows = cones.rows(cone - cones.contacts);
    const double unit = length(t - cones.contacts);
    const Vec3 g = (1 / unit) * load3(p, t), d = unit * load3(u, t);
    return {distance_to_free_dual_cone(d, rows), distance_to_free_cone(g, rows), dot(g, d),
            norm(g)};
  }
};

Optimality pooled_optimality(const Problem& problem, Law law, const Vector& gamma) {
  Optimality result;
  const std::size_t size = 3 * static_cast<std::size_t>(problem.triples());
  const VectorView p("ccp::Optimality::impulse", size), u("ccp::Optimality::velocity", size);
  problem.to_world_axes(read_view(gamma), p);
  const auto r = problem.r();
  problem.delassus()->apply_fused(
      p, KOKKOS_LAMBDA(const int t, const Vec3& d) { store3(u, t, d + load3(r, t)); });
  const PooledCone part{ConstraintCones(problem), p, u, problem.pool_length(), law == Law::coulomb};
  const int n = part.cones.size();
  const DeviceArray<double*> dual("ccp::Optimality::dual", n);
  double work = 0, largest = 0;
  Kokkos::parallel_reduce(
      "ccp::Optimality::pooled", range(n),
      KOKKOS_LAMBDA(const int cone, double& sum, double& impulse, double& outside, double& below) {
        const ConePart own = part(cone);
        dual(cone) = own.dual;
        sum += own.work;
        raise(impulse, own.impulse);
        raise(outside, own.primal);
        raise(below, own.dual);
      },
      Kokkos::Sum<double>(work), Largest(largest), Largest(result.primal), Largest(result.dual));
  return scaled(result, problem, work, largest, dual);
}

}  // namespace

Optimality optimality(const Problem& problem, Law law, const Vector& gamma) {
  Optimality result;
  const int n = problem.contacts();
  if (problem.all_triples() == 0) return result;
  if (!problem.pools().empty()) return pooled_optimality(problem, law, gamma);
  const std::size_t size = 3 * static_cast<std::size_t>(n);
  const VectorView p("ccp::Optimality::impulse", size), v("ccp::Optimality::velocity", size);
  const DeviceArray<double*> dual("ccp::Optimality::dual", n);
  problem.to_world_axes(read_view(gamma), p);
  const auto normal = problem.normal();
  const auto mu = problem.mu();
  const auto r = problem.r();
  const bool coulomb = law == Law::coulomb;
  problem.delassus()->apply_fused(
      p, KOKKOS_LAMBDA(const int c, const Vec3& d) {
        const Vec3 axis = row3(normal, c), u = d + load3(r, c);
        const Split part = split(u, axis);
        const double n_part = coulomb ? part.n + mu(c) * part.size : part.n;
        dual(c) = distance_to_dual_cone(n_part, part.size, mu(c));
        store3(v, c, coulomb ? u + (mu(c) * part.size) * axis : u);
      });
  double work = 0, largest = 0;
  Kokkos::parallel_reduce(
      "ccp::Optimality::terms", range(n),
      KOKKOS_LAMBDA(const int c, double& sum, double& impulse, double& outside, double& below) {
        const Vec3 pc = load3(p, c);
        const Split part = split(pc, row3(normal, c));
        sum += dot(pc, load3(v, c));
        raise(impulse, norm(pc));
        raise(outside, distance_to_cone(part.n, part.size, mu(c)));
        raise(below, dual(c));
      },
      Kokkos::Sum<double>(work), Largest(largest), Largest(result.primal), Largest(result.dual));
  return scaled(result, problem, work, largest, dual);
}

double rounding_of_complementarity(const Problem& problem, const Vector& gamma) {
  constexpr double epsilon = 2.2e-16;
  const VectorView p("ccp::Optimality::impulse", 3 * static_cast<std::size_t>(problem.contacts()));
  problem.to_world_axes(read_view(gamma), p);
  const auto blocks = problem.shared_delassus().diagonal_blocks();
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Optimality::rounding", range(problem.contacts()),
      KOKKOS_LAMBDA(const int c, double& total) {
        const Vec3 g = load3(p, c);
        const double part[3] = {g.x, g.y, g.z};
        double energy = 0;
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) energy += part[i] * blocks(c, i, j) * part[j];
        }
        total += energy * energy;
      },
      sum);
  const double q = velocity_scale(problem);
  return 2 * epsilon * std::sqrt(sum) * problem.delassus_scale() / (problem.contacts() * q * q);
}

bool confirm(const Problem& problem, Law law, const Vector& gamma, double tolerance,
             std::string& reason) {
  const Optimality found = optimality(problem, law, gamma);
  const double allowed = std::max(10 * tolerance, found.rounding);
  if (found.residual() <= allowed) return true;
  const char* const term = found.residual() == found.dual     ? "dual"
                           : found.residual() == found.primal ? "primal"
                                                              : "complementarity";
  reason = fmt::format("the own stopping rule holds, but {} is {:.2g}", term, found.residual());
  if (found.residual() == found.dual) {
    const long long contacts = problem.all_contacts(), worst = found.worst_contact;
    reason += worst < contacts ? fmt::format(" at contact {}", worst)
                               : fmt::format(" at equality constraint {}", worst - contacts);
  }
  return false;
}

Status confirmed(Status status, const Problem& problem, Law law, const Vector& gamma,
                 double tolerance, std::string& message) {
  std::string reason;
  if (status != Status::converged || confirm(problem, law, gamma, tolerance, reason)) {
    return status;
  }
  message += (message.empty() ? "" : "; ") + reason;
  return Status::stagnated;
}

}  // namespace ccp
