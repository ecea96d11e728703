#pragma once

#include <memory>

#include "problems/model/contact_problem.hpp"
#include "solvers/core/body_exchange.hpp"
#include "solvers/core/distribution.hpp"

namespace ccp {

/// A rank's part of a problem, reaching into those of others: its bodies, those that are at most so
/// many contacts from one of them, and all contacts that touch any of these. Whatever lies beyond
/// is immovable. So a sum over the contacts of a body is complete for each of its bodies.
struct OverlappedPart {
  /// Bodies: the rank's own, in the order of Distribution::owned_body, then the others, ascending.
  /// Contacts: the rank's own, in that of Distribution::contact, then the others, ascending. Who
  /// touches whom, arms, inverse masses, positions and gravity alone; mu is zero. Without bodies
  /// one immovable one.
  ContactProblem problem;
  std::shared_ptr<BodyExchange> bodies;    ///< of rows of its bodies
  std::shared_ptr<BodyExchange> contacts;  ///< of rows of its contacts
};

/// Whether a body has so many contacts (a plate, a container) that overlaps neither enter nor leave
/// it: it would bring all that it touches.
inline bool is_hub_of(std::size_t contacts) {
  constexpr std::size_t most = 100;
  return contacts > most;
}

/// Asks other ranks for what lies around a part (collective), over bodies that are no hubs.
/// @param part    as in ProblemPart, contacts alone
/// @param layers  >= 0, contacts on the way from a rank's bodies
OverlappedPart overlapped_part(const ContactProblem& part, const Distribution& distribution,
                               int layers);

}  // namespace ccp
