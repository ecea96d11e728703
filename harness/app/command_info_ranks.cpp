// What `info --ranks` says: how a problem would be spread over ranks.
#include <fmt/format.h>

#include <algorithm>

#include "harness/app/info.hpp"
#include "harness/app/json.hpp"
#include "harness/app/terminal.hpp"
#include "problems/base/error.hpp"
#include "problems/partition/partition.hpp"
#include "solvers/distributed/read_part.hpp"

namespace ccp::app {
namespace {

/// The range of one count over the ranks.
struct Span {
  std::int64_t least = 0, most = 0;
};

template <class Count>
Span span_of(const PartitionStatistics& statistics, const Count& count) {
  Span span{count(statistics.ranks.front()), count(statistics.ranks.front())};
  for (const PartitionStatistics::Rank& rank : statistics.ranks) {
    span.least = std::min(span.least, count(rank));
    span.most = std::max(span.most, count(rank));
  }
  return span;
}

}  // namespace

void describe_ranks(const std::string& path, const std::vector<int>& ranks, bool json) {
  using Rank = PartitionStatistics::Rank;
  for (const int count : ranks) {
    if (count < 1) {
      throw InputError("--ranks", "", "whole numbers >= 1", fmt::format("{}", count));
    }
    check_for_ranks(path, count);
  }
  const ContactPairs pairs = read_contact_pairs(path);
  const int columns = pairs.rotates ? 6 : 3;
  nlohmann::ordered_json out;
  out["file"] = path;
  out["kind"] = "partition";
  out["partition"] = to_string(PartitionKind::contiguous);
  out["contacts"] = pairs.bodies_of_contacts.size() / 2;
  out["bodies"] = pairs.bodies;
  out["ranks"] = nlohmann::ordered_json::array();
  if (!json) {
    fmt::print("{}, {}, ranges of bodies with as many contacts each\n\n",
               counted(pairs.bodies_of_contacts.size() / 2, "contact"),
               counted(pairs.bodies, "body"));
    fmt::print("{:>6} {:>10} {:>10} {:>10} {:>10} {:>8} {:>12} {:>12}\n", "ranks", "imbalance",
               "contacts", "ghosts", "most", "meets", "bytes", "most");
  }
  for (const int count : ranks) {
    const PartitionStatistics statistics =
        statistics_of(contiguous_partition(pairs.bodies_of_contacts, pairs.bodies, count),
                      pairs.bodies_of_contacts);
    const Span contacts = span_of(statistics, [](const Rank& rank) { return rank.contacts; });
    const Span bodies = span_of(statistics, [](const Rank& rank) { return rank.bodies; });
    const Span ghosts = span_of(statistics, [](const Rank& rank) { return rank.ghosts; });
    const Span meets = span_of(statistics, [](const Rank& rank) { return rank.neighbours; });
    out["ranks"].push_back(
        {{"ranks", count},
         {"imbalance", statistics.imbalance()},
         {"contacts_least", contacts.least},
         {"contacts_most", contacts.most},
         {"bodies_least", bodies.least},
         {"bodies_most", bodies.most},
         {"ghosts", statistics.ghosts()},
         {"ghosts_most", ghosts.most},
         {"neighbours_most", meets.most},
         {"bytes_per_product", statistics.bytes_per_product(columns)},
         {"bytes_per_product_most", statistics.most_bytes_per_product(columns)}});
    if (json) continue;
    fmt::print("{:>6} {:>10.4f} {:>10} {:>10} {:>10} {:>8} {:>12} {:>12}\n", count,
               statistics.imbalance(), grouped(contacts.most), grouped(statistics.ghosts()),
               grouped(ghosts.most), meets.most, grouped(statistics.bytes_per_product(columns)),
               grouped(statistics.most_bytes_per_product(columns)));
  }
  if (json) return print_json(out);
  fmt::print(
      "\nimbalance: the most contacts of a rank (which follow) over the mean. ghosts: bodies of\n"
      "other ranks that a rank's contacts touch, all together, and on the rank with most. meets:\n"
      "ranks that one exchanges with, at most. bytes: sent in a product with N, by all ranks, and\n"
      "by the one that sends most.\n");
}

}  // namespace ccp::app
