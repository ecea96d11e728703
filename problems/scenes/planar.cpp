#include "problems/scenes/planar.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "problems/base/error.hpp"
#include "problems/model/impulses.hpp"

namespace ccp {
namespace {

void require(bool good, const char* place, const char* expected, double found) {
  if (!good) throw InputError("generate", place, expected, fmt::format("{}", found));
}

/// Contacts of spheres are seen within this gap, in the largest radii.
constexpr double margin = 0.1;

/// Spheres that stay in the plane, and what they do in a time step.
class PlanarScene {
 public:
  PlanarScene(const PlanarOptions& options, Spheres spheres, bool rotates)
      : options_(options),
        spheres_(std::move(spheres)),
        angular_velocity_(3 * spheres_.count(), 0.0),
        rotates_(rotates) {
    require(options.mu >= 0, "mu", ">= 0", options.mu);
    require(options.dt > 0, "dt", "> 0", options.dt);
    require(options.gravity >= 0, "gravity", ">= 0", options.gravity);
    require(std::abs(options.slope) < 90, "slope", "between -90 and 90 degrees", options.slope);
    require(options.steps >= 0, "steps", ">= 0", options.steps);
    const double angle = options.slope * std::acos(-1.0) / 180;
    gravity_ = {options.gravity * std::sin(angle), 0, -options.gravity * std::cos(angle)};
  }

  /// Takes the steps. @return the problem of the one after
  ContactProblem run(StepSolver& solver, const PlanarRecorder& record) {
    double time = 0;
    const auto show = [&] {
      if (record) record({time, spheres_, angular_velocity_});
    };
    show();
    for (int step = 0; step < options_.steps; ++step) {
      const ContactProblem now = problem();
      std::vector<double> gamma(3 * now.contacts(), 0.0);
      StepAccuracy accuracy;
      accuracy.max_iterations = std::numeric_limits<int>::max();
      accuracy.converged = true;
      solver.solve(now, accuracy, gamma);
      move(now, gamma);
      time += options_.dt;
      show();
    }
    ContactProblem last = problem();
    last.source.kind = "generated";
    last.source.licence = "BSD-3-Clause";
    return last;
  }

 private:
  ContactProblem problem() const;
  void move(const ContactProblem& problem, const std::vector<double>& gamma);

  PlanarOptions options_;
  Spheres spheres_;
  std::vector<double> angular_velocity_;
  bool rotates_;
  std::array<double, 3> gravity_;
};

ContactProblem PlanarScene::problem() const {
  SphereModel model;
  model.mu = options_.mu;
  model.dt = options_.dt;
  model.gravity = gravity_;
  model.young = 0;
  constexpr double sweep = 1.5;  // of what a pair can approach within the step
  ContactProblem problem = sphere_problem(
      spheres_, find_candidates(spheres_, margin * spheres_.radius[0], sweep * options_.dt), model);
  if (rotates_) {
    problem.inverse_inertia.assign(9 * problem.bodies(), 0.0);
    problem.arm_a.assign(3 * problem.contacts(), 0.0);
    problem.arm_b.assign(3 * problem.contacts(), 0.0);
    for (std::size_t i = 0; i < problem.bodies(); ++i) {
      for (int k = 0; k < 3; ++k) {
        problem.velocity[6 * i + 3 + k] = angular_velocity_[3 * i + k];
        problem.inverse_inertia[9 * i + 4 * k] =
            2.5 * problem.inverse_mass[i] / (spheres_.radius[i] * spheres_.radius[i]);
      }
    }
  }
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    double* frame = &problem.frame[9 * c];  // n, t1 = y x n, t2 = y
    const double in_plane[6] = {frame[2], 0, -frame[0], 0, 1, 0};
    std::copy(in_plane, in_plane + 6, frame + 3);
    for (int row = 1; row < 3; ++row) problem.r[3 * c + row] = 0;
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = problem.contact_bodies[2 * c + side];
      if (body < 0) continue;
      const double sign = side == 0 ? -1 : 1;
      const double* v = &problem.velocity[6 * static_cast<std::size_t>(body)];
      double surface[3] = {v[0], v[1], v[2]};
      for (int k = 0; k < 3; ++k) surface[k] += options_.dt * gravity_[k];
      if (rotates_) {
        double* arm = (side == 0 ? &problem.arm_a : &problem.arm_b)->data() + 3 * c;
        for (int k = 0; k < 3; ++k) arm[k] = -sign * spheres_.radius[body] * frame[k];
        for (int k = 0; k < 3; ++k) {
          const int i = (k + 1) % 3, j = (k + 2) % 3;
          surface[k] += v[3 + i] * arm[j] - v[3 + j] * arm[i];
        }
      }
      for (int row = 1; row < 3; ++row) {
        const double* axis = frame + 3 * row;
        problem.r[3 * c + row] +=
            sign * (axis[0] * surface[0] + axis[1] * surface[1] + axis[2] * surface[2]);
      }
    }
  }
  return problem;
}

void PlanarScene::move(const ContactProblem& problem, const std::vector<double>& gamma) {
  const std::vector<double> change = body_velocity_changes(problem, gamma);
  for (std::size_t i = 0; i < spheres_.count(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      double& v = spheres_.velocity[3 * i + k];
      v += options_.dt * gravity_[k] + change[6 * i + k];
      spheres_.position[3 * i + k] += options_.dt * v;
      angular_velocity_[3 * i + k] += change[6 * i + 3 + k];
    }
  }
}

}  // namespace

ContactProblem generate_pyramid(const PyramidOptions& options, StepSolver& solver,
                                const PlanarRecorder& record) {
  require(options.rows >= 1, "rows", ">= 1", options.rows);
  require(options.radius > 0, "radius", "> 0", options.radius);
  require(options.mass > 0, "mass", "> 0", options.mass);
  Spheres spheres;
  for (int row = 0; row < options.rows; ++row) {
    const int count = options.rows - row;
    for (int i = 0; i < count; ++i) {
      const double x = 2 * i - (count - 1), z = 1 + row * std::sqrt(3.0);  // radii
      spheres.position.insert(spheres.position.end(), {options.radius * x, 0, options.radius * z});
      spheres.radius.push_back(options.radius);
      spheres.mass.push_back(options.mass);
    }
  }
  spheres.velocity.assign(3 * spheres.count(), 0.0);
  ContactProblem problem = PlanarScene(options.planar, spheres, true).run(solver, record);
  problem.source.description = fmt::format("a triangle of {} spheres in a plane", spheres.count());
  return problem;
}

ContactProblem generate_particle(const ParticleOptions& options, StepSolver& solver,
                                 const PlanarRecorder& record) {
  constexpr double radius = 1;  // of no consequence: contact is one point, and it does not rotate
  require(options.height >= 0, "height", ">= 0", options.height);
  Spheres spheres;
  spheres.position = {0, 0, radius + options.height};
  spheres.velocity = {options.speed, 0, 0};
  spheres.radius = {radius};
  spheres.mass = {1};
  ContactProblem problem = PlanarScene(options.planar, spheres, false).run(solver, record);
  problem.source.description = "a particle thrown along the ground";
  return problem;
}

}  // namespace ccp
