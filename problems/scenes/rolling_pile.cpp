#include "problems/scenes/rolling_pile.hpp"

#include <algorithm>
#include <cmath>

#include "problems/base/pi.hpp"
#include "problems/scenes/random.hpp"
#include "problems/scenes/wang_spheres.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;

class RollingPile : public Scene {
 public:
  OptionList options() override {
    OptionList list("rolling-pile", "scene");
    list.integer("spheres", spheres_, {1, 100000}, "Number of spheres")
        .number("diameter", diameter_, Range::positive(), "Of a sphere, m")
        .number("spread", spread_, {0, 1, false, true}, "Diameters differ by at most that part")
        .number("density", density_, Range::positive(), "kg/m^3")
        .number("slenderness", slenderness_, Range::positive(),
                "Height of the tower over its width");
    return add_wang_spheres(list, model_)
        .integer("seed", seed_, {0, 1e9}, "Of diameters and places");
  }

  SceneSetup setup() override {
    options().check();
    check_size("rolling-pile", "spheres", spheres_);
    SceneSetup setup;
    setup.model = model_;
    setup.model.gravity = {0, 0, -9.81};
    setup.bodies = tower();
    setup.bodies.obstacles.push_back({{"plane", {}}, {}, {}, {}});
    setup.stepper = "spook";
    setup.until = 5;
    setup.fastest = 100;
    setup.values = values;
    return setup;
  }

 private:
  /// A grid, each sphere somewhere in its cell.
  Bodies tower() const {
    Random random(seed_);
    const auto uniform = [&] { return random.uniform(-1, 1); };
    const int width =
        std::max(1, static_cast<int>(std::lround(std::cbrt(spheres_ / slenderness_))));
    const double largest = diameter_ * (1 + spread_), pitch = 1.1 * largest;
    Bodies bodies;
    for (int i = 0; i < spheres_; ++i) {
      const double radius = 0.5 * diameter_ * (1 + spread_ * uniform());
      const double mass = density_ * 4 / 3 * pi * radius * radius * radius;
      const double j = 0.4 * mass * radius * radius;
      const std::size_t b = bodies.add({"sphere", {radius}}, BodyKind::rigid, mass, {j, j, j});
      const int cell[3] = {i % width, i / width % width, i / (width * width)};
      for (std::size_t k = 0; k < 3; ++k) {
        const double shift = k < 2 ? -0.5 * (width - 1) : 0.55;
        bodies.position[3 * b + k] = pitch * (cell[k] + shift) + 0.05 * largest * uniform();
      }
    }
    return bodies;
  }

  static SceneValues values(const Bodies& end) {
    double height = 0, reach = 0, speed = 0;
    for (std::size_t i = 0; i < end.count(); ++i) {
      const double* x = &end.position[3 * i];
      const double* v = &end.velocity[3 * i];
      height = std::max(height, x[2] + end.shape[i].size[0]);
      reach += std::hypot(x[0], x[1]) / static_cast<double>(end.count());
      speed = std::max(speed, std::hypot(v[0], v[1], v[2]));
    }
    return {{"height", height}, {"mean_radius", reach}, {"max_speed", speed}};
  }

  StepModel model_ = wang_spheres();
  int spheres_ = 1000;
  double diameter_ = 0.013, spread_ = 0, density_ = 3700, slenderness_ = 2;
  std::uint64_t seed_ = 1;
};

}  // namespace

std::unique_ptr<Scene> rolling_pile_scene() {
  return std::make_unique<RollingPile>();
}

}  // namespace ccp
