#include "problems/scenes/rotating_drum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/scenes/loose_fill.hpp"
#include "problems/scenes/turning.hpp"
#include "problems/scenes/wang_spheres.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;

//      z            the drum turns about y, its lowest point towards -x:
//      |  x         what it lifts is on the left
//     ( )--
class RotatingDrum : public Scene {
 public:
  OptionList options() override {
    OptionList list("rotating-drum", "scene");
    list.integer("spheres", spheres_, Range::at_least(1), "Number of spheres")
        .number("drum", drum_, Range::positive(), "Inner diameter of the drum, m")
        .number("width", width_, Range::positive(), "Between its plates, m")
        .number("omega", omega_, Range::at_least(0), "Of the drum, rad/s")
        .number("wait", wait_, Range::at_least(0), "Before it turns, s");
    return add_wang_spheres(add_wang_sizes(list, sizes_), model_)
        .integer("seed", seed_, Range::at_least(0), "Of the spheres' first places");
  }

  SceneSetup setup() override {
    options().check();
    const double largest = sizes_.largest();
    if (!(width_ > 1.1 * largest && drum_ > 2 * largest)) {
      throw InputError("scene rotating-drum", "options drum and width",
                       fmt::format("more than {:g} m and {:g} m for the largest sphere",
                                   2 * largest, 1.1 * largest),
                       fmt::format("{:g} m and {:g} m", drum_, width_));
    }
    check_size("rotating-drum", "spheres", static_cast<double>(spheres_));
    SceneSetup setup;
    setup.model = model_;
    setup.model.gravity = {0, 0, -gravity};
    fill(setup.bodies);
    enclose(setup.bodies);
    setup.stepper = "spook";
    setup.until = wait_ + (omega_ > 0 ? 2 / omega_ : 1);  // 115 degrees: it flows at some 50
    setup.fastest = 100;
    setup.values = [this](const Bodies& end) { return values(end); };
    return setup;
  }

 private:
  static constexpr double gravity = 9.81;     // m/s^2
  static constexpr double plug_speed = 0.15;  // Wang 2016: of R omega, against the drum

  /// From the bottom of the drum up, both sizes in turn.
  void fill(Bodies& bodies) const {
    const double largest = sizes_.largest() / 2, reach = drum_ / 2;
    LooseFill loose;
    loose.box = {{-reach, -width_ / 2, -reach}, {reach, width_ / 2, reach}};
    loose.count = spheres_;
    loose.largest = largest;
    loose.density = sizes_.density;
    loose.radius = [this](std::size_t i, Random&) {
      return (i % 2 == 0 ? sizes_.large : sizes_.small) / 2;
    };
    loose.inside = [=](const Vec3& x) { return std::hypot(x.x, x.z) < reach - 1.14 * largest; };
    Random random(seed_);
    drop_loosely("rotating-drum", loose, random, bodies);
  }

  /// The cylinder and its two plates, which turn with it.
  void enclose(Bodies& bodies) const {
    const auto add = [&](const Shape& shape, const Pose& lying) {
      bodies.obstacles.push_back(turning_obstacle(shape, lying, omega_, wait_));
    };
    const Quaternion along = rotation({-pi / 2, 0, 0}), against = rotation({pi / 2, 0, 0});
    add({"cylinder_inside", {drum_ / 2}}, {{}, along});
    add({"plane", {}}, {{0, -width_ / 2, 0}, along});
    add({"plane", {}}, {{0, width_ / 2, 0}, against});
  }

  /// Of the last instant: the angle of the centre of mass about the axis from below, degrees, and
  /// the part of the spheres that turn with the drum.
  SceneValues values(const Bodies& end) const {
    Vec3 centre;
    double mass = 0, plug = 0;
    for (std::size_t i = 0; i < end.count(); ++i) {
      const Vec3 x = end.placed_at(i);
      const Vec3 v{end.velocity[3 * i], end.velocity[3 * i + 1], end.velocity[3 * i + 2]};
      const Vec3 with_drum{omega_ * x.z, 0, -omega_ * x.x};
      centre = centre + end.mass[i] * x;
      mass += end.mass[i];
      plug += norm(v - with_drum) <= plug_speed * omega_ * drum_ / 2;
    }
    return {{"angle", std::atan2(-centre.x, -centre.z) * 180 / pi},
            {"mass_depth", -centre.z / mass},
            {"plug", plug / static_cast<double>(end.count())}};
  }

  StepModel model_ = wang_spheres();
  std::uint64_t spheres_ = 860, seed_ = 1;
  double drum_ = 0.26, width_ = 0.065, omega_ = 0.354, wait_ = 0.5;
  WangSizes sizes_;
};

}  // namespace

std::unique_ptr<Scene> rotating_drum_scene() {
  return std::make_unique<RotatingDrum>();
}

}  // namespace ccp
