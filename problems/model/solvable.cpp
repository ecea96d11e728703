#include "problems/model/solvable.hpp"

#include <cmath>

#include "problems/model/constraint_math.hpp"

namespace ccp {

int unsolvable_contact(const ContactProblem& problem) {
  if (problem.form == ContactProblem::Form::assembled) return -1;
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const std::int32_t a = problem.contact_bodies[2 * c], b = problem.contact_bodies[2 * c + 1];
    if (is_movable(problem, a) || is_movable(problem, b)) continue;
    if (problem.is_compliant() && problem.compliance[2 * c] > 0) continue;
    const double* r = &problem.r[3 * c];
    if (r[0] < problem.mu[c] * std::hypot(r[1], r[2])) return static_cast<int>(c);
  }
  return -1;
}

}  // namespace ccp
