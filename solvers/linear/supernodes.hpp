#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ccp {

/// A supernodal L: columns with the same rows below them are kept as one dense block, column by
/// column, rows in ascending order from the first column's diagonal on. Arrays of others.
struct Supernodes {
  std::size_t count = 0;
  const std::int64_t* column = nullptr;  ///< the first of each supernode, [count + 1]
  const std::int64_t* row = nullptr;     ///< where its rows begin in `rows`, [count + 1]
  const std::int64_t* entry = nullptr;   ///< where its block begins, [count]
  const std::int64_t* rows = nullptr;
};

/// x = (L L^T)^-1 x with entries in single precision, everything else in double: L is the matrix
/// that its entries say it is, and the product with its inverse symmetric to rounding. Reads L
/// twice, on one thread.
/// @param work  room for the rows of one supernode; grows to what is needed
void solve_by_supernodes(const Supernodes& nodes, const float* entries, double* x,
                         std::vector<double>& work);

}  // namespace ccp
