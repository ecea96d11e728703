#pragma once

#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// What impulses do to bodies, D gamma (bodies form).
/// @param gamma  [triples][3] N s, contact axes; N m s of rolling triples
/// @return [m][6] N s and N m s, linear then angular; angular parts are zero if no body rotates
std::vector<double> body_momenta(const ContactProblem& problem, const std::vector<double>& gamma);

/// M^-1 D gamma. @return [m][6] m/s and rad/s
std::vector<double> body_velocity_changes(const ContactProblem& problem,
                                          const std::vector<double>& gamma);

/// D^T v of bodies' velocities [m][6], [triples][3] in the axes of the triples: what the contacts,
/// the rolling and the equality triples see of them. Bodies form.
std::vector<double> constraint_velocities(const ContactProblem& problem,
                                          const std::vector<double>& velocity);

}  // namespace ccp
