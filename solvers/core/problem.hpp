#pragma once

#include "problems/contact_problem.hpp"
#include "solvers/core/delassus.hpp"

namespace ccp {

/// A problem as solvers see it: its data on the device, made once and shared by all who work on it.
/// The ContactProblem must outlive it.
class Problem {
 public:
  explicit Problem(const ContactProblem& host);

  const ContactProblem& host() const { return host_; }
  int contacts() const { return delassus_.contacts(); }
  Teuchos::RCP<const Map> map() const { return delassus_.getDomainMap(); }

  /// N with work arrays of the caller's own.
  Teuchos::RCP<DelassusOperator> delassus() const { return delassus_.clone(); }
  const DelassusOperator& shared_delassus() const { return delassus_; }
  /// Free contact velocity, 3n values, m/s.
  ConstVectorView r() const { return r_; }
  /// Friction coefficients, n values.
  DeviceArray<const double*> mu() const { return mu_; }

  /// s = trace(N) / 3n, 1/kg; 1 where that is zero.
  double delassus_scale() const { return delassus_scale_; }

 private:
  const ContactProblem& host_;
  DelassusOperator delassus_;
  ConstVectorView r_;
  DeviceArray<const double*> mu_;
  double delassus_scale_ = 1;
};

}  // namespace ccp
