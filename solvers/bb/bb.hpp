#pragma once

#include "solvers/core/fixed_point.hpp"
#include "solvers/core/gradient_metric.hpp"

namespace ccp {

struct BbOptions {
  /// D [1/kg]: "diagonal", from the contacts' own blocks of N (GradientMetric), or "plain", the
  /// mean of N's diagonal
  std::string metric = "diagonal";
  /// alpha from the last change s of x: "bb1" s.Ds / s.Ns (long), "bb2" s.Ns / (N s).D^-1 (N s)
  /// over what carries now (short, one more pass), or "alternate"
  std::string step = "alternate";
  int memory = 10;  ///< 1 to 1000: objectives that the line search looks back on; 1: monotone
  FixedPointLimits limits;  ///< on the own residual (below)
};

/// Spectral projected gradient method (Birgin, Martinez and Raydan 2000) with the step lengths of
/// Barzilai and Borwein, in the metric D of the contacts' own blocks:
///
///     d = P_D( x - alpha D^-1 (N x + r) ) - x,      x <- x + lambda d
///
/// lambda = 1 unless the objective would then exceed the largest of the last `memory` ones by more
/// than the sufficient decrease of Grippo, Lampariello and Lucidi allows; the objective is
/// quadratic, so that its value for any lambda costs nothing once N d is known.
///
/// Own residual: largest |D d| / alpha, m/s. Law: convex. Forms: both. Warm start: yes.
class BbSolver : public Solver {
 public:
  OptionList options() override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

  // Public only because device lambdas may not live in private members.
  struct Direction {
    double slope = 0;  ///< (N x + r).d
    double size = 0;   ///< d.Dd
  };
  Direction find_direction(double length, double lambda) const;
  Direction find_direction_of_all(double length, double lambda) const;
  double largest_step() const;
  double image_square(double lambda) const;  ///< (N d).D^-1 (N d) of what carries after the step

 private:
  BbOptions options_;
  const Problem* problem_ = nullptr;
  Teuchos::RCP<DelassusOperator> delassus_;
  GradientMetric metric_;
  VectorView x_, d_;  ///< world axes
  VectorView u_;      ///< N x + r or N d, where there are triples beside the contacts
  DelassusOperator::Image image_x_, image_d_;
};

}  // namespace ccp
