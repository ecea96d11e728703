#pragma once

#include <memory>

#include "solvers/core/solver.hpp"
#include "solvers/sap/yielding_contact.hpp"
#include "solvers/velocity_space/ordered_contacts.hpp"
#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

struct SapOptions {
  std::string linear_solver = "auto";   ///< for S dz = b: auto, cg, cholesky
  std::string factor = "cholmod";       ///< whose Cholesky factors S: one of factor_libraries()
  std::string preconditioner = "auto";  ///< of cg: one of VelocitySystem::preconditioners()
  std::string ordering = "auto";        ///< of the bodies: one of VelocitySystem::orderings()
  double forcing = 0.1;          ///< in (0, 1]: cg stops at this part of the momentum error, m/s
  int cg_max_iterations = 3000;  ///< >= 1, per direction; one that meets it is not used
  /// in (0, 1): the line search ends where the slope is this part of what it was at the beginning
  double slope = 1e-6;
  double tolerance = 1e-8;  ///< >= 0, on the own residual (below); 0: never ends by itself
  int max_outer = 500;      ///< >= 1, Newton steps
};

/// The semi-analytic primal solver (Castro et al. 2021): with compliant contacts, Sigma > 0, the
/// convex problem  K_mu ∋ gamma ⊥ u + Sigma gamma ∈ K_mu*  is the unconstrained minimum of
///
///     f(z) = 1/2 |z|^2 + sum_c 1/2 gamma_c . Sigma_c gamma_c,
///     gamma_c = argmin over K_mu of 1/2 gamma . Sigma gamma + u . gamma,  u = E z + r,
///
/// v = M^-1/2 z, E = D^T M^-1/2, which Newton's method with exact line search finds from anywhere:
///
///     S dz = E^T gamma - z,   S = 1 + E^T G E,   G_c = -d gamma_c / du_c.
///
/// Own residual: that of docs/measures.md at gamma, the largest of its dual and complementarity
/// terms; gamma is in its cones by construction.
/// One outer iteration is one Newton step: an assembly and a solve with S, and one pass over the
/// contacts per trial step. Law: convex. Forms: bodies, with compliances > 0 for every contact.
/// Warm start: yes. See README.md beside this file.
class SapSolver : public Solver, public SystemSource {
 public:
  OptionList options() override;
  void check_options(const std::vector<std::string>& given) const override;
  std::string why_unsupported(const ContactProblem& problem) const override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

  /// f along a direction, at length t.
  struct Trial {
    double slope = 0;      ///< -gamma . E dz, J
    double curvature = 0;  ///< E dz . G E dz, J
  };

  // Public only because device lambdas may not live in private members.
  void gather_compliance() const;
  void evaluate() const;
  void derivative() const;
  Trial look(double t) const;
  void project(const VectorView& values) const;
  double residual(const ConstVectorView& d) const;

 private:
  /// The length t at which f is smallest along dz, from t = 1.
  /// @param slope  of f at t = 0  @param trials  counts them
  double line_search(const VectorView& z, const VectorView& dz, double slope, long& trials) const;

  SapOptions options_;
  const Problem* problem_ = nullptr;
  std::unique_ptr<VelocitySystem> system_;
  OrderedContacts contacts_;
  DeviceArray<double* [2]> sigma_;  ///< [n] along and across the normal, 1/kg
  DeviceArray<Sym3*> k_;            ///< G
  VectorView gamma_;                ///< impulses at z
  VectorView d_, dd_;               ///< E z, E dz
};

}  // namespace ccp
