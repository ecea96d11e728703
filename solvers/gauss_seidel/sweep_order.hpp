#pragma once

#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// An order in which a Gauss-Seidel sweep visits the contacts. Contacts of one group share no body
/// that can move (assembled form: no block of N): visiting them together, in SIMD lanes, is the
/// same as one after the other. So do all contacts of one colour, for parallel sweeps.
struct SweepOrder {
  static constexpr int lanes = 8;  ///< contacts of a group, at most

  std::vector<int> contacts;  ///< [n] contact at every place
  std::vector<int> groups;    ///< places where a group begins, and n at the end
  std::vector<int> colors;    ///< groups where a colour begins, and their number at the end; empty
                              ///< for an order that must be kept
};

/// The contacts as the problem has them, but for those that share a body: one is moved back, within
/// a short reach, to where it makes a group with others.
SweepOrder sequential_order(const ContactProblem& problem);

/// Colours by first fit in the problem's order, which depends on the problem alone.
SweepOrder colored_order(const ContactProblem& problem);

}  // namespace ccp
