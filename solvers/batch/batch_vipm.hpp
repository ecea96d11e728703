#pragma once

#include "problems/base/sym3.hpp"
#include "solvers/batch/batch.hpp"
#include "solvers/vipm/vipm.hpp"

namespace ccp {

/// vipm[linear_solver=cholesky] of every problem, with a dense factor of S. The residual is looked
/// at in every iteration, and the best impulses are the answer. Form: bodies. Law: convex.
class BatchVipm : public BatchSolver {
 public:
  /// Those of VipmOptions that it has, by the same defaults.
  struct Options {
    int refinements = VipmOptions().refinements;
    double step_fraction = VipmOptions().step_fraction;
    double start = VipmOptions().start;
    double forcing = VipmOptions().forcing;
    int max_outer = VipmOptions().max_outer;
  };
  /// Arrays of the contacts [3n], in world axes, and of the bodies' unknowns [6 (m + 1)].
  struct State {
    VectorView gamma, u, dgamma, du, gap, g, d, best;
    DeviceArray<Sym3*> k;
    VectorView z, dz, b, momentum, kept;
    DeviceArray<double* [2]> number;  ///< [size] best residual, and iterations since
  };

  void add_options(OptionList& list);
  void setup(const Batch& batch) override;

  // Public only because device lambdas may not live in private members.
  void start() override;
  void advance() override;
  int of_a_round() const override { return 10; }
  void answer(const VectorView& p) override;

 private:
  void count(int outer, Info& info) const override;
  template <class Bodies>
  void iterate(const Bodies& bodies);

  Options options_;
  State state_;
  BodyMatrices roots_;
  std::size_t most_unknowns_ = 0;  ///< of a problem
};

}  // namespace ccp
