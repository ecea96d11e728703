#pragma once

#include "solvers/core/fixed_point.hpp"
#include "solvers/core/gradient_metric.hpp"

namespace ccp {

struct ApgdOptions {
  /// D [1/kg]: "diagonal", from the contacts' own blocks of N (GradientMetric), or "plain", the
  /// mean of N's diagonal
  std::string metric = "diagonal";
  double shrink = 0.9;      ///< in [0.1, 1]: L <- this * L after an iteration; 1: L only grows
  bool restart = true;      ///< beta starts anew when (N y + r).(z - x) > 0
  FixedPointLimits limits;  ///< on the own residual (below)
};

/// Accelerated projected gradient descent (Nesterov; for this problem Mazhar, Heyn, Negrut and
/// Tasora, ACM Transactions on Graphics 34(3), 2015, Algorithm 1) for
/// min x.Nx / 2 + r.x over the friction cones, in the metric D of the contacts' own blocks:
///
///     z = P_D( y - (N y + r) / (L D) ),    y = z + beta (z - x),    x = z
///
/// L is doubled while d.Nd > L d.Dd for the step d = z - y, and shrinks by a factor each iteration.
/// The momentum starts anew when (N y + r).(z - x) > 0 (O'Donoghue and Candes 2015).
///
/// Own residual: largest L |D d| of a step, m/s. Products with N are kept as body velocities, so
/// that an iteration is one pass over the contacts and one over the bodies.
/// Law: convex. Forms: both. Warm start: yes. Any Kokkos back end.
class ApgdSolver : public Solver {
 public:
  OptionList options() override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

  // Public only because device lambdas may not live in private members.
  struct StepSums {
    double descent = 0;  ///< (N y + r).(z - x)
    double size = 0;     ///< d.Dd
  };
  StepSums take_step(double beta, double length) const;
  StepSums take_step_of_all(double beta, double length) const;
  double largest_step(double beta) const;
  double curvature_of_ones() const;
  void blend(double beta) const;
  void store_step(double beta) const;
  bool overshoots(double size, double lipschitz, double beta) const;

 private:
  ApgdOptions options_;
  const Problem* problem_ = nullptr;
  Teuchos::RCP<DelassusOperator> delassus_;
  GradientMetric metric_;
  // Impulses in world axes, and their images under N: of the last two iterates and the next one.
  VectorView x_, x_old_, z_;
  DelassusOperator::Image image_x_, image_y_, image_z_;
  VectorView d_;      ///< the step, where images are products
  VectorView y_, u_;  ///< y and N y + r, where there are triples beside the contacts
};

}  // namespace ccp
