#pragma once

namespace ccp {

/// Tangent directions for a unit normal, written to frame[3..8] (frame[0..2] is the normal):
/// a right-handed orthonormal frame n, t1, t2. Frozen problems have these; for tangents inside a
/// kernel there is `tangents` in solvers/core/cone.hpp.
void complete_frame(double* frame);

}  // namespace ccp
