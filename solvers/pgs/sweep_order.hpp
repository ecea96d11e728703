#pragma once

#include <vector>

#include "problems/contact_problem.hpp"

namespace ccp {

/// An order in which a Gauss-Seidel sweep visits the contacts.
struct SweepOrder {
  std::vector<int> contacts;  ///< [n] contact at every place
  /// Places where a colour begins, and n at the end. Contacts of one colour share no body that can
  /// move (assembled form: no block of N), so that they may be visited at the same time. Empty for
  /// an order that must be kept.
  std::vector<int> colors;
};

/// The contacts as the problem has them, but with those that share a body moved apart where a
/// contact within reach can take the place: a visit then need not wait for the one before it.
SweepOrder sequential_order(const ContactProblem& problem);

/// Colours by first fit in the problem's order, which depends on the problem alone.
SweepOrder colored_order(const ContactProblem& problem);

}  // namespace ccp
