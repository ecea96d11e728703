#pragma once

#include <memory>

#include "solvers/core/distribution.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// What ranks tell each other in a product with N: sums over the contacts of the bodies that
/// several of them have. An Export to the owners, which add, and an Import back.
class BodyExchange {
 public:
  explicit BodyExchange(const Distribution& distribution);
  ~BodyExchange();
  BodyExchange(const BodyExchange&) = delete;
  BodyExchange& operator=(const BodyExchange&) = delete;

  /// The same with work arrays of its own.
  std::shared_ptr<BodyExchange> clone() const;

  /// Every row of a body that several ranks have becomes the sum of theirs. Collective.
  /// @param rows  [bodies of this rank, and any more][columns]: owned, ghosts, others
  void sum(const DeviceArray<double**>& rows) const;

  int owned() const;   ///< bodies that belong to this rank; they come first
  int ghosts() const;  ///< bodies of other ranks that follow
  int copied() const;  ///< bodies of this rank that others have as ghosts

 private:
  struct Plan;
  struct Buffers;
  explicit BodyExchange(std::shared_ptr<const Plan> plan);
  Buffers& buffers(std::size_t columns) const;

  std::shared_ptr<const Plan> plan_;
  mutable std::unique_ptr<Buffers> buffers_;
};

}  // namespace ccp
