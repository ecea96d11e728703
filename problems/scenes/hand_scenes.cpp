#include "problems/scenes/hand_scenes.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "problems/base/error.hpp"
#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

using Triple = std::array<double, 3>;

double dot(const Triple& x, const Triple& y) {
  return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

/// Collects bodies and contacts; r follows from velocities, gravity and gaps as in Kleinert 2014
/// eq. 10.
class SceneBuilder {
 public:
  explicit SceneBuilder(Triple gravity = {0, 0, -10}) {
    problem_.dt = 0.01;
    problem_.gravity = gravity;
  }

  /// A body that cannot rotate. @return its number
  std::int32_t body(double mass, const Triple& velocity = {0, 0, 0}) {
    problem_.inverse_mass.push_back(1 / mass);
    velocity_.push_back(velocity);
    return static_cast<std::int32_t>(problem_.bodies()) - 1;
  }

  /// Makes the bodies rotating; call after all bodies are there. @param inertia principal, kg m^2
  void rotating(const Triple& inertia) {
    problem_.inverse_inertia.assign(9 * problem_.bodies(), 0.0);
    for (std::size_t i = 0; i < problem_.bodies(); ++i) {
      for (int k = 0; k < 3; ++k) problem_.inverse_inertia[9 * i + 4 * k] = 1 / inertia[k];
    }
  }

  /// A contact with normal from a to b (-1 = immovable) whose known impulse is `gamma`.
  void contact(std::int32_t a, std::int32_t b, double mu, const Triple& normal, const Triple& gamma,
               double gap = 0, const Triple& arm_b = {0, 0, 0}, const Triple& tangent = {0, 0, 0}) {
    std::array<double, 9> frame{normal[0], normal[1], normal[2]};
    if (dot(tangent, tangent) > 0) {
      const Triple t2{normal[1] * tangent[2] - normal[2] * tangent[1],
                      normal[2] * tangent[0] - normal[0] * tangent[2],
                      normal[0] * tangent[1] - normal[1] * tangent[0]};
      for (int k = 0; k < 3; ++k) frame[3 + k] = tangent[k], frame[6 + k] = t2[k];
    } else {
      complete_frame(frame.data());
    }
    problem_.contact_bodies.insert(problem_.contact_bodies.end(), {a, b});
    problem_.frame.insert(problem_.frame.end(), frame.begin(), frame.end());
    problem_.mu.push_back(mu);
    problem_.gap.push_back(gap);
    arm_b_.insert(arm_b_.end(), arm_b.begin(), arm_b.end());
    gamma_.insert(gamma_.end(), gamma.begin(), gamma.end());
  }

  ContactProblem finish() {
    for (const Triple& v : velocity_) {
      problem_.velocity.insert(problem_.velocity.end(), {v[0], v[1], v[2], 0, 0, 0});
    }
    if (problem_.rotates()) {
      problem_.arm_b = arm_b_;
      problem_.arm_a.assign(arm_b_.size(), 0.0);
    }
    for (std::size_t c = 0; c < problem_.contacts(); ++c) {
      const Vec3 free = free_velocity(problem_, c);
      problem_.r.insert(problem_.r.end(), {free.x + problem_.gap[c] / problem_.dt, free.y, free.z});
    }
    problem_.reference = Reference{gamma_, {}, {}, "by hand"};
    return std::move(problem_);
  }

 private:
  ContactProblem problem_;
  std::vector<Triple> velocity_;
  std::vector<double> arm_b_, gamma_;
};

constexpr Triple up{0, 0, 1};
constexpr Triple along{1, 0, 0};
constexpr std::int32_t ground = -1;

//      [2 kg]         weight over a step: 2 * 10 * 0.01 = 0.2 N s
//   ------------
ContactProblem resting_block() {
  SceneBuilder scene;
  scene.contact(ground, scene.body(2), 0.5, up, {0.2, 0, 0});
  return scene.finish();
}

//      [2 kg] -> 1 m/s      N = I/2, r = (-0.1, 1, 0); gamma is the projection of -2 r onto the
//      cone.
//   -------------------     The convex law lifts a sliding block: u = (0.38, 0.76, 0), u_n = mu
//   |u_t|.
ContactProblem sliding_block() {
  SceneBuilder scene;
  scene.contact(ground, scene.body(2, {1, 0, 0}), 0.5, up, {0.96, -0.48, 0}, 0, {}, along);
  return scene.finish();
}

//   Slope with sin = 0.6, cos = 0.8, seen from the slope: gravity is (6, 0, -8), tan = 0.75.
ContactProblem slope(double mu, const Triple& gamma) {
  SceneBuilder scene({6, 0, -8});
  scene.contact(ground, scene.body(2), mu, up, gamma, 0, {}, along);
  return scene.finish();
}

//   [c]  Impulses carry what lies above: dt g (m_a + m_b + m_c), ...
//   [b]
//   [a]
//  -----
ContactProblem stack(const std::vector<double>& masses, const std::vector<double>& mu) {
  SceneBuilder scene;
  double above = 0;
  for (const double mass : masses) above += mass;
  std::int32_t below = ground;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const std::int32_t block = scene.body(masses[i]);
    scene.contact(below, block, mu[i], up, {0.1 * above, 0, 0});
    above -= masses[i];
    below = block;
  }
  return scene.finish();
}

