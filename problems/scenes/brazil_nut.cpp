#include "problems/scenes/brazil_nut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/scenes/random.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;
constexpr double rising = 0.2;  // part of a period

//   |ooooooo|
//   |oo( )oo|     the large one is body 0
//   +-------+
//     v  ^
class BrazilNut : public Scene {
 public:
  BrazilNut() {
    model_.dt = 0.1;
    model_.mu = 0.5;
    model_.restitution = 0.5;
  }

  OptionList options() override {
    return OptionList("brazil-nut", "scene")
        .integer("discs", discs_, Range::at_least(1), "Number of discs, with the large one")
        .number("radius", radius_, Range::positive(), "Of the small discs, m")
        .number("nut", nut_, Range::positive(), "Radius of the large disc, m")
        .number("width", width_, Range::positive(), "Of the box, m")
        .number("density", density_, Range::positive(), "Of the discs, kg/m^2")
        .number("speed", speed_, Range::at_least(0), "Of the box while it rises, m/s")
        .number("period", period_, Range::positive(), "Of the shaking, s")
        .number("settle", settle_, Range::at_least(0), "Before the shaking, s")
        .integer("seed", seed_, Range::at_least(0), "Of the discs' first places")
        .number("dt", model_.dt, Range::positive(), "Time step, s")
        .number("gravity", gravity_, Range::at_least(0), "m/s^2")
        .number("mu", model_.mu, Range::at_least(0), "Friction coefficient")
        .number("restitution", model_.restitution, {0, 1}, "Newton's coefficient of restitution");
  }

  SceneSetup setup() override {
    options().check();
    if (!(width_ > 2 * std::max(nut_, radius_) + 4 * jitter * radius_)) {
      throw InputError("scene brazil-nut", "option width", "more than the largest disc",
                       fmt::format("{} m", width_));
    }
    check_size("brazil-nut", "discs", static_cast<double>(discs_));
    SceneSetup setup;
    setup.model = model_;
    setup.model.gravity = {0, 0, -gravity_};
    setup.model.impact_speed = gravity_ * model_.dt;  // slower than that a disc lies
    setup.model.margin = radius_;                     // in a step of 0.1 s they move far
    place(setup.bodies);
    box(setup.bodies);
    setup.stepper = "relaxation";
    setup.solver = "vipm";
    setup.until = settle_ + 50;
    setup.values = [](const Bodies& end) -> SceneValues {
      const double r = end.shape[0].size[0], x = end.position[0], z = end.position[2];
      int above = 0;
      for (std::size_t i = 1; i < end.count(); ++i) {
        above += std::abs(end.position[3 * i] - x) < r && end.position[3 * i + 2] > z;
      }
      const double floor = end.obstacles[0].at(end.time).position.z;
      return {{"nut_height", z - r - floor}, {"discs_above", static_cast<double>(above)}};
    };
    return setup;
  }

 private:
  static constexpr double pitch = 2.1, jitter = 0.04;  // radii of a small disc

  void add(Bodies& bodies, double r, double x, double z) const {
    const double mass = density_ * pi * r * r, j = mass * r * r / 2;
    const std::size_t i = bodies.add({"sphere", {r}}, BodyKind::planar, mass, {j, j, j});
    bodies.position[3 * i] = x;
    bodies.position[3 * i + 2] = z;
  }

  /// The large disc in the middle of the floor, the others in rows around and above it.
  void place(Bodies& bodies) const {
    Random random(seed_);
    add(bodies, nut_, 0, nut_);
    const double step = pitch * radius_, free = jitter * radius_;
    const int columns = std::max(1, static_cast<int>((width_ - 2 * free) / step));
    for (int row = 0; bodies.count() < discs_; ++row) {
      for (int i = 0; i < columns && bodies.count() < discs_; ++i) {
        const double x = (i - 0.5 * (columns - 1)) * step, z = (row + 0.5) * step;
        if (std::hypot(x, z - nut_) < nut_ + radius_ + 2 * free) continue;
        const double dx = random.uniform(-free, free);
        add(bodies, radius_, x + dx, z + random.uniform(-free, free));
      }
    }
  }

  /// Floor and walls, which move together.
  void box(Bodies& bodies) const {
    const auto height = [from = settle_, v = speed_, period = period_](double t) {
      const double phase = t > from ? std::fmod((t - from) / period, 1.0) : 0;
      return v * period * std::min(phase, (1 - phase) * rising / (1 - rising));
    };
    const Quaternion lying[3] = {{}, rotation({0, pi / 2, 0}), rotation({0, -pi / 2, 0})};
    const double x[3] = {0, -width_ / 2, width_ / 2};  // floor, left wall, right wall
    for (int i = 0; i < 3; ++i) {
      const auto pose = [height, x = x[i], turned = lying[i]](double t) {
        return Pose{{x, 0, height(t)}, turned};
      };
      bodies.obstacles.push_back({{"plane", {}}, pose(0), pose, {}});
    }
  }

  StepModel model_;
  std::uint64_t discs_ = 270, seed_ = 1;
  double radius_ = 0.5, nut_ = 1.5, width_ = 16, density_ = 1;
  double speed_ = 4, period_ = 1, settle_ = 2, gravity_ = 9.81;
};

}  // namespace

std::unique_ptr<Scene> brazil_nut_scene() {
  return std::make_unique<BrazilNut>();
}

}  // namespace ccp
