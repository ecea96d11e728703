#pragma once

#include "solvers/batch/batch.hpp"
#include "solvers/core/gradient_metric.hpp"

namespace ccp {

/// apgd[metric=diagonal] of every problem. The residual is looked at in iterations 0,
/// check_interval, ... Forms: both. Law: convex.
class BatchApgd : public BatchSolver {
 public:
  void add_options(OptionList& list);
  void setup(const Batch& batch) override;

  /// What an iteration leaves to the next one, by problem.
  struct State {
    DeviceArray<double* [4]> number;  ///< L, theta, beta, and the most that L can be
    DeviceArray<int* [3]> role;       ///< which of the arrays is x, x_old and z
  };

  // Public only because device lambdas may not live in private members.
  void weigh_idle_contacts();
  void start() override;
  void advance() override;
  void answer(const VectorView& p) override;

 private:
  void count(int outer, Info& info) const override;
  template <class Product>
  void iterate(const Product& product);

  double shrink_ = 0.9;
  bool restart_ = true;
  int check_interval_ = 50, max_iterations_ = 10000000;
  GradientMetric metric_;
  State state_;
  DeviceArray<double*> most_;  ///< [size] curvature of steps that never overshoot
  VectorView x_[3];            ///< impulses of three iterates, in world axes
  VectorView d_[3];            ///< N times each
  VectorView next_, v_;        ///< the impulses whose product is made, and the bodies' velocities
  std::function<void()> run_;
};

}  // namespace ccp
