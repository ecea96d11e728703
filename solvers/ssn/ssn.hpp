#pragma once

#include <memory>

#include "solvers/core/solver.hpp"
#include "solvers/velocity_space/machine_rates.hpp"
#include "solvers/velocity_space/ordered_contacts.hpp"
#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

/// q = rms(r), m/s. sigma_c of a contact is in 3/trace(N_cc) [kg].
struct SsnOptions {
  std::string linear_solver = "auto";   ///< for S dz = b: auto, cg, cholesky
  std::string factor = "cholmod";       ///< whose Cholesky factors S: one of factor_libraries()
  std::string preconditioner = "auto";  ///< of cg: one of VelocitySystem::preconditioners()
  std::string ordering = "auto";        ///< of the bodies: one of VelocitySystem::orderings()
  MachineRates rates;                   ///< by which auto changes from cg to cholesky
  double sigma = 1;                     ///< > 0: first sigma, in 3/trace(N_cc)
  /// >= 1: sigma grows by it after an update of gamma where max_c |p - gamma| / sigma had not
  /// fallen by it
  double growth = 4;
  double largest_sigma = 1e6;  ///< > 0: sigma grows no further, in 3/trace(N_cc)
  /// in (0, 1]: gamma <- p when the momentum error |M^-1/2 (E^T p - z)| of no body is above
  /// this * max_c |p - gamma| / sigma, m/s
  double inner_fraction = 0.3;
  double forcing = 0.1;          ///< in (0, 1]: cg stops at this part of the momentum error, m/s
  int cg_max_iterations = 3000;  ///< >= 1, per direction; one that meets it is not used
  double tolerance = 1e-11;      ///< >= 0, on the own residual (below); 0: never ends by itself
  int max_outer = 500;           ///< >= 1, Newton steps
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
class SsnSolver : public Solver, public SystemSource {
 public:
  OptionList options() override;
  void check_options(const std::vector<std::string>& given) const override;
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
  /// The length t of a step dz that lowers L enough, 1, 1/2, 1/4, ...; 0: none does.
  /// @param b  E^T p - z  @param trials  counts them
  double line_search(const VectorView& z, const VectorView& dz, const VectorView& b,
                     long& trials) const;

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
