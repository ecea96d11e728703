#pragma once

#include <cstdint>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// Which rank has what of a problem in bodies form: every body and every contact belongs to one. A
/// contact belongs to the rank of one of its bodies; what else a rank needs are ghosts, bodies of
/// other ranks that its contacts touch.
///
/// The rules are functions of what a rank knows of its own rows, so that ranks that read a part
/// each come to the partition that one process finds which reads all.
struct Partition {
  int ranks = 1;
  std::vector<int> body;     ///< [m] rank of each body
  std::vector<int> contact;  ///< [n] rank of each contact
};

/// The body whose rank has the contact of bodies a and b (-1: immovable, at most one of them): A,
/// unless A has more than four times as many contacts as B, like a container or a floor, whose
/// contacts shall not be all on one rank.
/// @param contacts_a, contacts_b  how many contacts the bodies have; unused for -1
std::int32_t home_body(std::int32_t a, std::int32_t b, std::int64_t contacts_a,
                       std::int64_t contacts_b);

/// The rank of a body where ranks have ranges of bodies with about as many contacts each.
/// @param before  contacts at home with the bodies before it  @param own  with this body
/// @param all     with all bodies; where there are none, bodies count
int contiguous_rank(std::int64_t before, std::int64_t own, std::int64_t all, int ranks);

/// Ranges of rows, as long as each other: those from first_row(k) to first_row(k + 1) are rank k's.
inline std::int64_t first_row(int rank, int ranks, std::int64_t rows) {
  return rows / ranks * rank + rows % ranks * rank / ranks;
}

/// Contacts of every body, [m].
std::vector<std::int64_t> contacts_of_bodies(const std::vector<std::int32_t>& contact_bodies,
                                             std::size_t bodies);

/// Ranges of bodies in the order of the file, which is sorted in space, as a rule.
/// @param contact_bodies  [n][2], -1 = immovable  @param ranks  >= 1
Partition contiguous_partition(const std::vector<std::int32_t>& contact_bodies, std::size_t bodies,
                               int ranks);

/// Contacts follow the bodies' ranks.
Partition partition_by_bodies(const std::vector<std::int32_t>& contact_bodies,
                              std::vector<int> body_ranks, int ranks);

/// What a partition asks of its ranks.
struct PartitionStatistics {
  struct Rank {
    std::int64_t contacts = 0, bodies = 0;
    std::int64_t ghosts = 0;      ///< bodies of other ranks
    std::int64_t copies = 0;      ///< ghosts of other ranks that are bodies of this one
    std::int64_t neighbours = 0;  ///< ranks with which it exchanges
  };
  std::vector<Rank> ranks;

  /// The most contacts of a rank over the mean; 1 where there are none.
  double imbalance() const;
  std::int64_t ghosts() const;  ///< of all ranks together
  /// Bytes that all ranks together send in a product with N, and those of the rank that sends most:
  /// a row of a ghost's sums to its owner, and one back. @param columns  3, or 6 if bodies rotate
  std::int64_t bytes_per_product(int columns) const;
  std::int64_t most_bytes_per_product(int columns) const;
};

/// Time and memory: linear in contacts, bodies and pairs of ranks that meet.
PartitionStatistics statistics_of(const Partition& partition,
                                  const std::vector<std::int32_t>& contact_bodies);

}  // namespace ccp
