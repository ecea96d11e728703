#pragma once

#include <optional>
#include "harness/measure/measures.hpp"
#include "harness/measure/pooled_totals.hpp"

#include "problems/base/sym3.hpp"
#include "solvers/core/problem.hpp"

namespace ccp {

/// Changes when a formula below changes: results of different versions are not comparable.
inline constexpr int referee_version = 2;

/// The one judge of all solvers. Looks at gamma only: u = N gamma + r is computed here, with an
/// operator of the referee's own, and never taken from a solver's recurrence. Measures in contact
/// axes. On several ranks every function is collective, and the measures are those of all.
class Referee {
 public:
  explicit Referee(const Problem& problem);

  /// @param gamma  3 values per triple, N s. Anything that is not finite makes every measure NaN.
  Measures measure(const Vector& gamma);

  /// rms(r), 1 where r = 0: the velocity scale q of the scale-free measures.
  double velocity_scale() const { return q_; }

  // Public only because device lambdas may not live in private members.
  double objective(const ConstVectorView& gamma) const;
  void compute_velocity(const ConstVectorView& gamma) const;

 private:
  struct Judged;
  Judged judge(const ConstVectorView& gamma) const;

  const Problem& problem_;
  std::optional<PooledReferee> pooled_;  ///< where there are triples beside the contacts
  Teuchos::RCP<DelassusOperator> delassus_;
  VectorView impulse_;                   ///< gamma in world axes
  VectorView u_;                         ///< velocity, contact axes
  DeviceArray<Sym3*> inverse_diagonal_;  ///< of the 3x3 blocks N_cc, contact axes
  DeviceArray<double**> reference_velocity_;
  ConstVectorView reference_gamma_;  ///< contact axes
  double reference_objective_ = 0;
  bool has_reference_ = false;
  double q_ = 1;
  double merit_scale_ = 0;  ///< denominator of eq. 40: sum of r_c . N_cc^-1 r_c
};

}  // namespace ccp