//    _____     A 4 kg table that can rotate, on four legs: three would do, so gamma is not unique,
//    |   |     the velocity (zero) is. The reference is the symmetric solution.
//   -------
ContactProblem hyperstatic_table() {
  SceneBuilder scene;
  const std::int32_t table = scene.body(4);
  scene.rotating({0.5, 0.5, 0.8});
  for (const double x : {-0.5, 0.5}) {
    for (const double y : {-0.5, 0.5}) {
      scene.contact(ground, table, 0.4, up, {0.1, 0, 0}, 0, {x, y, -0.5});
    }
  }
  return scene.finish();
}

//   The resting block with its only contact given twice.
ContactProblem duplicate_contacts() {
  SceneBuilder scene;
  const std::int32_t block = scene.body(2);
  for (int i = 0; i < 2; ++i) scene.contact(ground, block, 0.5, up, {0.1, 0, 0});
  return scene.finish();
}

ContactProblem zero_contacts() {
  SceneBuilder scene;
  scene.body(1, {0, 0, 3});
  return scene.finish();
}

//   <- (1 kg) (1 kg) ->     moving apart: no impulse, u = r.
ContactProblem separating_spheres() {
  SceneBuilder scene({0, 0, 0});
  const std::int32_t a = scene.body(1, {-1, 0, 0}), b = scene.body(1, {1, 0, 0});
  scene.contact(a, b, 0.4, along, {0, 0, 0});
  return scene.finish();
}

//   (1 kg) ->  <- (3 kg)    N_nn = 1 + 1/3, r_n = -2: gamma_n = 1.5.
ContactProblem head_on_collision() {
  SceneBuilder scene({0, 0, 0});
  const std::int32_t a = scene.body(1, {1, 0, 0}), b = scene.body(3, {-1, 0, 0});
  scene.contact(a, b, 0.4, along, {1.5, 0, 0});
  return scene.finish();
}

//   \ (1 kg) /     walls at 45 degrees: gamma_n = dt g m / (2 cos 45) on either side; with friction
//    \      /      the block rests just the same, and gamma is not unique.
//     \    /
ContactProblem v_groove(double mu) {
  SceneBuilder scene;
  const std::int32_t sphere = scene.body(1);
  const double h = std::sqrt(0.5);
  for (const double side : {-1.0, 1.0}) {
    scene.contact(ground, sphere, mu, {side * h, 0, h}, {0.1 * h, 0, 0});
  }
  return scene.finish();
}

