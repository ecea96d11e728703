#include "problems/model/frame.hpp"

#include <cmath>

namespace ccp {

void complete_frame(double* f) {
  // Cross the normal with the axis it is least aligned with, so that nothing cancels.
  int axis = 0;
  for (int k = 1; k < 3; ++k) {
    if (std::abs(f[k]) < std::abs(f[axis])) axis = k;
  }
  const int j = (axis + 1) % 3, k = (axis + 2) % 3;
  const double length = std::sqrt(f[j] * f[j] + f[k] * f[k]);
  f[3 + axis] = 0;
  f[3 + j] = f[k] / length;
  f[3 + k] = -f[j] / length;
  f[6] = f[1] * f[5] - f[2] * f[4];
  f[7] = f[2] * f[3] - f[0] * f[5];
  f[8] = f[0] * f[4] - f[1] * f[3];
}

}  // namespace ccp
