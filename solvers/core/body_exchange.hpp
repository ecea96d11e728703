#pragma once

#include <memory>
#include <vector>

#include "solvers/core/distribution.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// What ranks tell each other of bodies (or of other rows) that several of them have. In a product
/// with N: sums over the contacts of these bodies. An Export to the owners, which add, and an
/// Import back.
class BodyExchange {
 public:
  explicit BodyExchange(const Distribution& distribution);
  /// Of any rows. @param owned   numbers of this rank's rows in the order of its arrays; each row
  ///                             belongs to one rank
  ///              @param ghosts  of rows of other ranks, which follow
  BodyExchange(const Ranks& ranks, const std::vector<long long>& owned,
               const std::vector<long long>& ghosts);
  ~BodyExchange();
  BodyExchange(const BodyExchange&) = delete;
  BodyExchange& operator=(const BodyExchange&) = delete;

  /// The same with work arrays of its own.
  std::shared_ptr<BodyExchange> clone() const;

  /// Every row of a body that several ranks have becomes the sum of theirs. Collective.
  /// @param rows  [bodies of this rank, and any more][columns]: owned, ghosts, others
  void sum(const DeviceArray<double**>& rows) const;
  /// The two halves of it: rows of ghosts are added to those of their owners, and owners' rows
  /// become those of the ghosts.
  void add_to_owners(const DeviceArray<double**>& rows) const;
  void copy_to_ghosts(const DeviceArray<double**>& rows) const;

  /// What it was made of; null where that was numbers of rows.
  const Distribution* distribution() const;

  int owned() const;   ///< bodies that belong to this rank; they come first
  int ghosts() const;  ///< bodies of other ranks that follow
  int copied() const;  ///< bodies of this rank that others have as ghosts

 private:
  struct Plan;
  struct Buffers;
  explicit BodyExchange(std::shared_ptr<const Plan> plan);
  static std::shared_ptr<Plan> make_plan(const Ranks& ranks, const std::vector<long long>& owned,
                                         const std::vector<long long>& ghosts);
  Buffers& buffers(std::size_t columns) const;

  std::shared_ptr<const Plan> plan_;
  mutable std::unique_ptr<Buffers> buffers_;
};

}  // namespace ccp
