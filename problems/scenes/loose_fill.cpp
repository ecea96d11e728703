#include "problems/scenes/loose_fill.hpp"

#include <fmt/format.h>

#include <array>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"

namespace ccp {
namespace {

struct Axis {
  int cells;
  double first, step;  ///< m
};

/// Cells of equal width, at least `width`, that fill a length.
Axis divide(double low, double high, double width) {
  const int cells = static_cast<int>((high - low) / width);
  const double step = (high - low) / cells;
  return {cells, low + 0.5 * step, step};
}

}  // namespace

void drop_loosely(const std::string& scene, const LooseFill& fill, Random& random, Bodies& bodies) {
  const double diameter = 2 * fill.largest, width = fill.pitch * diameter;
  const double free = fill.jitter * diameter;
  const std::array<Axis, 3> axes = {divide(fill.box.low.x, fill.box.high.x, width),
                                    divide(fill.box.low.y, fill.box.high.y, width),
                                    divide(fill.box.low.z, fill.box.high.z, width)};
  std::size_t placed = 0;
  for (int k = 0; k < axes[2].cells; ++k) {
    for (int j = 0; j < axes[1].cells; ++j) {
      for (int i = 0; i < axes[0].cells && placed < fill.count; ++i) {
        const Vec3 centre{axes[0].first + i * axes[0].step, axes[1].first + j * axes[1].step,
                          axes[2].first + k * axes[2].step};
        if (fill.inside && !fill.inside(centre)) continue;
        const double radius = fill.radius(placed++, random);
        const double mass = fill.density * 4 / 3 * pi * radius * radius * radius;
        const double inertia = 0.4 * mass * radius * radius;
        const std::size_t b =
            bodies.add({"sphere", {radius}}, fill.kind, mass, {inertia, inertia, inertia});
        bodies.position[3 * b] = centre.x + random.uniform(-free, free);
        bodies.position[3 * b + 1] = centre.y + random.uniform(-free, free);
        bodies.position[3 * b + 2] = centre.z + random.uniform(-free, free);
      }
    }
  }
  if (placed < fill.count) {
    throw InputError("scene " + scene, "option spheres",
                     fmt::format("at most {}, which are all that fit loosely at the start", placed),
                     fmt::format("{}", fill.count));
  }
}

}  // namespace ccp
