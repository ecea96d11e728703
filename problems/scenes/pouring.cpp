#include "problems/scenes/pouring.hpp"

#include <algorithm>
#include <cmath>

#include "problems/base/pi.hpp"
#include "problems/scenes/random.hpp"
#include "problems/scenes/wang_spheres.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;

//     oo oo   wait: no weight, `pitch` in every `interval`
//     oo oo
//     -----   inlet, `height` diameters above the ground
//      o o
//     ..oo..
class Pouring : public Scene {
 public:
  OptionList options() override {
    OptionList list("pouring", "scene");
    list.integer("spheres", spheres_, Range::at_least(1), "Number of spheres")
        .number("diameter", diameter_, Range::positive(), "Of a sphere, m")
        .number("density", density_, Range::positive(), "kg/m^3")
        .number("height", height_, Range::at_least(1), "Of the inlet over the ground, diameters")
        .number("interval", interval_, Range::positive(), "Between two layers of four spheres, s")
        .number("settle", settle_, Range::at_least(0), "After the last layer, s");
    return add_wang_spheres(list, model_)
        .integer("seed", seed_, Range::at_least(0), "Of the turns and places of layers");
  }

  SceneSetup setup() override {
    options().check();
    check_size("pouring", "spheres", static_cast<double>(spheres_));
    SceneSetup setup;
    setup.model = model_;
    setup.model.gravity = {0, 0, -gravity};
    setup.model.load = [*this](const Bodies& now, std::vector<double>& load) { carry(now, load); };
    queue(setup.bodies);
    setup.bodies.obstacles.push_back({{"plane", {}}, {}, {}, {}});
    setup.stepper = "spook";
    setup.until = release((spheres_ - 1) / in_layer) + settle_;
    setup.fastest = 100;
    setup.values = [this](const Bodies& end) { return values(end); };
    return setup;
  }

 private:
  static constexpr double gravity = 9.81;  // m/s^2
  static constexpr double pitch = 1.3,
                          jitter = 0.05;  // of a layer and between layers, in diameters
  static constexpr std::uint64_t in_layer = 4;

  double release(std::uint64_t layer) const { return static_cast<double>(layer) * interval_; }
  double inlet() const { return height_ * diameter_; }
  double feed() const { return pitch * diameter_ / interval_; }

  /// Squares of four, turned at random, the first one at the inlet.
  void queue(Bodies& bodies) const {
    Random random(seed_);
    const double mass = density_ * pi / 6 * std::pow(diameter_, 3),
                 j = 0.1 * mass * diameter_ * diameter_;
    const auto shift = [&] { return jitter * diameter_ * random.uniform(-1, 1); };
    double turn = 0;
    for (std::uint64_t i = 0; i < spheres_; ++i) {
      if (i % in_layer == 0) turn = random.uniform(0, pi / 2);
      const double angle = turn + pi / 2 * static_cast<double>(i % in_layer),
                   reach = pitch * diameter_ / std::sqrt(2.0);
      const std::size_t b =
          bodies.add({"sphere", {diameter_ / 2}}, BodyKind::rigid, mass, {j, j, j});
      bodies.position[3 * b] = reach * std::cos(angle) + shift();
      bodies.position[3 * b + 1] = reach * std::sin(angle) + shift();
      bodies.position[3 * b + 2] = inlet() + feed() * release(i / in_layer);
      bodies.velocity[3 * b + 2] = -feed();
    }
  }

  /// Whether body i has not come to the inlet. Bodies of another simulation may be below it at any
  /// time.
  bool waits(const Bodies& now, std::size_t i) const {
    return now.time < release(i / in_layer) - 0.5 * model_.dt && now.position[3 * i + 2] > inlet();
  }

  /// What takes the weight off those that wait, and keeps their speed.
  void carry(const Bodies& now, std::vector<double>& load) const {
    for (std::size_t i = 0; i < now.count(); ++i) {
      if (!waits(now, i)) continue;
      const double faster = feed() + now.velocity[3 * i + 2];
      load[6 * i + 2] = now.mass[i] * (gravity - faster / model_.dt);
    }
  }

  /// The heap is what has come in and is slower than half of the speed at the inlet.
  SceneValues values(const Bodies& end) const {
    double poured = 0, height = 0, reach = 0, lie = 0, speed = 0;
    for (std::size_t i = 0; i < end.count(); ++i) {
      if (waits(end, i)) continue;
      const double* x = &end.position[3 * i];
      const double* v = &end.velocity[3 * i];
      const double own = std::hypot(v[0], v[1], v[2]);
      ++poured;
      speed = std::max(speed, own);
      if (own > feed() / 2) continue;
      ++lie;
      height = std::max(height, x[2] + diameter_ / 2);
      reach += std::hypot(x[0], x[1]);
    }
    return {{"poured", poured},
            {"lying", lie},
            {"height", height},
            {"mean_radius", lie > 0 ? reach / lie : 0},
            {"max_speed", speed}};
  }

  StepModel model_ = wang_spheres();
  std::uint64_t spheres_ = 800, seed_ = 1;
  double diameter_ = 0.013, density_ = 3700, height_ = 15, interval_ = 0.05, settle_ = 2;
};

}  // namespace

std::unique_ptr<Scene> pouring_scene() {
  return std::make_unique<Pouring>();
}

}  // namespace ccp
