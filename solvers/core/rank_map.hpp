#pragma once

#include <vector>

#include "solvers/core/ranks.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// The map of vectors with `width` entries for each of these numbers, in their order: entry k of
/// number i is width i + k. Collective.
inline Teuchos::RCP<const Map> map_of(const Ranks& ranks, const std::vector<long long>& numbers,
                                      int width = 1) {
  using Number = Map::global_ordinal_type;
  std::vector<Number> entries;
  entries.reserve(static_cast<std::size_t>(width) * numbers.size());
  for (const long long number : numbers) {
    for (int k = 0; k < width; ++k) entries.push_back(static_cast<Number>(width * number + k));
  }
  const auto unknown = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  return Teuchos::rcp(
      new Map(unknown, Teuchos::ArrayView<const Number>(entries), 0, ranks.communicator()));
}

}  // namespace ccp
