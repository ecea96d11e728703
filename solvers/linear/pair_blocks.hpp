#pragma once

#include "problems/base/vec3.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// A 3x3 block beside the diagonal, row-major.
struct CrossBlock {
  double a[9];

  KOKKOS_INLINE_FUNCTION Vec3 operator*(const Vec3& v) const {
    return {a[0] * v.x + a[1] * v.y + a[2] * v.z, a[3] * v.x + a[4] * v.y + a[5] * v.z,
            a[6] * v.x + a[7] * v.y + a[8] * v.z};
  }
  /// The transposed block times v.
  KOKKOS_INLINE_FUNCTION Vec3 transposed(const Vec3& v) const {
    return {a[0] * v.x + a[3] * v.y + a[6] * v.z, a[1] * v.x + a[4] * v.y + a[7] * v.z,
            a[2] * v.x + a[5] * v.y + a[8] * v.z};
  }
};

/// Rows of 3x3 blocks that belong together, two by two, each in one pair at most: their block
/// beside the diagonal changes with the diagonal ones. A contact and its rolling triple are such.
struct PairBlocks {
  DeviceArray<const int*> first, second;  ///< [pairs] rows
  DeviceArray<const CrossBlock*> block;   ///< [pairs] in row `first`, column `second`
  int size() const { return static_cast<int>(block.extent(0)); }
};

}  // namespace ccp
