#pragma once

#include <string>

#include "solvers/core/law.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/core/status.hpp"

namespace ccp {

/// How far impulses are from a solution, in the three scale-free terms of `residual` and
/// `coulomb_residual` (docs/measures.md), over every contact:
///     dual             max_c dist(v_c, K*) / q
///     primal           max_c dist(gamma_c, K) s / q
///     complementarity  |sum gamma_c . v_c| s / (n q^2)
/// with v = u = N gamma + r, or u + (mu |u_t|) n for Coulomb's law, q = rms(r) and s = trace(N)/3n.
/// With rolling resistance K is K6 and v has rho |u_r| added, too; equality constraints have K =
/// R^3. Their triples count in the units of Problem::pool_length(), and n is the number of cones.
/// Solvers check their own stopping rules with it: see confirm(). The referee has code of its own.
struct Optimality {
  double dual = 0, primal = 0, complementarity = 0;
  double rounding = 0;  ///< what double precision leaves of `dual` at impulses of this size
  long long worst_contact =
      -1;  ///< where dist(v_c, K*) is largest; -1 where `dual` is not the largest term

  /// The largest of the three; NaN if one is.
  double residual() const;
};

/// @param gamma  impulses in contact axes, 3 values per triple, N s
Optimality optimality(const Problem& problem, Law law, const Vector& gamma);

/// What double precision leaves of `complementarity` at these impulses, where N alone is
/// known:
///     sqrt(sum (2 epsilon gamma_c . N_cc gamma_c)^2) s / (n q^2)
/// The parts of u_c are about as large as N_cc gamma_c, each rounded on its own. No solver gets
/// much below that: large impulses that hold each other (long chains, large mass ratios) make it
/// large.
double rounding_of_complementarity(const Problem& problem, const Vector& gamma);

/// Whether a solver whose own stopping rule holds at `gamma` may say "converged": residual() is at
/// most ten times `tolerance`, or what rounding leaves. A rule that some contact dropped out of
/// (nothing moves it, or its weight is small beside others) fails here.
/// @param reason  set where the answer is no: the term, the contact and the values
bool confirm(const Problem& problem, Law law, const Vector& gamma, double tolerance,
             std::string& reason);

/// The same for the end of a solve: `converged` stays so if confirm() agrees, and is `stagnated`
/// with the reason added to the message if not; any other status stays.
Status confirmed(Status status, const Problem& problem, Law law, const Vector& gamma,
                 double tolerance, std::string& message);

}  // namespace ccp
