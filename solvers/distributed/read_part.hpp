#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "problems/base/enum_text.hpp"
#include "problems/model/contact_problem.hpp"
#include "solvers/core/distribution.hpp"

namespace ccp {

/// Who gets what of a problem.
enum class PartitionKind {
  contiguous,  ///< contiguous_partition(): ranges of bodies, contacts follow them
  by_number,   ///< ranges of contacts and ranges of bodies, as long as each other
};
template <>
struct EnumTable<PartitionKind> {
  static constexpr EnumText<PartitionKind> rows[] = {{PartitionKind::contiguous, "contiguous"},
                                                     {PartitionKind::by_number, "by_number"}};
};

/// A problem file as one rank sees it.
struct ProblemPart {
  /// Its contacts in the order of the file, its bodies, then ghosts. Where it has neither, one
  /// immovable body: whether bodies rotate is known by the arrays. What solvers do not look at
  /// (gaps, say) is left out.
  ContactProblem problem;
  Distribution distribution;
  std::string hash;  ///< content_sha256, as the file has it; nobody holds what could be hashed anew
};

/// Reads a problem in bodies form, contacts alone, with all ranks together (collective). Each reads
/// its range of rows of every array, and rows go to the ranks that have the contacts and bodies:
/// nobody holds the whole problem. One rank gets the arrays of read_problem.
/// @throws InputError on all ranks, with the fault that the first of them found, also where ranks
///         see different files, or there are fewer contacts than ranks
ProblemPart read_part(const std::string& path, const Ranks& ranks,
                      PartitionKind kind = PartitionKind::contiguous);

/// Who touches whom in a problem.
struct ContactPairs {
  std::size_t bodies = 0;
  bool rotates = false;
  std::vector<std::int32_t> bodies_of_contacts;  ///< [n][2], -1 = immovable
};
/// Reads nothing else of a problem in bodies form, contacts alone. @throws InputError
ContactPairs read_contact_pairs(const std::string& path);

/// The same refusals as read_part, by one process, from sizes and attributes alone. @throws
/// InputError
void check_for_ranks(const std::string& path, int ranks);

}  // namespace ccp
