#include "problems/scenes/soft_ellipsoids.hpp"

#include <algorithm>
#include <cmath>

#include "problems/base/pi.hpp"
#include "problems/geometry/shape_table.hpp"
#include "problems/scenes/random.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;

class SoftEllipsoids : public Scene {
 public:
  SoftEllipsoids() {
    model_.dt = 1e-3;
    model_.mu = 0.3;
  }

  OptionList options() override {
    OptionList list("soft-ellipsoids", "scene");
    list.integer("ellipsoids", ellipsoids_, {1, 100000}, "Number of ellipsoids")
        .number("a", a_, Range::positive(), "Semi-axis, m")
        .number("b", b_, Range::positive(), "Semi-axis, m")
        .number("c", c_, Range::positive(), "Semi-axis, m")
        .number("density", density_, Range::positive(), "kg/m^3")
        .number("young", young_, Range::positive(), "Young's modulus, Pa")
        .number("poisson", poisson_, {-1, 0.5, true, true}, "Poisson's ratio")
        .number("damping", damping_, Range::at_least(0), "eta over the time step")
        .flag("rigid", rigid_, "They do not deform")
        .number("mu", model_.mu, Range::at_least(0), "Friction coefficient")
        .number("dt", model_.dt, Range::positive(), "Time step, s")
        .integer("seed", seed_, {0, 1e9}, "Of places and turns");
    return list;
  }

  SceneSetup setup() override {
    options().check();
    check_size("soft-ellipsoids", "ellipsoids", ellipsoids_);
    SceneSetup setup;
    setup.model = model_;
    setup.bodies = loose();
    add_walls(setup.bodies);
    setup.stepper = "moreau";
    setup.until = 2;
    setup.fastest = 100;
    setup.values = values;
    return setup;
  }

 private:
  double largest() const { return std::max({a_, b_, c_}); }
  int width() const {
    return std::max(1, static_cast<int>(std::lround(std::cbrt(0.5 * ellipsoids_))));
  }
  double pitch() const { return 2.1 * largest(); }

  /// A grid of bodies that do not touch each other, turned at random.
  Bodies loose() const {
    Random random(seed_);
    const Shape shape{"ellipsoid", {a_, b_, c_}};
    const MassProperties mass = mass_properties(shape, density_);
    Bodies bodies;
    for (int k = 0; k < ellipsoids_; ++k) {
      const std::size_t i = bodies.add(shape, BodyKind::rigid, mass.mass,
                                       {mass.inertia[0], mass.inertia[1], mass.inertia[2]});
      const int cell[3] = {k % width(), k / width() % width(), k / (width() * width())};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double shift = axis < 2 ? -0.5 * (width() - 1) : 0.5;
        bodies.position[3 * i + axis] = pitch() * (cell[axis] + shift);
      }
      bodies.turn(
          i, rotation({random.uniform(-pi, pi), random.uniform(-pi, pi), random.uniform(-pi, pi)}));
      if (!rigid_) bodies.make_pseudo_rigid(i, young_, poisson_, damping_ * model_.dt);
    }
    return bodies;
  }

  /// The ground and four walls: planes, whose normal is the third axis.
  void add_walls(Bodies& bodies) const {
    const double half = 0.5 * pitch() * width();
    bodies.obstacles.push_back({{"plane", {}}, {}, {}, {}});
    for (const double side : {-1.0, 1.0}) {
      bodies.obstacles.push_back(
          {{"plane", {}}, {{side * half, 0, 0}, rotation({0, -side * pi / 2, 0})}, {}, {}});
      bodies.obstacles.push_back(
          {{"plane", {}}, {{0, side * half, 0}, rotation({side * pi / 2, 0, 0})}, {}, {}});
    }
  }

  static SceneValues values(const Bodies& end) {
    double height = 0, speed = 0, strain = 0;
    for (std::size_t i = 0; i < end.count(); ++i) {
      const PlacedShape now = end.placed(i);
      const double* v = &end.velocity[3 * i];
      height = std::max(height, now.position.z + shape_kind(now.shape.kind).half_extent(now).z);
      speed = std::max(speed, std::hypot(v[0], v[1], v[2]));
      if (!end.deforms(i)) continue;
      const Mat3 f = end.deformation_of(i);
      const Mat3 metric = transposed(f) * f;
      for (int k = 0; k < 3; ++k) strain = std::max(strain, 0.5 * std::abs(metric(k, k) - 1));
    }
    return {{"height", height}, {"max_speed", speed}, {"max_strain", strain}};
  }

  StepModel model_;
  int ellipsoids_ = 50;
  double a_ = 0.09, b_ = 0.05, c_ = 0.1, density_ = 100, young_ = 1e6, poisson_ = 0.25,
         damping_ = 1;
  bool rigid_ = false;
  std::uint64_t seed_ = 1;
};

}  // namespace

std::unique_ptr<Scene> soft_ellipsoids_scene() {
  return std::make_unique<SoftEllipsoids>();
}

}  // namespace ccp
