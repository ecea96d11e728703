#pragma once

#include <memory>
#include <string>

#include "solvers/core/inner_solvers.hpp"
#include "solvers/core/solver.hpp"

namespace ccp {

struct AutoOptions {
  std::string law = "convex";  ///< convex, coulomb
  int trial = 24;              ///< >= 0: iterations of apgd before it is judged; 0: none at all
  double enough = 0.16;        ///< > 0: residual after them with which it goes on
  double patience = 1.5;       ///< >= 0: most iterations, in parts of what vipm is worth
  int few = 300;               ///< >= 0: contacts between bodies up to which apgd may go on ...
  double loose = 5e-3;         ///< >= 0: ... and residual from which on it may with any number
  double tolerance = 1e-10;    ///< >= 0, on the own residual; 0: never ends by itself
};

/// For whoever does not want to choose. By the convex law some iterations of apgd, and more as long
/// as they promise to arrive first; then vipm, which starts from what they have found. By Coulomb's
/// law, coulomb.
///
/// What apgd promises is read off its residual at counted iterations; what vipm is worth is counted
/// by the problem's size (work.hpp). There is no clock: equal problems take equal paths.
///
/// Own residual: Optimality::residual() at those iterations of apgd, NaN at others; vipm's or
/// coulomb's own. One outer iteration is one of the solver at work.
/// Laws: both. Forms: both. Warm start: yes.
class AutoSolver : public Solver {
 public:
  explicit AutoSolver(InnerSolvers inner_solvers) : inner_solvers_(std::move(inner_solvers)) {}

  OptionList options() override;
  Law law() const override { return options_.law == "convex" ? Law::convex : Law::coulomb; }
  bool can_be_inner() const override { return law() == Law::convex; }
  std::string why_unsupported(const ContactProblem& problem) const override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

 private:
  /// A solver that is made and set up when it is first needed.
  struct Stage {
    std::string id;
    std::unique_ptr<Solver> solver;
  };
  SolverSpec second_spec() const;
  Solver& ready(Stage& stage, const SolverSpec& spec, Info& info);
  double enough(double aim) const;
  bool first(Vector& gamma, Observer& observer, double aim, Info& info);
  void second(Vector& gamma, Observer& observer, Info& info);

  InnerSolvers inner_solvers_;
  AutoOptions options_;
  const Problem* problem_ = nullptr;
  Stage first_, second_;
};

}  // namespace ccp
