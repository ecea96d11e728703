#include "solvers/distributed/overlap.hpp"

#include <Teuchos_ArrayView.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "solvers/core/rank_map.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/distributed/row_import.hpp"

namespace ccp {
namespace {

using Numbers = std::vector<long long>;
using Number = Map::global_ordinal_type;

/// The number of a body of the part; -1: of none.
long long number_of(const Distribution& distribution, std::int32_t place) {
  if (place < 0) return -1;
  const auto i = static_cast<std::size_t>(place), owned = distribution.owned_body.size();
  return i < owned ? distribution.owned_body[i] : distribution.ghost_body[i - owned];
}

/// The contacts of every body, known to the rank that it belongs to and told to whoever asks.
class ContactsOfBodies {
 public:
  ContactsOfBodies(const ContactProblem& part, const Distribution& distribution);

  /// Of one of this rank's bodies. @param i  its place among them
  Numbers of_owned(std::size_t i) const {
    return {contact_.begin() + static_cast<std::ptrdiff_t>(offset_[i]),
            contact_.begin() + static_cast<std::ptrdiff_t>(offset_[i + 1])};
  }
  bool is_hub(std::size_t i) const { return is_hub_of(offset_[i + 1] - offset_[i]); }

  struct Answer {
    Numbers contacts;  ///< of all that are no hubs, ascending, as often as they are on one
    Numbers hubs;      ///< which of the bodies are, ascending
  };
  /// Collective. @param bodies  numbers, each once
  Answer ask(const Numbers& bodies) const;

 private:
  std::vector<int> owners(const Numbers& bodies) const;

  const Distribution& distribution_;
  Teuchos::RCP<const Map> map_;      ///< of the bodies
  std::vector<std::size_t> offset_;  ///< [owned bodies + 1]
  Numbers contact_;                  ///< ascending for each
};

ContactsOfBodies::ContactsOfBodies(const ContactProblem& part, const Distribution& distribution)
    : distribution_(distribution), map_(map_of(distribution.ranks, distribution.owned_body)) {
  // One number says both: which body, and which contact is on it.
  Numbers bodies, pairs;
  for (std::size_t k = 0; k < part.contact_bodies.size(); ++k) {
    const long long body = number_of(distribution, part.contact_bodies[k]);
    if (body < 0) continue;
    bodies.push_back(body);
    pairs.push_back(body * distribution.contacts + distribution.contact[k / 2]);
  }
  const Numbers told = sent_to_ranks(distribution.ranks, pairs, owners(bodies));
  std::size_t next = 0;
  for (const long long body : distribution.owned_body) {
    offset_.push_back(next);
    while (next < told.size() && told[next] / distribution.contacts == body) {
      contact_.push_back(told[next++] % distribution.contacts);
    }
  }
  offset_.push_back(next);
}

std::vector<int> ContactsOfBodies::owners(const Numbers& bodies) const {
  // A directory of Tpetra answers once for each number.
  std::vector<Number> asked(bodies.begin(), bodies.end());
  std::sort(asked.begin(), asked.end());
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  std::vector<int> answers(asked.size()), ranks;
  map_->getRemoteIndexList(Teuchos::ArrayView<const Number>(asked),
                           Teuchos::ArrayView<int>(answers));
  for (const long long body : bodies) {
    const auto found = std::lower_bound(asked.begin(), asked.end(), static_cast<Number>(body));
    ranks.push_back(answers[static_cast<std::size_t>(found - asked.begin())]);
  }
  return ranks;
}

ContactsOfBodies::Answer ContactsOfBodies::ask(const Numbers& bodies) const {
  const Ranks& ranks = distribution_.ranks;
  Numbers questions;
  for (const long long body : bodies) questions.push_back(body * ranks.size() + ranks.rank());
  Numbers answers;
  std::vector<int> askers;
  const auto answer = [&](long long value, long long asker) {
    answers.push_back(value);
    askers.push_back(static_cast<int>(asker));
  };
  for (const long long question : sent_to_ranks(ranks, questions, owners(bodies))) {
    const long long body = question / ranks.size(), asker = question % ranks.size();
    const auto i = static_cast<std::size_t>(map_->getLocalElement(static_cast<Number>(body)));
    if (is_hub(i)) {
      answer(-1 - body, asker);
      continue;
    }
    for (const long long contact : of_owned(i)) answer(contact, asker);
  }
  Answer result;
  for (const long long value : sent_to_ranks(ranks, answers, askers)) {
    if (value < 0) {
      result.hubs.push_back(-1 - value);
    } else {
      result.contacts.push_back(value);
    }
  }
  std::sort(result.hubs.begin(), result.hubs.end());
  return result;
}

/// Rows that other ranks own. @param own  [own][width]  @return [wanted][width]
std::vector<double> rows_of_others(const BodyExchange& exchange, const std::vector<double>& own,
                                   std::size_t width) {
  std::vector<double> all = own;
  const auto owned = static_cast<std::size_t>(exchange.owned()),
             others = static_cast<std::size_t>(exchange.ghosts());
  all.resize(width * (owned + others));
  const DeviceArray<double**> rows("ccp::overlap::rows", owned + others, width);
  const auto mirror = host_mirror(rows);
  for (std::size_t i = 0; i < owned; ++i) {
    for (std::size_t j = 0; j < width; ++j) mirror(i, j) = own[width * i + j];
  }
  send(rows, mirror);
  exchange.copy_to_ghosts(rows);
  const auto back = host_copy(rows);
  std::vector<double> result;
  for (std::size_t i = owned; i < owned + others; ++i) {
    for (std::size_t j = 0; j < width; ++j) result.push_back(back(i, j));
  }
  return result;
}

/// The two bodies of a contact, -1 = immovable.
using Ends = std::array<long long, 2>;

/// What lies around a rank's bodies, layer by layer.
class Surroundings {
 public:
  /// Collective, as the next one.
  Surroundings(const ContactProblem& part, const Distribution& distribution);
  /// One layer more.
  void grow();

