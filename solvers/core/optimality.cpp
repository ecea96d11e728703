#include "solvers/core/optimality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/core/cone.hpp"
#include "solvers/core/extremes.hpp"
#include "solvers/core/scales.hpp"

namespace ccp {
namespace {

double finite_or_nan(double value) {
  return std::isfinite(value) ? value : std::nan("");
}

int place_of_largest(const DeviceArray<const double*>& value) {
  Kokkos::MaxLoc<double, int>::value_type largest;
  Kokkos::parallel_reduce(
      "ccp::Optimality::place_of_largest", range(value.extent(0)),
      KOKKOS_LAMBDA(const int c, Kokkos::MaxLoc<double, int>::value_type& most) {
        if (value(c) > most.val) most.val = value(c), most.loc = c;
      },
      Kokkos::MaxLoc<double, int>(largest));
  return largest.loc;
}

}  // namespace

double Optimality::residual() const {
  if (std::isnan(dual) || std::isnan(primal) || std::isnan(complementarity)) return std::nan("");
  return std::max({dual, primal, complementarity});
}

Optimality optimality(const Problem& problem, Law law, const Vector& gamma) {
  Optimality result;
  const int n = problem.contacts();
  if (n == 0) return result;
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
  const double q = velocity_scale(problem), s = problem.delassus_scale();
  result.complementarity = std::abs(work) * s / (n * q * q);
  result.dual = finite_or_nan(result.dual) / q;
  result.primal = finite_or_nan(result.primal) * s / q;
  constexpr double epsilon = 2.2e-16, operations = 100;
  result.rounding = operations * epsilon * std::max(largest * s / q, 1.0);
  if (result.residual() == result.dual) result.worst_contact = place_of_largest(dual);
  return result;
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
  if (found.residual() == found.dual) reason += fmt::format(" at contact {}", found.worst_contact);
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
