#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problems/geometry/shapes.hpp"

namespace ccp {

/// The proximity of two shapes of the kinds it is registered for, in that order. Exact but for
/// rounding; finite shapes only make finite numbers, see Proximity::normal for the exception.
using PairFunction = Proximity (*)(const PlacedShape& a, const PlacedShape& b);

/// Which contact points are asked for.
struct PointOptions {
  double cutoff = 0;      ///< m: those with gap <= cutoff; others may be given as well
  int face_division = 1;  ///< ContactOptions::face_division
};

/// All contact points of two shapes. @param points  empty when called; stays so when A and B are
/// apart by more than the cutoff
using PointsFunction = void (*)(const PlacedShape& a, const PlacedShape& b,
                                const PointOptions& options, ContactPoints& points);

/// A pair of kinds of shapes that can touch.
struct PairEntry {
  std::string a, b;     ///< the kinds
  std::string summary;  ///< how it is computed, in one line
  PairFunction proximity;
  PointsFunction points = nullptr;  ///< nullptr: one point, that of proximity, with feature 0
};

/// The table: one row for each pair of kinds, in one of the two orders.
const std::vector<PairEntry>& pair_entries();

/// Adds a row. @throws InputError if there is one for these kinds
void add_pair(PairEntry entry);

/// The function of the row (a, b), for loops over many pairs of the same kinds.
/// @throws InputError if there is none, in this order
PairFunction find_pair(std::string_view a, std::string_view b);

/// The row for two kinds, in any order; nullptr if there is none.
/// @param swapped  whether it is the row (b, a)
const PairEntry* find_entry(std::string_view a, std::string_view b, bool& swapped);

/// The proximity of two shapes; rows serve both orders. @throws InputError for kinds that cannot
/// touch
Proximity proximity(const PlacedShape& a, const PlacedShape& b);

/// The contact points of two shapes, all with a finite normal, ordered by feature, those beyond the
/// cutoff left out. Rows serve both orders.
/// @throws InputError for kinds that cannot touch
void contact_points(const PlacedShape& a, const PlacedShape& b, const PointOptions& options,
                    ContactPoints& points);
/// The same by a row of the table. @param swapped  whether the row is (b, a)
void contact_points(const PairEntry& row, bool swapped, const PlacedShape& a, const PlacedShape& b,
                    const PointOptions& options, ContactPoints& points);

}  // namespace ccp
