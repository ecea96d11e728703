#include "problems/scenes/shaken_cubes.hpp"

#include <algorithm>
#include <cmath>

#include "problems/base/pi.hpp"
#include "problems/geometry/shape_table.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;

//   +-------------+
//   | [ ] [ ] [ ] |    all six walls move along x and y alike
//   | [ ] [ ] [ ] |
//   +-------------+   <-->
class ShakenCubes : public Scene {
 public:
  ShakenCubes() {
    model_.dt = 5e-4;
    model_.mu = 0.1;
  }

  OptionList options() override {
    return OptionList("shaken-cubes", "scene")
        .integer("cubes", cubes_, {1, 100}, "Along an edge of the array")
        .number("edge", edge_, Range::positive(), "Of a cube, m")
        .number("gaps", gaps_, Range::positive(), "Of a row of cubes but one, summed, m")
        .number("acceleration", acceleration_, Range::at_least(0), "Amplitude of the box's, m/s^2")
        .number("frequency", frequency_, Range::positive(), "Of the shaking, Hz")
        .number("rest", rest_, Range::at_least(0), "Before the shaking, s")
        .number("density", density_, Range::positive(), "kg/m^3")
        .number("mu", model_.mu, Range::at_least(0), "Friction coefficient")
        .number("dt", model_.dt, Range::positive(), "Time step, s");
  }

  SceneSetup setup() override {
    options().check();
    check_size("shaken-cubes", "cubes", std::pow(cubes_, 3));
    SceneSetup setup;
    setup.model = model_;
    setup.model.gravity = {0, 0, -10};
    fill(setup.bodies);
    enclose(setup.bodies);
    setup.stepper = "moreau";
    setup.solver =
        "pqn[delta_relative_to=avg,delta=0.01,krylov_tolerance=0.25,krylov_max_iterations=10,"
        "fallback=gauss_seidel]";
    setup.until = rest_ + 2.4;
    setup.fastest = 100;
    setup.values = [this](const Bodies& end) { return values(end); };
    return setup;
  }

 private:
  double gap() const { return gaps_ / cubes_; }
  double half_box() const { return 0.5 * (cubes_ * edge_ + (cubes_ + 1) * gap()); }

  /// Of the box along its direction, m: it starts at rest and comes back.
  double displacement(double time) const {
    const double omega = 2 * pi * frequency_, since = std::max(0.0, time - rest_);
    return acceleration_ / (omega * omega) * (1 - std::cos(omega * since));
  }
  Vec3 centre(double time) const {
    const double along = displacement(time) / std::sqrt(2.0);
    return {along, along, half_box()};
  }

  void fill(Bodies& bodies) const {
    const double half = edge_ / 2, pitch = edge_ + gap();
    const Shape cube{"box", {half, half, half}};
    const MassProperties own = mass_properties(cube, density_);
    for (int k = 0; k < cubes_; ++k) {
      for (int j = 0; j < cubes_; ++j) {
        for (int i = 0; i < cubes_; ++i) {
          const std::size_t b = bodies.add(cube, BodyKind::rigid, own.mass,
                                           {own.inertia[0], own.inertia[1], own.inertia[2]});
          const int cell[3] = {i, j, k};
          for (std::size_t axis = 0; axis < 3; ++axis) {
            const double lowest = axis < 2 ? -half_box() : 0;
            bodies.position[3 * b + axis] = lowest + gap() + half + pitch * cell[axis];
          }
        }
      }
    }
  }

  /// Floor, ceiling, and the walls at -x, +x, -y and +y; a plane's normal is its third axis.
  void enclose(Bodies& bodies) const {
    const double half = half_box();
    const Quaternion facing[6] = {{},
                                  rotation({pi, 0, 0}),
                                  rotation({0, pi / 2, 0}),
                                  rotation({0, -pi / 2, 0}),
                                  rotation({-pi / 2, 0, 0}),
                                  rotation({pi / 2, 0, 0})};
    const Vec3 from_centre[6] = {{0, 0, -half}, {0, 0, half},  {-half, 0, 0},
                                 {half, 0, 0},  {0, -half, 0}, {0, half, 0}};
    for (int wall = 0; wall < 6; ++wall) {
      const auto pose = [scene = *this, at = from_centre[wall], turned = facing[wall]](double t) {
        return Pose{scene.centre(t) + at, turned};
      };
      bodies.obstacles.push_back({{"plane", {}}, pose(0), pose, {}});
    }
  }

  /// Of the last instant: how far the centre of mass is from that of the box along its direction,
  /// its height above the floor over that of cubes that lie, and how many cubes are outside.
  SceneValues values(const Bodies& end) const {
    const Vec3 box = centre(end.time);
    Vec3 mean;
    int outside = 0;
    for (std::size_t i = 0; i < end.count(); ++i) {
      const Vec3 x = end.placed_at(i), d = x - box;
      mean = mean + (1 / static_cast<double>(end.count())) * x;
      outside += std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)}) > half_box();
    }
    return {{"ahead", (mean.x - box.x + mean.y - box.y) / std::sqrt(2.0)},
            {"height", mean.z / (0.5 * cubes_ * edge_)},
            {"outside", static_cast<double>(outside)}};
  }

  StepModel model_;
  int cubes_ = 5;
  double edge_ = 0.1, gaps_ = 0.01, acceleration_ = 5, frequency_ = 2, rest_ = 0.6, density_ = 1000;
};

}  // namespace

std::unique_ptr<Scene> shaken_cubes_scene() {
  return std::make_unique<ShakenCubes>();
}

}  // namespace ccp
