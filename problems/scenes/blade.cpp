#include "problems/scenes/blade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/scenes/loose_fill.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;
constexpr double gravity = 10;        // m/s^2
constexpr double thickness = 0.02;    // m, of the blade
constexpr double blade_height = 0.6;  // m

//    |#|                 the blade passes the wall behind it
//    |#|oooooooooooo|
//    |#|oooooooooooo|
//    |ooooooooooooooo|   below its edge
//    +---------------+ -> x
class Blade : public Scene {
 public:
  Blade() {
    model_.dt = 0.01;
    model_.mu = 0.25;
    model_.margin = 0.666 * 0.012;  // mean radii, as in the papers' Test Problems
    model_.hertz.young = 2e7;
  }

  OptionList options() override {
    return OptionList("blade", "scene")
        .integer("spheres", spheres_, Range::at_least(1), "Number of spheres")
        .number("length", length_, Range::positive(), "Of the trench, m")
        .number("width", width_, Range::positive(), "Of the trench, m")
        .number("blade", blade_, Range::positive(), "Width of the blade, m")
        .number("edge", edge_, Range::at_least(0), "Of the blade, above the floor, m")
        .number("speed", speed_, Range::at_least(0), "Of the blade, m/s")
        .number("wait", wait_, Range::at_least(0), "Before the blade starts, s")
        .number("radius_min", smallest_, Range::positive(), "Smallest radius, m")
        .number("radius_max", largest_, Range::positive(), "Largest radius, m")
        .number("density", density_, Range::positive(), "Of the spheres, kg/m^3")
        .number("mu", model_.mu, Range::at_least(0), "Friction coefficient")
        .number("margin", model_.margin, Range::at_least(0),
                "Pairs within this gap are contacts, m")
        .number("restitution", model_.restitution, {0, 1}, "Newton's coefficient of restitution")
        .number("young", model_.hertz.young, Range::positive(),
                "Young's modulus of steppers with elastic contacts, Pa")
        .number("dt", model_.dt, Range::positive(), "Time step, s")
        .integer("seed", seed_, Range::at_least(0), "Of radii and first places");
  }

  SceneSetup setup() override {
    options().check();
    if (largest_ < smallest_) {
      throw InputError("scene blade", "option radius_max", fmt::format(">= {}", smallest_),
                       fmt::format("{}", largest_));
    }
    if (!(blade_ < width_)) {
      throw InputError("scene blade", "option blade",
                       fmt::format("less than the trench, {} m", width_),
                       fmt::format("{} m", blade_));
    }
    check_size("blade", "spheres", static_cast<double>(spheres_));
    SceneSetup setup;
    setup.model = model_;
    setup.model.gravity = {0, 0, -gravity};
    fill(setup.bodies);
    enclose(setup.bodies);
    add_blade(setup.bodies);
    setup.stepper = "shake";
    setup.solver = "vipm";
    setup.until = wait_ + (speed_ > 0 ? length_ / (2 * speed_) : 1);
    setup.fastest = 100;
    setup.values = [this](const Bodies& end) { return values(end); };
    return setup;
  }

 private:
  void fill(Bodies& bodies) const {
    constexpr double sky = 100;  // m
    LooseFill loose;
    loose.box = {{0, -width_ / 2, 0}, {length_, width_ / 2, sky}};
    loose.count = spheres_;
    loose.largest = largest_;
    loose.density = density_;
    loose.kind = BodyKind::non_rotating;
    loose.pitch = 1.5;  // or spheres that cannot roll stand in columns
    loose.jitter = 0.24;
    loose.radius = [this](std::size_t, Random& random) {
      return random.uniform(smallest_, largest_);
    };
    Random random(seed_);
    drop_loosely("blade", loose, random, bodies);
  }

  /// Floor and four walls.
  void enclose(Bodies& bodies) const {
    const auto plane = [&](const Vec3& at, const Vec3& turn) {
      Obstacle obstacle;
      obstacle.shape = {"plane", {}};
      obstacle.pose = {at, rotation(turn)};
      bodies.obstacles.push_back(obstacle);
    };
    plane({0, 0, 0}, {});
    plane({0, 0, 0}, {0, pi / 2, 0});
    plane({length_, 0, 0}, {0, -pi / 2, 0});
    plane({0, -width_ / 2, 0}, {-pi / 2, 0, 0});
    plane({0, width_ / 2, 0}, {pi / 2, 0, 0});
  }

  void add_blade(Bodies& bodies) const {
    const auto pose = [speed = speed_, from = wait_, edge = edge_](double time) {
      const double front = speed * std::max(0.0, time - from);
      return Pose{{front - thickness / 2, 0, edge + blade_height / 2}, {}};
    };
    Obstacle obstacle;
    obstacle.shape = {"box", {thickness / 2, blade_ / 2, blade_height / 2}};
    obstacle.pose = pose(0);
    if (speed_ > 0) obstacle.motion = pose;
    bodies.obstacles.push_back(obstacle);
  }

  /// Where the blade is, the highest point of the spheres, and how many have left the trench.
  SceneValues values(const Bodies& end) const {
    double top = 0;
    int outside = 0;
    for (std::size_t i = 0; i < end.count(); ++i) {
      const Vec3 x = end.placed_at(i);
      top = std::max(top, x.z + end.shape[i].size[0]);
      outside += x.x < 0 || x.x > length_ || std::abs(x.y) > width_ / 2 || x.z < 0;
    }
    return {{"blade_front", speed_ * std::max(0.0, end.time - wait_)},
            {"highest", top},
            {"outside", static_cast<double>(outside)}};
  }

  StepModel model_;
  std::uint64_t spheres_ = 1250, seed_ = 1;
  double length_ = 0.6, width_ = 0.2, blade_ = 0.08, edge_ = 0.07, speed_ = 0.2, wait_ = 1;
  double smallest_ = 0.008, largest_ = 0.016, density_ = 2303;
};

}  // namespace

std::unique_ptr<Scene> blade_scene() {
  return std::make_unique<Blade>();
}

}  // namespace ccp
