#pragma once

#include <memory>

#include "solvers/core/solver.hpp"
#include "solvers/gauss_seidel/gauss_seidel.hpp"
#include "solvers/pqn/linearisation.hpp"

namespace ccp {

struct PqnOptions {
  std::string law = "coulomb";            ///< coulomb, convex
  double delta = 0.01;                    ///< >= 0: regularisation, in what delta_relative_to says
  std::string delta_relative_to = "avg";  ///< absolute (1/kg); min, avg, max of the diagonal of N
  KrylovOptions krylov = {"gmres", 10, 20, false};  ///< m >= 1, and the basis size >= 1
  double krylov_tolerance = 0.25;  ///< in (0, 1]: eps, on |C - A dgamma| / |C| of a step
  double omega = 1e-11;            ///< > 0: smoothing of the natural map, in multiples of rms(r)
  double impulse_scale = 1;        ///< >= 0: rho = this * trace(N)/3n; 0: 1/kg, as in the paper
  double tolerance = 1e-20;        ///< >= 0, on the merit g (eq. 40); 0: never ends by itself
  int max_iterations = 1000;       ///< >= 1, quasi-Newton steps
  int max_products = 100000;       ///< >= 1, products with A over the whole solve
  std::string fallback = "none";   ///< none; gauss_seidel: what goes on where the method has failed
  int fallback_sweeps = 10000;     ///< >= 1
};

/// Projected quasi-Newton method of Koziara 2019 (Algorithm 1) for the Coulomb law in De
/// Saxce's form (or the convex law):
///
///     gamma <- P( gamma - A^-1_GMRES(eps, m) C(gamma) ),     A = X N + rho Y + delta I
///
/// with the smoothed natural map C and its derivative as in pqn/linearisation.hpp. A is applied,
/// never formed; GMRES has the inverse 3x3 diagonal blocks of A as its (right) preconditioner.
///
/// Own residual: the merit g of eq. 40.
/// Cost per iteration: one product with N, and at most m + 1 in GMRES.
/// Forms: both. Warm start: yes. Not for: guarantees, there are none.
class PqnSolver : public Solver {
 public:
  OptionList options() override;
  Law law() const override { return options_.law == "convex" ? Law::convex : Law::coulomb; }
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

 private:
  PqnOptions options_;
  const Problem* problem_ = nullptr;
  Teuchos::RCP<pqn::Linearisation> system_;
  std::unique_ptr<KrylovSolver> krylov_;
  std::unique_ptr<GaussSeidel> gauss_seidel_;  ///< only where it is the fallback
};

}  // namespace ccp
