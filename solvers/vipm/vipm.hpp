#pragma once

#include <memory>

#include "solvers/core/following_velocity.hpp"
#include "solvers/core/limited_on_ranks.hpp"
#include "solvers/core/solver.hpp"
#include "solvers/velocity_space/machine_rates.hpp"
#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

/// q = rms(r) [m/s] and s = trace(N)/3n [1/kg] are the problem's own units: q/s of an impulse.
struct VipmOptions {
  std::string linear_solver = "auto";   ///< for S dz = b: auto, cg, cholesky
  std::string factor = "cholmod";       ///< whose Cholesky factors S: one of factor_libraries()
  std::string preconditioner = "auto";  ///< of cg: one of VelocitySystem::preconditioners()
  std::string ordering = "auto";        ///< of the bodies: one of VelocitySystem::orderings()
  MachineRates rates;                   ///< by which auto changes from cg to cholesky
  double thinning = 0.1;                ///< >= 0: VelocitySolver::Options::thinning
  int parts = 0;                        ///< >= 0, of overlapping Schwarz on all ranks together;
                                        ///< 0: one each, and none on one rank
  int overlap = 6;                      ///< >= 0, with these: SchwarzOptions::overlap
  /// in (0, 1]: cg stops when no body's residual |M^-1/2 (b - S dz)| [m/s] is above
  /// this * mu / (sum gamma_n / n), mu = gamma.u / 2n
  double forcing = 0.2;
  double predictor_factor = 30;  ///< >= 1: the same for the predictor is this times forcing
  int cg_max_iterations = 3000;  ///< >= 1, per direction; one that meets it is not used
  int refinements = 3;           ///< >= 0, at most, of a corrector solved by factorisation
  int corrections = 2;           ///< >= 0, at most, of centrality, of a direction
  double step_fraction = 0.99;   ///< in (0, 1]: theta = min(1, this * the longest step inside)
  double start = 3;              ///< > 0: cold, gamma = this * q/s [N s] along every normal
  double tolerance = 1e-10;      ///< >= 0, on the own residual (below), no unit
  int max_outer = 100;           ///< >= 1
};

/// Predictor-corrector interior-point method with the body velocities as independent unknowns:
///
///     z = E^T gamma,   u = E z + r,   K_mu ∋ gamma ⊥ u ∈ K_mu*,      v = M^-1/2 z,  E = D^T
///     M^-1/2,
///
/// whose directions come from  S dz = b,  S = 1 + E^T K E,  on the graph of bodies that touch.
/// Own residual: max(gamma.u s / (n q^2), (momentum error + largest |u - E z - r|) / q).
/// Cost per outer iteration: one assembly of S and two solves with it.
/// On several ranks, and with `parts`, S is solved by conjugate gradients with overlapping Schwarz.
/// Law: convex. Forms: both. Rolling resistance and equality constraints: yes. Warm start: yes. See
/// README.md beside this file.
class VipmSolver : public Solver,
                   public SystemSource,
                   public FollowsVelocity,
                   public LimitedOnRanks {
 public:
  OptionList options() override;
  void check_options(const std::vector<std::string>& given) const override;
  std::string why_not_on_ranks() const override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

 private:
  bool has_sparse_delassus() const;
  std::unique_ptr<VelocitySystem> make_parts(const Problem& problem) const;
  void solve_by_contacts(Vector& gamma, Observer& observer, Info& info);

  VipmOptions options_;
  const Problem* problem_ = nullptr;
  std::unique_ptr<VelocitySystem> system_;
  std::unique_ptr<VelocitySystem> by_contacts_;  ///< made where system_ has failed
};

}  // namespace ccp
