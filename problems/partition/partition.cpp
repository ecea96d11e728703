#include "problems/partition/partition.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "problems/model/incidence.hpp"

namespace ccp {

std::int32_t home_body(std::int32_t a, std::int32_t b, std::int64_t contacts_a,
                       std::int64_t contacts_b) {
  constexpr std::int64_t many = 4;
  if (a < 0) return b;
  if (b < 0) return a;
  return contacts_a > many * contacts_b ? b : a;
}

int contiguous_rank(std::int64_t before, std::int64_t own, std::int64_t all, int ranks) {
  if (all <= 0) return 0;
  // Where the body's middle contact lies among all of them; it never goes down from body to body.
  const std::int64_t place = (2 * before + own) * ranks / (2 * all);
  return static_cast<int>(std::min<std::int64_t>(place, ranks - 1));
}

std::vector<std::int64_t> contacts_of_bodies(const std::vector<std::int32_t>& contact_bodies,
                                             std::size_t bodies) {
  std::vector<std::int64_t> count(bodies, 0);
  for (const std::int32_t body : contact_bodies) {
    if (body >= 0) ++count[static_cast<std::size_t>(body)];
  }
  return count;
}

namespace {

/// Calls act(contact, home) for the home body of every contact.
template <class Act>
void for_each_home(const std::vector<std::int32_t>& contact_bodies,
                   const std::vector<std::int64_t>& count, const Act& act) {
  const auto count_of = [&](std::int32_t body) {
    return body < 0 ? 0 : count[static_cast<std::size_t>(body)];
  };
  for (std::size_t c = 0; c < contact_bodies.size() / 2; ++c) {
    const std::int32_t a = contact_bodies[2 * c], b = contact_bodies[2 * c + 1];
    act(c, static_cast<std::size_t>(home_body(a, b, count_of(a), count_of(b))));
  }
}

}  // namespace

Partition partition_by_bodies(const std::vector<std::int32_t>& contact_bodies,
                              std::vector<int> body_ranks, int ranks) {
  Partition partition{ranks, std::move(body_ranks), std::vector<int>(contact_bodies.size() / 2)};
  for_each_home(
      contact_bodies, contacts_of_bodies(contact_bodies, partition.body.size()),
      [&](std::size_t c, std::size_t home) { partition.contact[c] = partition.body[home]; });
  return partition;
}

Partition contiguous_partition(const std::vector<std::int32_t>& contact_bodies, std::size_t bodies,
                               int ranks) {
  std::vector<std::int64_t> at_home(bodies, 0);
  for_each_home(contact_bodies, contacts_of_bodies(contact_bodies, bodies),
                [&](std::size_t, std::size_t home) { ++at_home[home]; });
  const auto all = static_cast<std::int64_t>(contact_bodies.size() / 2);
  std::vector<int> body_ranks(bodies);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < bodies; ++i) {
    body_ranks[i] = contiguous_rank(before, at_home[i], all, ranks);
    before += at_home[i];
  }
  return partition_by_bodies(contact_bodies, std::move(body_ranks), ranks);
}

double PartitionStatistics::imbalance() const {
  std::int64_t most = 0, all = 0;
  for (const Rank& rank : ranks) {
    most = std::max(most, rank.contacts);
    all += rank.contacts;
  }
  return all == 0 ? 1
                  : static_cast<double>(most) * static_cast<double>(ranks.size()) /
                        static_cast<double>(all);
}

std::int64_t PartitionStatistics::ghosts() const {
  std::int64_t all = 0;
  for (const Rank& rank : ranks) all += rank.ghosts;
  return all;
}

namespace {

/// Of `rows` rows with as many columns.
std::int64_t bytes_of(std::int64_t rows, int columns) {
  return rows * columns * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace

std::int64_t PartitionStatistics::bytes_per_product(int columns) const {
  return 2 * bytes_of(ghosts(), columns);
}

std::int64_t PartitionStatistics::most_bytes_per_product(int columns) const {
  std::int64_t most = 0;
  for (const Rank& rank : ranks)
    most = std::max(most, bytes_of(rank.ghosts + rank.copies, columns));
  return most;
}

PartitionStatistics statistics_of(const Partition& partition,
                                  const std::vector<std::int32_t>& contact_bodies) {
  PartitionStatistics statistics;
  statistics.ranks.resize(static_cast<std::size_t>(partition.ranks));
  auto& ranks = statistics.ranks;
  for (const int rank : partition.contact) ++ranks[static_cast<std::size_t>(rank)].contacts;
  for (const int rank : partition.body) ++ranks[static_cast<std::size_t>(rank)].bodies;

  const Incidence incidence = incidence_of(contact_bodies, partition.body.size());
  std::vector<std::int64_t> met(ranks.size(), -1);  // the body that met this rank last
  std::set<std::pair<int, int>> meetings;
  for (std::size_t i = 0; i < partition.body.size(); ++i) {
    const int owner = partition.body[i];
    met[static_cast<std::size_t>(owner)] = static_cast<std::int64_t>(i);
    for (int k = incidence.offset[i]; k < incidence.offset[i + 1]; ++k) {
      const int rank = partition.contact[static_cast<std::size_t>(incidence.side[k] / 2)];
      if (std::exchange(met[static_cast<std::size_t>(rank)], i) == static_cast<std::int64_t>(i))
        continue;
      ++ranks[static_cast<std::size_t>(rank)].ghosts;
      ++ranks[static_cast<std::size_t>(owner)].copies;
      meetings.insert({std::min(rank, owner), std::max(rank, owner)});
    }
  }
  for (const auto& [one, other] : meetings) {
    ++ranks[static_cast<std::size_t>(one)].neighbours;
    ++ranks[static_cast<std::size_t>(other)].neighbours;
  }
  return statistics;
}

}  // namespace ccp
