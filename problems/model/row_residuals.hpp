#pragma once

#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// How far rows are from their laws, mean over the rows of a kind (Wang 2016 eq. 6, Figs. 4, 8 and
/// 9): |u| where an impulse is inside of its limits, and what a projected step of the row would
/// change, times its mobility d, where it is not:
///     normal      d |gamma_n - max(0, gamma_n - u_n / d)|
///     tangential  d |gamma_t - P(gamma_t - u_t / d)|, P onto the disc of radius mu gamma_n
///     rolling     the same, onto the ball of radius rho gamma_n
///     equality    |u|
/// which is zero for Coulomb's law. A kind without rows has 0.
struct RowResiduals {
  double normal = 0, tangential = 0;  ///< m/s
  double rolling = 0;                 ///< rad/s
  double equality = 0;                ///< m/s, or rad/s
};

/// @param gamma  [triples][3] N s, contact axes. Bodies form
RowResiduals row_residuals(const ContactProblem& problem, const std::vector<double>& gamma);

}  // namespace ccp
