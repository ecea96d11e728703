#pragma once

#include <memory>

#include "solvers/core/following_velocity.hpp"
#include "solvers/core/observer.hpp"
#include "solvers/coulomb/shifted_problem.hpp"
#include "solvers/linear/krylov.hpp"

namespace ccp {

/// s = mu |u_t| as an equation beside those of an interior-point method. With t = u_t/|u_t| its
/// linearisation is
///
///     ds = f + mu t . du_t,   du = du_0 + R(ds n),   f = mu |u_t| - s,
///
/// du_0 what the step does to u if s stays, R the response of u to r: one solve with the method's
/// matrix. So  (1 - mu t . R n) ds = f + mu t . du_0,  n unknowns, by GMRES.
class NewtonShift : public FollowingVelocity {
 public:
  struct Options {
    double tolerance = 0.01;   ///< relative, of GMRES
    int max_iterations = 100;  ///< of GMRES; what it has then is taken
  };

  NewtonShift(const ShiftedProblem& shifted, const Options& options);
  ~NewtonShift() override;

  bool change(const ConstVectorView& u, const ConstVectorView& du, const Response& response,
              const VectorView& dr) override;
  void advance(double theta) override;

  /// Iterations of GMRES so far.
  long iterations() const { return iterations_; }

 private:
  class System;
  const ShiftedProblem& shifted_;
  Options options_;
  VectorView slide_;
  Teuchos::RCP<System> system_;
  std::unique_ptr<KrylovSolver> krylov_;
  Teuchos::RCP<Vector> rhs_, ds_;
  long iterations_ = 0;
};

}  // namespace ccp
