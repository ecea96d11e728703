#pragma once

#include <memory>

#include "solvers/core/fixed_point.hpp"
#include "solvers/gauss_seidel/gauss_seidel.hpp"

namespace ccp {

struct PgsOptions {
  std::string law = "convex";        ///< of contact: convex, coulomb
  std::string sweep = "sequential";  ///< contact after contact, or "colored": colour after colour
  std::string local =
      "exact";              ///< the contact's own problem, or "step": one projected step eta_c u_c
  double omega = 1;         ///< in (0, 2]: relaxation of a visit
  bool symmetric = false;   ///< a backward sweep after every forward one
  FixedPointLimits limits;  ///< on the own residual (below)
};

/// Projected block Gauss-Seidel: contact by contact, the impulse that solves the contact's own
/// problem while all others hold still (`local=exact`), or one projected step of it
/// (`local=step`, the PSOR of Tasora and Anitescu). With law=coulomb it is the nonlinear
/// Gauss-Seidel method of Jean and Moreau (NSGS) with exact local solves.
///
/// Own residual: largest change of an impulse in a sweep times the contact's weight, m/s.
/// One iteration is one sweep, with `symmetric` one forward and one backward: that many products
/// with N. Laws: convex and Coulomb. Forms: both. Warm start: yes. `sweep=colored` runs on any
/// back end and gives the same iterates for any number of threads; `sequential` uses one thread.
class PgsSolver : public Solver {
 public:
  OptionList options() override;
  Law law() const override { return options_.law == "convex" ? Law::convex : Law::coulomb; }
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

 private:
  PgsOptions options_;
  const Problem* problem_ = nullptr;
  std::unique_ptr<GaussSeidel> sweeps_;
};

}  // namespace ccp
