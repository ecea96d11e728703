#pragma once

#include <memory>

#include "solvers/core/solver.hpp"
#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

/// Values of VipmSolver's options; meanings in its options() and README.md.
struct VipmOptions {
  std::string linear_solver = "auto";
  std::string preconditioner = "auto";
  std::string ordering = "auto";
  double forcing = 0.02;
  double predictor_factor = 30;
  int cg_max_iterations = 3000;
  int refinements = 3;
  double step_fraction = 0.99;
  double start = 10;
  double tolerance = 1e-10;
  int max_outer = 100;
};

/// Predictor-corrector interior-point method with the body velocities as independent unknowns.
class VipmSolver : public Solver {
 public:
  OptionList options() override;
  void check_options(const std::vector<std::string>& given) const override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

 private:
  VipmOptions options_;
  const Problem* problem_ = nullptr;
  std::unique_ptr<VelocitySystem> system_;
};

}  // namespace ccp
