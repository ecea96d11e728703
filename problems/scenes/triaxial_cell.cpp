#include "problems/scenes/triaxial_cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/pi.hpp"
#include "problems/scenes/loose_fill.hpp"
#include "problems/scenes/wang_spheres.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;
constexpr double roomy = 1.4, jitter = 0.18;  // of the start, see LooseFill

//        | sigma A           bodies: the spheres, then the walls at -x, x, -y, y, -z, z
//     +--v--+
//  -->|ooooo|<--             from `press` on those across z come closer at 2 `speed`
//     +--^--+
class TriaxialCell : public Scene {
 public:
  TriaxialCell() { model_.hertz.young = 6e7; }

  OptionList options() override {
    OptionList list("triaxial-cell", "scene");
    list.integer("spheres", spheres_, Range::at_least(8), "Number of spheres")
        .number("pressure", pressure_, Range::positive(), "On the walls, Pa")
        .number("press", press_, Range::positive(), "Time before the cell is strained, s")
        .number("speed", speed_, Range::at_least(0), "Of each wall across z from then on, m/s")
        .number("strain", strain_, {0, 0.9}, "Of the height, at which the simulation ends")
        .number("limit", limit_, Range::positive(), "Speed that no pressure exceeds, m/s")
        .number("wall", wall_, Range::positive(), "Mass of a wall, kg");
    return add_wang_spheres(add_wang_sizes(list, sizes_), model_)
        .integer("seed", seed_, Range::at_least(0), "Of the spheres' first places");
  }

  SceneSetup setup() override {
    options().check();
    check_size("triaxial-cell", "spheres", static_cast<double>(spheres_));
    SceneSetup setup;
    setup.model = model_;
    setup.model.gravity = {};
    const double side = fill(setup.bodies);
    enclose(setup.bodies, side / 2);
    setup.model.load = [*this](const Bodies& now, std::vector<double>& load) { push(now, load); };
    setup.stepper = "spook";
    // The height when it is strained is not known yet: at most that of the start.
    setup.until = press_ + (speed_ > 0 ? strain_ * side / (2 * speed_) : 1);
    setup.fastest = 10;
    setup.values = [this](const Bodies& end) { return values(end); };
    return setup;
  }

 private:
  /// A cube, each of both sizes with the same chance: in turn, rows along x would be shorter.
  /// Returns its side, m.
  double fill(Bodies& bodies) const {
    const double largest = sizes_.largest() / 2;
    const double cells = std::ceil(std::cbrt(static_cast<double>(spheres_)) - 1e-9);
    const double half = (cells + 1e-6) * roomy * largest;
    LooseFill loose;
    loose.box = {{-half, -half, -half}, {half, half, half}};
    loose.count = spheres_;
    loose.largest = largest;
    loose.density = sizes_.density;
    loose.pitch = roomy;
    loose.jitter = jitter;
    loose.radius = [this](std::size_t, Random& random) {
      return (random.uniform(-1, 1) < 0 ? sizes_.large : sizes_.small) / 2;
    };
    Random random(seed_);
    drop_loosely("triaxial-cell", loose, random, bodies);
    return 2 * half;
  }

  /// Walls whose normals, along which they slide, point inwards.
  void enclose(Bodies& bodies, double half) const {
    for (int axis = 0; axis < 3; ++axis) {
      for (const double side : {-1.0, 1.0}) {
        const Vec3 inwards{axis == 0 ? -side : 0, axis == 1 ? -side : 0, axis == 2 ? -side : 0};
        const std::size_t wall = bodies.add_wall({"plane", {}}, wall_, inwards);
        const Vec3 turn = axis == 0   ? Vec3{0, -side * pi / 2, 0}
                          : axis == 1 ? Vec3{side * pi / 2, 0, 0}
                                      : Vec3{side > 0 ? pi : 0, 0, 0};
        bodies.turn(wall, rotation(turn));
        bodies.position[3 * wall + static_cast<std::size_t>(axis)] = side * half;
        bodies.mu[wall] = 0;
      }
    }
  }

  std::size_t wall(int axis, int side) const {
    return spheres_ + static_cast<std::size_t>(2 * axis + side);
  }
  /// Distance of the two walls across an axis, m.
  double extent(const Bodies& now, int axis) const {
    const auto k = static_cast<std::size_t>(axis);
    return now.position[3 * wall(axis, 1) + k] - now.position[3 * wall(axis, 0) + k];
  }

  /// What the walls are pushed with, inwards. Those that strain get what brings them to their speed
  /// before contacts act.
  void push(const Bodies& now, std::vector<double>& load) const {
    const bool strains = speed_ > 0 && now.time >= press_ - 0.5 * model_.dt;
    for (int axis = 0; axis < 3; ++axis) {
      const double area = extent(now, (axis + 1) % 3) * extent(now, (axis + 2) % 3);
      for (int side = 0; side < 2; ++side) {
        const std::size_t i = wall(axis, side);
        const auto k = static_cast<std::size_t>(axis);
        const double sign = now.axis[3 * i + k], inwards = sign * now.velocity[3 * i + k];
        const double reach = wall_ / model_.dt;  // N for a change of 1 m/s in a step
        const double force = strains && axis == 2
                                 ? reach * (speed_ - inwards)
                                 : std::min(pressure_ * area, reach * (limit_ - inwards));
        load[6 * i + k] = sign * force;
      }
    }
  }

  SceneValues values(const Bodies& end) const {
    double solid = 0;
    for (std::size_t i = 0; i < spheres_; ++i) {
      solid += 4 * pi / 3 * std::pow(end.shape[i].size[0], 3);
    }
    const double x = extent(end, 0), y = extent(end, 1), z = extent(end, 2);
    return {{"width_x", x}, {"width_y", y}, {"height", z}, {"packing", solid / (x * y * z)}};
  }

  StepModel model_ = wang_spheres();
  std::uint64_t spheres_ = 512, seed_ = 1;
  double pressure_ = 100, press_ = 2.5, speed_ = 0.01, strain_ = 0.25, limit_ = 0.05, wall_ = 10;
  WangSizes sizes_;
};

}  // namespace

std::unique_ptr<Scene> triaxial_cell_scene() {
  return std::make_unique<TriaxialCell>();
}

}  // namespace ccp
