#pragma once

#include <memory>

#include "solvers/core/solver.hpp"
#include "solvers/velocity_space/ordered_contacts.hpp"
#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

struct SsnOptions {
  std::string linear_solver = "auto";  ///< auto, cg, cholesky
  std::string preconditioner = "auto", ordering = "auto";
  double sigma = 1;             ///< first step of the multipliers, in 3/trace(N_cc), > 0
  double growth = 4;            ///< of sigma after an update that was too small a gain, >= 1
  double largest_sigma = 1e6;   ///< > 0
  double inner_fraction = 0.3;  ///< momentum error per step of the multipliers that ends a solve
  double forcing = 0.1;         ///< relative residual of a direction (cg)
  int cg_max_iterations = 3000;
  double tolerance = 1e-11;  ///< on the own residual; 0 = never ends by itself
  int max_outer = 500;       ///< Newton steps
};

/// Augmented Lagrangian method on the velocity form of the convex problem,
///
///     min 1/2 |z|^2   over   E z + r in K_mu*,      v = M^-1/2 z,  E = D^T M^-1/2,
///
/// whose multipliers are gamma. For given gamma the augmented Lagrangian
///
///     L(z) = 1/2 |z|^2 + sum_c (|p_c|^2 - |gamma_c|^2) / (2 sigma_c),   p = P(gamma - sigma (E z +
///     r))
///
/// is minimised by a semismooth Newton method with line search,
///
///     S dz = E^T p - z,   S = 1 + E^T sigma P' E,
///
/// and then gamma <- p. S is the matrix of velocity_space/.
///
/// Own residual: max( max_c |p - gamma|_c / sigma_c, momentum error ) / q.
/// One outer iteration is one Newton step. Law: convex. Forms: bodies. Warm start: yes.
class SsnSolver : public Solver {
 public:
  OptionList options() override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

  /// L along a direction, at length t.
  struct Trial {
    double change = 0;  ///< of the contacts' part of L, J
    double slope = 0;   ///< -p . E dz, J
    double size = 0;    ///< of that part itself, J: what rounding is relative to
  };

  // Public only because device lambdas may not live in private members.
  double evaluate() const;
  void derivative() const;
  Trial look(double t) const;
  void set_sigma(double sigma) const;
  void project(const VectorView& values) const;

 private:
  SsnOptions options_;
  const Problem* problem_ = nullptr;
  std::unique_ptr<VelocitySystem> system_;
  OrderedContacts contacts_;
  DeviceArray<double*> sigma_;  ///< [n] kg
  DeviceArray<Sym3*> k_;        ///< sigma P'
  VectorView gamma_, p_;        ///< multipliers, and the next ones
  VectorView d_, dd_;           ///< E z, E dz
};

}  // namespace ccp