  const std::set<long long>& bodies() const { return bodies_; }  ///< of other ranks
  /// Contacts of other ranks that touch these, or a body of this rank, and their ends.
  const std::map<long long, Ends>& contacts() const { return contacts_; }
  /// Of a contact of this rank, by its place.
  const Ends& own_ends(std::size_t place) const { return own_ends_[place]; }

 private:
  const Ends& ends_of(long long contact) const;
  void learn(const Numbers& contacts);
  void step_over(const Numbers& contacts);

  const Distribution& distribution_;
  ContactsOfBodies known_;
  std::vector<Ends> own_ends_;
  std::map<long long, Ends> contacts_;
  std::set<long long> bodies_, hubs_, next_;
};

Surroundings::Surroundings(const ContactProblem& part, const Distribution& distribution)
    : distribution_(distribution), known_(part, distribution) {
  const Numbers& owned = distribution.owned_body;
  for (std::size_t c = 0; c < part.contacts(); ++c) {
    own_ends_.push_back({number_of(distribution, part.contact_bodies[2 * c]),
                         number_of(distribution, part.contact_bodies[2 * c + 1])});
  }
  Numbers all, left;
  for (std::size_t i = 0; i < owned.size(); ++i) {
    for (const long long contact : known_.of_owned(i)) {
      all.push_back(contact);
      if (!known_.is_hub(i)) left.push_back(contact);
    }
  }
  learn(all);
  step_over(left);
}

void Surroundings::grow() {
  const Numbers asked(next_.begin(), next_.end());
  next_.clear();
  const ContactsOfBodies::Answer answer = known_.ask(asked);
  hubs_.insert(answer.hubs.begin(), answer.hubs.end());
  std::set_difference(asked.begin(), asked.end(), answer.hubs.begin(), answer.hubs.end(),
                      std::inserter(bodies_, bodies_.end()));
  learn(answer.contacts);
  step_over(answer.contacts);
}

const Ends& Surroundings::ends_of(long long contact) const {
  const Numbers& own = distribution_.contact;
  const auto found = std::lower_bound(own.begin(), own.end(), contact);
  if (found == own.end() || *found != contact) return contacts_.at(contact);
  return own_ends_[static_cast<std::size_t>(found - own.begin())];
}

/// The ends of contacts that were not met before, from the ranks that these belong to.
void Surroundings::learn(const Numbers& contacts) {
  std::set<long long> unknown;
  for (const long long contact : contacts) {
    const Numbers& own = distribution_.contact;
    if (std::binary_search(own.begin(), own.end(), contact)) continue;
    if (contacts_.count(contact) == 0) unknown.insert(contact);
  }
  const Numbers wanted(unknown.begin(), unknown.end());
  const BodyExchange exchange(distribution_.ranks, distribution_.contact, wanted);
  std::vector<double> own;
  for (const Ends& ends : own_ends_) own.insert(own.end(), ends.begin(), ends.end());
  const std::vector<double> found = rows_of_others(exchange, own, 2);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    contacts_[wanted[k]] = {static_cast<long long>(found[2 * k]),
                            static_cast<long long>(found[2 * k + 1])};
  }
}

/// The bodies behind these contacts are the next layer.
void Surroundings::step_over(const Numbers& contacts) {
  const Numbers& owned = distribution_.owned_body;
  for (const long long contact : contacts) {
    for (const long long body : ends_of(contact)) {
      if (body < 0 || std::binary_search(owned.begin(), owned.end(), body)) continue;
      if (bodies_.count(body) == 0 && hubs_.count(body) == 0) next_.insert(body);
    }
  }
}

/// Where a body is among those of the rank and the others that follow; -1: not there.
std::int32_t place_of(const Numbers& owned, const Numbers& others, long long body) {
  const auto in = [&](const Numbers& list, std::size_t before) {
    const auto found = std::lower_bound(list.begin(), list.end(), body);
    if (found == list.end() || *found != body) return -1;
    return static_cast<std::int32_t>(before + static_cast<std::size_t>(found - list.begin()));
  };
  const std::int32_t own = in(owned, 0);
  return own >= 0 ? own : in(others, owned.size());
}

}  // namespace

