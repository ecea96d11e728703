#pragma once

#include "harness/measure/measures.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp {

/// Measures the problem's reference solution with the referee and stores the outcome beside it: the
/// certificate (residual, dual, primal, complementarity, cost, feas) and, in bodies form, the
/// velocities M^-1 D gamma. Needs a Kokkos session.
/// @return what the referee measured; all NaN if there is no reference
Measures certify(ContactProblem& problem);

}  // namespace ccp
