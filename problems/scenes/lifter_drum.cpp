#include "problems/scenes/lifter_drum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/geometry/shape_table.hpp"
#include "problems/scenes/turning.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;
constexpr double drum = 1, width = 0.5, lifter = 0.2;  // m: radius, along the axis, a lifter's side

//      z
//      |  x        the drum and its lifters turn about y, their lowest points towards -x
//   [](   )[]
class LifterDrum : public Scene {
 public:
  LifterDrum() {
    model_.dt = 1e-3;
    model_.mu = 0.3;
  }

  OptionList options() override {
    return OptionList("lifter-drum", "scene")
        .integer("bodies", bodies_, Range::at_least(1),
                 "Number of ellipsoids; the fewer, the larger")
        .flag("spheres", spheres_, "Spheres of 0.8 r0 in place of ellipsoids of 0.9, 0.5 and 1 r0")
        .number("omega", omega_, Range::at_least(0), "Of the drum, rad/s")
        .number("wait", wait_, Range::at_least(0), "Before it turns, s")
        .number("density", density_, Range::positive(), "kg/m^3")
        .flag("pseudo_rigid", pseudo_rigid_, "Bodies deform linearly")
        .number("young", young_, Range::positive(), "Young's modulus of those, Pa")
        .number("poisson", poisson_, {-1, 0.5, true, true}, "Poisson's ratio of those")
        .number("damping", damping_, Range::at_least(0), "Of those, eta over the time step")
        .number("mu", model_.mu, Range::at_least(0), "Friction coefficient")
        .number("dt", model_.dt, Range::positive(), "Time step, s");
  }

  SceneSetup setup() override {
    options().check();
    check_size("lifter-drum", "bodies", static_cast<double>(bodies_));
    SceneSetup setup;
    setup.model = model_;
    setup.model.gravity = {0, 0, -10};
    fill(setup.bodies);
    enclose(setup.bodies);
    setup.stepper = "moreau";
    setup.solver =
        "pqn[delta_relative_to=avg,delta=0.01,krylov_tolerance=0.25,krylov_max_iterations=10,"
        "fallback=gauss_seidel]";
    setup.until = 10;
    setup.fastest = 100;
    setup.values = [this](const Bodies& end) { return values(end); };
    return setup;
  }

 private:
  /// The paper's r0 = (0.1 / N)^(1/3): bodies fill the same volume, whatever their number.
  double unit() const { return std::cbrt(0.1 / static_cast<double>(bodies_)); }

  /// Layers from the height of 0.25 m downwards, axes along those of the world; what does not fit
  /// there, above.
  void fill(Bodies& bodies) const {
    const double r0 = unit();
    const Shape shape =
        spheres_ ? Shape{"sphere", {0.8 * r0}} : Shape{"ellipsoid", {0.9 * r0, 0.5 * r0, r0}};
    const Vec3 half = spheres_ ? Vec3{0.8 * r0, 0.8 * r0, 0.8 * r0} : Vec3{0.9 * r0, 0.5 * r0, r0};
    const MassProperties own = mass_properties(shape, density_);
    std::uint64_t placed = 0;
    const auto layer = [&](double z) {
      for (double y = half.y; y <= width - half.y + 1e-12; y += 2 * half.y) {
        for (double x = -0.7; x < 0.7 && placed < bodies_; x += 2 * half.x) {
          if (std::hypot(std::abs(x) + half.x, std::abs(z) + half.z) > drum) continue;
          const bool at_lifter =
              std::abs(x) + half.x > drum - lifter && std::abs(z) < half.z + lifter / 2;
          if (at_lifter) continue;
          const std::size_t b = bodies.add(shape, BodyKind::rigid, own.mass,
                                           {own.inertia[0], own.inertia[1], own.inertia[2]});
          bodies.position[3 * b] = x, bodies.position[3 * b + 1] = y,
                              bodies.position[3 * b + 2] = z;
          if (pseudo_rigid_) bodies.make_pseudo_rigid(b, young_, poisson_, damping_ * model_.dt);
          ++placed;
        }
      }
    };
    constexpr double start = 0.25;  // m
    for (double z = start; placed < bodies_ && z > -drum; z -= 2 * half.z) layer(z);
    for (double z = start + 2 * half.z; placed < bodies_ && z < drum; z += 2 * half.z) layer(z);
    if (placed < bodies_) {
      throw InputError("scene lifter-drum", "option bodies",
                       fmt::format("at most {}, which are all that fit at the start", placed),
                       fmt::format("{}", bodies_));
    }
  }

  /// The cylinder and two lifters, which turn with it; two plates, which do not.
  void enclose(Bodies& bodies) const {
    const auto turning = [&](const Shape& shape, const Pose& lying) {
      bodies.obstacles.push_back(turning_obstacle(shape, lying, omega_, wait_));
    };
    const Quaternion along = rotation({-pi / 2, 0, 0}), against = rotation({pi / 2, 0, 0});
    const Vec3 middle{0, width / 2, 0};
    turning({"cylinder_inside", {drum}}, {middle, along});
    for (const double side : {-1.0, 1.0}) {
      turning({"box", {lifter / 2, width / 2, lifter / 2}},
              {middle + Vec3{side * (drum - lifter / 2), 0, 0}, {}});
    }
    bodies.obstacles.push_back({{"plane", {}}, {{0, 0, 0}, along}, {}, {}});
    bodies.obstacles.push_back({{"plane", {}}, {{0, width, 0}, against}, {}, {}});
  }

  /// Of the last instant: the angle of the centre of mass about the axis from below, degrees, the
  /// highest point of a centre, and how many are outside.
  SceneValues values(const Bodies& end) const {
    Vec3 centre;
    double top = -drum;
    int outside = 0;
    for (std::size_t i = 0; i < end.count(); ++i) {
      const Vec3 x = end.placed_at(i);
      centre = centre + x;
      top = std::max(top, x.z);
      outside += std::hypot(x.x, x.z) > drum || x.y < 0 || x.y > width;
    }
    return {{"angle", std::atan2(-centre.x, -centre.z) * 180 / pi},
            {"highest", top},
            {"outside", static_cast<double>(outside)}};
  }

  StepModel model_;
  std::uint64_t bodies_ = 100;
  bool spheres_ = false, pseudo_rigid_ = false;
  double omega_ = 1, wait_ = 1.845, density_ = 100, young_ = 1e6, poisson_ = 0.25, damping_ = 1;
};

}  // namespace

std::unique_ptr<Scene> lifter_drum_scene() {
  return std::make_unique<LifterDrum>();
}

}  // namespace ccp