OverlappedPart overlapped_part(const ContactProblem& part, const Distribution& distribution,
                               int layers) {
  Surroundings around(part, distribution);
  for (int layer = 0; layer < layers; ++layer) around.grow();
  const Numbers& owned = distribution.owned_body;
  const Numbers others(around.bodies().begin(), around.bodies().end());

  OverlappedPart result;
  ContactProblem& problem = result.problem;
  problem.name = part.name;
  Numbers contacts;
  const auto add = [&](const Ends& ends) {
    for (const long long body : ends) {
      problem.contact_bodies.push_back(place_of(owned, others, body));
    }
  };
  for (std::size_t c = 0; c < part.contacts(); ++c) add(around.own_ends(c));
  for (const auto& [contact, ends] : around.contacts()) {
    contacts.push_back(contact);
    add(ends);
  }
  problem.mu.assign(part.contacts() + contacts.size(), 0.0);

  result.bodies = std::make_shared<BodyExchange>(distribution.ranks, owned, others);
  result.contacts =
      std::make_shared<BodyExchange>(distribution.ranks, distribution.contact, contacts);
  const auto take = [](const BodyExchange& exchange, const std::vector<double>& from,
                       std::size_t width, std::vector<double>& to) {
    const auto own = static_cast<std::ptrdiff_t>(width) * exchange.owned();
    to.assign(from.begin(), from.begin() + own);
    const std::vector<double> rows = rows_of_others(exchange, to, width);
    to.insert(to.end(), rows.begin(), rows.end());
  };
  take(*result.bodies, part.inverse_mass, 1, problem.inverse_mass);
  if (problem.bodies() == 0) problem.inverse_mass.assign(1, 0.0);
  problem.gravity = part.gravity;
  if (!part.position.empty()) {
    take(*result.bodies, part.position, 3, problem.position);
    problem.position.resize(3 * problem.bodies(), 0.0);
  }
  if (!part.rotates()) return result;
  take(*result.bodies, part.inverse_inertia, 9, problem.inverse_inertia);
  problem.inverse_inertia.resize(9 * problem.bodies(), 0.0);
  take(*result.contacts, part.arm_a, 3, problem.arm_a);
  take(*result.contacts, part.arm_b, 3, problem.arm_b);
  return result;
}

}  // namespace ccp