/// A bodies-form problem with N written out instead.
ContactProblem assembled(ContactProblem bodies) {
  ContactProblem problem;
  problem.form = ContactProblem::Form::assembled;
  problem.dt = bodies.dt;
  problem.gravity = bodies.gravity;
  problem.r = bodies.r;
  problem.mu = bodies.mu;
  problem.reference = bodies.reference;
  const std::size_t n = bodies.contacts();
  problem.delassus.row_offsets.push_back(0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double block[9] = {};
      bool coupled = false;
      for (int side_i = 0; side_i < 2; ++side_i) {
        for (int side_j = 0; side_j < 2; ++side_j) {
          const std::int32_t body = bodies.contact_bodies[2 * i + side_i];
          if (body < 0 || body != bodies.contact_bodies[2 * j + side_j]) continue;
          coupled = true;
          const double weight = (side_i == side_j ? 1 : -1) * bodies.inverse_mass[body];
          for (int row = 0; row < 3; ++row) {
            for (int column = 0; column < 3; ++column) {
              for (int k = 0; k < 3; ++k) {
                block[3 * row + column] += weight * bodies.frame[9 * i + 3 * row + k] *
                                           bodies.frame[9 * j + 3 * column + k];
              }
            }
          }
        }
      }
      if (!coupled) continue;
      problem.delassus.columns.push_back(static_cast<std::int32_t>(j));
      problem.delassus.blocks.insert(problem.delassus.blocks.end(), block, block + 9);
    }
    problem.delassus.row_offsets.push_back(
        static_cast<std::int64_t>(problem.delassus.columns.size()));
  }
  return problem;
}

}  // namespace

const std::vector<HandScene>& hand_scenes() {
  static const std::vector<HandScene> table = {
      {"resting-block", "a block at rest on the ground", resting_block},
      {"sliding-block", "a block sliding at 1 m/s, mu = 0.5", sliding_block},
      {"slope-at-friction-angle", "a block that just holds on a slope, mu = tan = 0.75",
       [] {
         return slope(0.75, {0.16, -0.12, 0});
       }},
      {"slope-beyond-friction-angle", "a block that slips on a slope, mu = 0.5 < tan",
       [] {
         return slope(0.5, {0.176, -0.088, 0});
       }},
      {"frictionless-slope", "a block on a slope, mu = 0",
       [] {
         return slope(0, {0.16, 0, 0});
       }},
      {"stack", "three blocks of 1, 2 and 4 kg",
       [] {
         return stack({1, 2, 4}, {0.4, 0.4, 0.4});
       }},
      {"mass-ratio-stack", "1000 kg on 1 kg",
       [] {
         return stack({1, 1000}, {0.4, 0.4});
       }},
      {"mixed-friction-stack", "three blocks, mu = 0.6, 0 and 0.1",
       [] {
         return stack({1, 1, 1}, {0.6, 0, 0.1});
       }},
      {"hyperstatic-table", "a rotating body on four legs", hyperstatic_table},
      {"duplicate-contacts", "one contact given twice", duplicate_contacts},
      {"zero-contacts", "a free body", zero_contacts},
      {"separating-spheres", "two spheres moving apart", separating_spheres},
      {"head-on-collision", "spheres of 1 and 3 kg meeting at 2 m/s", head_on_collision},
      {"frictionless-v-groove", "a sphere between two frictionless walls at 45 degrees",
       [] { return v_groove(0); }},
      {"v-groove", "a sphere between two rough walls at 45 degrees", [] { return v_groove(0.5); }},
      {"assembled-stack", "the stack with N assembled",
       [] {
         return assembled(stack({1, 2, 4}, {0.4, 0.4, 0.4}));
       }},
  };
  return table;
}

ContactProblem make_scene(const std::string& name) {
  std::vector<std::string> names;
  for (const HandScene& scene : hand_scenes()) {
    names.emplace_back(scene.name);
    if (name != scene.name) continue;
    ContactProblem problem = scene.build();
    problem.name = name;
    problem.source.kind = "generated";
    problem.source.description = scene.summary;
    problem.source.generator = "ccpbench generate scene " + name;
    problem.source.licence = "BSD-3-Clause";
    return problem;
  }
  throw InputError(fmt::format("unknown scene '{}'{} (`ccpbench list scenes` shows all)", name,
                               did_you_mean(name, names)));
}

}  // namespace ccp
