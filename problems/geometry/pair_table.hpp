#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problems/geometry/shapes.hpp"

namespace ccp {

/// The proximity of two shapes of the kinds it is registered for, in that order. Exact but for
/// rounding; finite shapes only make finite numbers, see Proximity::normal for the exception.
using PairFunction = Proximity (*)(const PlacedShape& a, const PlacedShape& b);

/// A pair of kinds of shapes that can touch.
struct PairEntry {
  std::string a, b;     ///< the kinds
  std::string summary;  ///< how it is computed, in one line
  PairFunction proximity;
};

/// The table: one row for each pair of kinds, in one of the two orders.
const std::vector<PairEntry>& pair_entries();

/// Adds a row. @throws InputError if there is one for these kinds
void add_pair(PairEntry entry);

/// The function of the row (a, b), for loops over many pairs of the same kinds.
/// @throws InputError if there is none, in this order
PairFunction find_pair(std::string_view a, std::string_view b);

/// The proximity of two shapes; rows serve both orders. @throws InputError for kinds that cannot
/// touch
Proximity proximity(const PlacedShape& a, const PlacedShape& b);

}  // namespace ccp
