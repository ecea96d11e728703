#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solvers/core/following_velocity.hpp"
#include "solvers/core/inner_solvers.hpp"
#include "solvers/core/solver.hpp"
#include "solvers/coulomb/shifted_problem.hpp"

namespace ccp {

struct CoulombOptions {
  /// A solver of the convex law, id or id[name=value,...].
  std::string inner = "vipm[start=10]";
  std::string iteration = "auto";  ///< auto, newton, anderson, plain, lagged; auto: newton where
                                   ///< the inner solver can, else anderson
  int memory = 50;                 ///< >= 1: differences that anderson keeps
  /// in (0, 1): what the residual of an inner solve may be of the smallest own residual so far
  double inner_accuracy = 0.001;
  double sweep_to = 1e-4;          ///< in (0, 1): own residual to which auto sweeps after newton
  double krylov_tolerance = 0.01;  ///< in (0, 1): of newton's linear systems in s
  double tolerance = 1e-9;         ///< >= 0, on the own residual (below); 0: never ends by itself
  int max_outer = 500;             ///< >= 1: inner solves; with newton, inner iterations
};

/// Coulomb's law by a solver of the convex one: with s = mu |u_t| (De Saxce)
///
///     K_mu ∋ gamma ⊥ u + s n ∈ K_mu*,      u = N gamma + r
///
/// is the convex problem of the free velocity r + s n, whose u is unique. What is left is a fixed
/// point in s >= 0:  s -> mu |u_t(s)|, repeated as it is (plain), once (lagged), with Anderson
/// acceleration, or as a further equation of an interior-point method (newton), which then solves
/// for gamma, u and s together.
///
/// Own residual: coulomb_residual of docs/measures.md, so that "converged" is what the referee
/// says. One outer iteration is one inner solve; with newton, one iteration of the inner solver.
/// Law: coulomb. Forms and features: what the inner solver takes. Warm start: yes.
class CoulombSolver : public Solver {
 public:
  explicit CoulombSolver(InnerSolvers inner_solvers) : inner_solvers_(std::move(inner_solvers)) {}

  OptionList options() override;
  void check_options(const std::vector<std::string>& given) const override;
  Law law() const override { return Law::coulomb; }
  bool can_be_inner() const override { return false; }
  std::string why_unsupported(const ContactProblem& problem) const override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

 private:
  void start(const Vector& gamma);
  Info fixed_point(Vector& gamma, Observer& observer, const Info& before);
  Info newton(Vector& gamma, Observer& observer);
  Info sweep(double aim, long patience, Vector& gamma, Observer& observer, const Info& before);

  InnerSolvers inner_solvers_;
  CoulombOptions options_;
  const Problem* problem_ = nullptr;
  std::unique_ptr<ShiftedProblem> shifted_;
  std::unique_ptr<Solver> inner_, sweeper_;  ///< sweeper_: once newton has given up
  FollowsVelocity* follows_ = nullptr;       ///< the inner solver, where newton is what it does
  VectorView f_;                             ///< mu |u_t| - s, n values, m/s
};

}  // namespace ccp
