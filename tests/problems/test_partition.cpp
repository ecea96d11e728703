// Who gets what of a problem on several ranks, against counting everything for every rank.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "problems/partition/partition.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// The statistics of one rank from their definition, in time ranks x contacts.
PartitionStatistics::Rank counted_for(int rank, const Partition& partition,
                                      const std::vector<std::int32_t>& pairs) {
  PartitionStatistics::Rank result;
  std::set<std::int32_t> ghosts;
  std::set<std::pair<std::int32_t, int>> copies;
  std::set<int> neighbours;
  for (std::size_t c = 0; c < pairs.size() / 2; ++c) {
    result.contacts += partition.contact[c] == rank;
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = pairs[2 * c + side];
      if (body < 0 || partition.contact[c] == partition.body[body]) continue;
      if (partition.contact[c] == rank) {
        ghosts.insert(body);
        neighbours.insert(partition.body[body]);
      } else if (partition.body[body] == rank) {
        copies.insert({body, partition.contact[c]});
        neighbours.insert(partition.contact[c]);
      }
    }
  }
  result.bodies = std::count(partition.body.begin(), partition.body.end(), rank);
  result.ghosts = static_cast<std::int64_t>(ghosts.size());
  result.copies = static_cast<std::int64_t>(copies.size());
  result.neighbours = static_cast<std::int64_t>(neighbours.size());
  return result;
}

void check_statistics(const Partition& partition, const std::vector<std::int32_t>& pairs) {
  const PartitionStatistics statistics = statistics_of(partition, pairs);
  REQUIRE(statistics.ranks.size() == static_cast<std::size_t>(partition.ranks));
  std::int64_t contacts = 0, most = 0, rows = 0, most_rows = 0;
  for (int rank = 0; rank < partition.ranks; ++rank) {
    INFO("rank " << rank << " of " << partition.ranks);
    const auto expected = counted_for(rank, partition, pairs);
    const auto& found = statistics.ranks[rank];
    CHECK(found.contacts == expected.contacts);
    CHECK(found.bodies == expected.bodies);
    CHECK(found.ghosts == expected.ghosts);
    CHECK(found.copies == expected.copies);
    CHECK(found.neighbours == expected.neighbours);
    contacts += expected.contacts;
    most = std::max(most, expected.contacts);
    rows += expected.ghosts + expected.copies;
    most_rows = std::max(most_rows, expected.ghosts + expected.copies);
  }
  CHECK(contacts == static_cast<std::int64_t>(pairs.size() / 2));
  CHECK(statistics.imbalance() ==
        Approx(static_cast<double>(most) * partition.ranks / static_cast<double>(contacts)));
  CHECK(statistics.bytes_per_product(6) == 48 * rows);
  CHECK(statistics.most_bytes_per_product(3) == 24 * most_rows);
}

}  // namespace

TEST_CASE("statistics of partitions are those of counting contact by contact") {
  const ContactProblem pile = random_pile(300, 900, 3);
  for (const int ranks : {1, 2, 3, 7, 64, 1000}) {
    const Partition partition = contiguous_partition(pile.contact_bodies, pile.bodies(), ranks);
    check_statistics(partition, pile.contact_bodies);
    CHECK(std::is_sorted(partition.body.begin(), partition.body.end()));
  }
  // Any other partition of the bodies as well, ranks without bodies included.
  std::vector<int> scattered(pile.bodies());
  for (std::size_t i = 0; i < scattered.size(); ++i) scattered[i] = static_cast<int>(i * 7 % 5);
  check_statistics(partition_by_bodies(pile.contact_bodies, scattered, 6), pile.contact_bodies);
}

TEST_CASE("ranges of bodies have as many contacts each, to within those of a body") {
  const ContactProblem pile = random_pile(400, 1200, 5);
  const auto count = contacts_of_bodies(pile.contact_bodies, pile.bodies());
  const std::int64_t most_of_a_body = *std::max_element(count.begin(), count.end());
  for (const int ranks : {2, 3, 8}) {
    const auto statistics = statistics_of(
        contiguous_partition(pile.contact_bodies, pile.bodies(), ranks), pile.contact_bodies);
    for (const auto& rank : statistics.ranks) {
      CHECK(std::abs(rank.contacts - 1200 / ranks) <= most_of_a_body);
    }
  }
}

// Four spheres in a row between immovable walls:   wall |(0)(1)(2)(3)| wall
// Contacts at home with 0, 0, 1, 2, 3. That of sphere 1 is the third of five, in the middle:
// rank 1.
TEST_CASE("a row of four spheres on two ranks has one ghost") {
  const std::vector<std::int32_t> pairs = {-1, 0, 0, 1, 1, 2, 2, 3, 3, -1};
  const Partition partition = contiguous_partition(pairs, 4, 2);
  CHECK(partition.body == std::vector<int>{0, 1, 1, 1});
  CHECK(partition.contact == std::vector<int>{0, 0, 1, 1, 1});
  const auto statistics = statistics_of(partition, pairs);
  CHECK(statistics.ghosts() == 1);
  CHECK(statistics.ranks[0].ghosts == 1);
  CHECK(statistics.ranks[1].copies == 1);
  CHECK(statistics.bytes_per_product(3) == 48);
}

TEST_CASE("contacts of a floor with everything are not all on the floor's rank") {
  std::vector<std::int32_t> pairs;
  for (std::int32_t i = 1; i <= 40; ++i) pairs.insert(pairs.end(), {0, i});
  const auto statistics = statistics_of(contiguous_partition(pairs, 41, 4), pairs);
  CHECK(statistics.imbalance() < 1.11);
  CHECK(home_body(0, 1, 4, 1) == 0);
  CHECK(home_body(0, 1, 5, 1) == 1);
  CHECK(home_body(-1, 1, 0, 1) == 1);
  CHECK(home_body(1, -1, 9, 0) == 1);
}

TEST_CASE("ranges of rows are as long as each other and leave nothing out") {
  for (const std::int64_t rows : {0, 1, 5, 7, 1000003}) {
    for (const int ranks : {1, 2, 3, 8}) {
      CHECK(first_row(0, ranks, rows) == 0);
      CHECK(first_row(ranks, ranks, rows) == rows);
      for (int rank = 0; rank < ranks; ++rank) {
        const std::int64_t length = first_row(rank + 1, ranks, rows) - first_row(rank, ranks, rows);
        CHECK(length >= rows / ranks);
        CHECK(length <= rows / ranks + 1);
      }
    }
  }
}

TEST_CASE("without contacts everything is on the first rank") {
  const Partition partition = contiguous_partition({}, 3, 2);
  CHECK(partition.body == std::vector<int>{0, 0, 0});
  CHECK(statistics_of(partition, {}).imbalance() == 1);
}
