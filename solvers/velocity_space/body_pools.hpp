#pragma once

#include <vector>

#include "problems/base/sym3.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/linear/pair_blocks.hpp"

namespace ccp {

/// What the triples beside the contacts (ConstraintPools) add to the body side of problems whose
/// bodies have six unknowns: their rows of E and their part of S = 1 + E^T K E. The kernels follow
/// those of the contacts, as in DelassusOperator.
///
/// Velocities of these triples are multiplied by Problem::pool_length() here, impulses divided by
/// it, so that all triples have the units of contacts.
class BodyPools {
 public:
  /// Where things lie in the system.
  struct Places {
    std::vector<int> body;                ///< [m] position of every body
    std::vector<int> contact;             ///< [n] place of every contact
    std::vector<int> row_offset, column;  ///< blocks below the diagonal, by rows
    std::vector<int> column_offset;       ///< [m + 1] where columns begin in `place`
    std::vector<int> place;               ///< [blocks] of a block by rows: among those by columns
    std::vector<char> has_contacts;       ///< [blocks]
  };

  BodyPools() = default;
  /// @param map  of the contacts, with L L^T = M^-1, in the order of the system
  BodyPools(const Problem& problem, const ConstraintMap& map, const Places& places);

  bool empty() const { return size_ == 0; }
  /// The farthest that a rotation of each body counts at, raised to what it is here, [m] m.
  void raise_reach(const Problem& problem, const std::vector<int>& position,
                   std::vector<double>& reach) const;
  /// d of these triples, after the contacts.
  void velocities(const ConstVectorView& z, const VectorView& d) const;
  /// f += E^T p.
  void add_load(const ConstVectorView& p, const VectorView& f) const;
  /// Adds to the diagonal blocks, and to those beside it on both sides; those without any contact
  /// are set.
  /// @param k      [triples] kg, @param cross  [rolling] of the contact's triple by the rolling one
  void assemble(const DeviceArray<Sym3*>& k, const DeviceArray<CrossBlock*>& cross,
                double* diagonal, double* off_diagonal) const;

  // Public only because device lambdas may not live in private members, nor hold what is private.
  void make_rows(const Problem& problem, const ConstraintMap& map);
  /// A block beside the diagonal that has such triples.
  struct Block {
    int row, column;  ///< positions of the bodies
    int left, right;  ///< which blocks among those stored
    int first, past;  ///< in block_triple_
    int fresh;        ///< no contact has a part in it
  };

 private:
  void list_blocks(const Places& places, const std::vector<int>& ends);

  int first_ = 0, size_ = 0, rolling_ = 0;
  FreeTwist free_twist_;
  int bodies_ = 0;
  DeviceArray<const int* [2]> body_;            ///< [size] positions; m is the immovable body
  DeviceArray<const int*> contact_;             ///< [rolling] places of their contacts
  DeviceArray<const int*> offset_, incidence_;  ///< of every body: 2 j + side
  DeviceArray<double* [2][18]> row_;            ///< [size] of E, row-major 3 x 6
  DeviceArray<double* [2][18]> contact_row_;    ///< [rolling] the same of their contacts
  DeviceArray<const Block*> block_;
  DeviceArray<const int*> block_triple_;
};

}  // namespace ccp
