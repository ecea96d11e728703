#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "solvers/batch/merged.hpp"
#include "solvers/batch/round.hpp"
#include "solvers/core/solver.hpp"

namespace ccp {

/// What ends the solves of a batch.
struct BatchStop {
  double residual = 1e-8;  ///< `residual` (or `coulomb_residual`) to reach, as the kernels find it
  long iteration_limit = std::numeric_limits<long>::max();  ///< outer iterations of a problem
  /// Asked between rounds of iterations; problems that still run then end as `running`. May be
  /// empty.
  std::function<bool()> out_of_time;
};

/// Many small problems at once: one Kokkos team for each, on the host one thread. The method is
/// that of the solver of the same name, and made of the same functions of a contact; README.md says
/// which iterates are the same. A problem's iterates depend on that problem alone: not on the
/// others, nor on the number of threads.
class BatchSolver {
 public:
  virtual ~BatchSolver() = default;

  virtual Law law() const { return Law::convex; }
  /// All memory, for problems that outlive the solver. @throws InputError for a form of problems
  /// that the method does not take in a batch
  virtual void setup(const Batch& batch) = 0;
  /// From zero. @param gamma  [3 contacts of the batch] out: impulses in contact axes, N s
  /// @return of each problem: `stopped_by_observer` where the residual was reached
  std::vector<Info> solve(const BatchStop& stop, const VectorView& gamma);

  /// What a round of iterations knows of each problem, [size].
  struct Progress {
    DeviceArray<int*> status;  ///< a Status; `running` until it ends
    DeviceArray<int*> outer, applies;
    DeviceArray<double*> residual;
    batch::Round round;
    double goal = 0;  ///< residual
    int iteration_limit = 0;
  };

 protected:
  const Batch* batch_ = nullptr;
  Progress progress_;

  void make_progress(const Batch& batch);
  /// Before the first round.
  virtual void start() = 0;
  /// progress_.round.
  virtual void advance() = 0;
  /// Iterations of a problem in a round.
  virtual int of_a_round() const { return 1000; }
  /// The impulses in world axes.
  virtual void answer(const VectorView& p) = 0;
  /// Adds what else was counted.
  virtual void count(int outer, Info& info) const = 0;
};

}  // namespace ccp
