#pragma once

#include "solvers/core/fixed_point.hpp"
#include "solvers/core/gradient_metric.hpp"

namespace ccp {

struct PgjOptions {
  double omega = 0.3;   ///< in (0, 100]: step in eta_c = 3/trace(N_cc); >= 0.5 diverges on piles
  double lambda = 1.0;  ///< in (0, 1]: relaxation of the projected point
  FixedPointLimits limits;  ///< on the own residual (below)
};

/// Projected Gauss-Jacobi of Tasora and Anitescu (2011), the baseline of Kleinert 2014 and 2017:
///
///     gamma_c <- (1 - lambda) gamma_c + lambda P_Kmu( gamma_c - omega eta_c (N gamma + r)_c ),
///     eta_c = 3 / trace(N_cc)
///
/// Other triples than contacts take the same step with eta = 1 / (largest eigenvalue of their
/// block), and a contact with rolling resistance is projected onto K6 in the metric of the steps.
///
/// Own residual: max_c |P(gamma_c - omega eta_c u_c) - gamma_c| / (omega eta_c), in m/s.
/// Cost per iteration: one product with N, fused with the update (each contact frame is read once).
/// Law: convex. Forms: both. Warm start: yes. Any Kokkos back end; the result does not depend on
/// the number of threads.
class PgjSolver : public Solver {
 public:
  OptionList options() override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

  // Public only because device lambdas may not live in private members.
  void iterate(const VectorView& p, bool measure) const;
  void set_up_pools(const Problem& problem);
  void iterate_all(const VectorView& p, bool measure) const;
  double largest_step() const;

 private:
  PgjOptions options_;
  const Problem* problem_ = nullptr;
  Teuchos::RCP<DelassusOperator> delassus_;
  DeviceArray<double*> step_;       ///< omega eta_c
  DeviceArray<double*> step_norm_;  ///< |change| / step of the last measured iteration, m/s
  // Where there are triples beside the contacts: 1 / step as a metric, N p + r, and targets.
  GradientMetric metric_;
  VectorView u_, target_;
};

}  // namespace ccp
