#pragma once

#include "problems/base/vec3.hpp"

namespace ccp {

/// A symmetric 3x3 matrix.
struct Sym3 {
  double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
};

CCP_FUNCTION Vec3 operator*(const Sym3& a, const Vec3& v) {
  return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
          a.xz * v.x + a.yz * v.y + a.zz * v.z};
}

}  // namespace ccp
