// Joints: rows against finite differences, what cannot be, and springs as rows with compliance.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "problems/dynamics/joint_rows.hpp"
#include "problems/dynamics/stepper_table.hpp"
#include "problems/model/constraint_math.hpp"
#include "problems/model/impulses.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// Two boxes and an obstacle that turns, all askew; body 1 moves and turns.
Bodies two_boxes() {
  Bodies bodies;
  for (const double mass : {1.0, 2.0}) {
    bodies.add({"box", {0.1, 0.2, 0.3}}, BodyKind::rigid, mass, {mass, 2 * mass, 2.5 * mass});
  }
  const Quaternion q = normalized({0.9, 0.1, -0.3, 0.2}), p = normalized({0.7, 0.5, 0.1, -0.2});
  bodies.orientation = {q.w, q.x, q.y, q.z, p.w, p.x, p.y, p.z};
  bodies.position = {0.1, -0.2, 0.3, 1, 0.5, -0.4};
  bodies.velocity = {0.3, -1, 0.5, -0.2, 0.7, 0.4};
  bodies.angular_velocity = {1, -0.5, 0.3, -0.7, 0.2, 1.1};
  Obstacle turning{{"plane", {}}, {{3, 0, 0}, {}}, {}, {}};
  turning.motion = [](double t) { return Pose{{3, 0.5 * t, 0}, rotation({0, 0, 0.4 * t})}; };
  bodies.obstacles.push_back(turning);
  return bodies;
}

Joint joint_of(JointKind kind, JointSide a, JointSide b) {
  Joint joint;
  joint.kind = kind;
  joint.a = a;
  joint.b = b;
  return joint;
}
JointSide body(int number) {
  JointSide side;
  side.body = number;
  return side;
}
JointSide obstacle(int number) {
  JointSide side;
  side.obstacle = number;
  return side;
}

/// Gauss-Seidel on the rows of joints; there are no contacts.
class JointSolver : public StepSolver {
 public:
  void solve(const ContactProblem& p, const StepAccuracy&, std::vector<double>& gamma) override {
    REQUIRE(p.contacts() == 0);
    const std::size_t size = gamma.size();
    std::vector<std::vector<double>> columns;
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<double> unit(size, 0.0);
      unit[i] = 1;
      columns.push_back(rates(p, body_velocity_changes(p, unit)));
      if (!p.equality.compliance.empty()) columns[i][i] += p.equality.compliance[i];
    }
    for (int sweep = 0; sweep < 2000; ++sweep) {
      for (std::size_t i = 0; i < size; ++i) {
        if (!(columns[i][i] > 0)) continue;
        double u = p.equality.r[i];
        for (std::size_t j = 0; j < size; ++j) u += columns[j][i] * gamma[j];
        gamma[i] -= u / columns[i][i];
      }
    }
  }

 private:
  static std::vector<double> rates(const ContactProblem& p, const std::vector<double>& v) {
    std::vector<double> u(3 * p.equality.size(), 0.0);
    for (std::size_t row = 0; row < u.size(); ++row) {
      for (std::size_t side = 0; side < 2; ++side) {
        const std::int32_t i = p.equality.bodies[2 * (row / 3) + side];
        const auto& jacobian = side == 0 ? p.equality.jacobian_a : p.equality.jacobian_b;
        for (std::size_t k = 0; i >= 0 && k < 6; ++k) {
          u[row] += jacobian[6 * row + k] * v[6 * static_cast<std::size_t>(i) + k];
        }
      }
    }
    return u;
  }
};

std::vector<double> all_theta(const Bodies& bodies) {
  std::vector<double> all;
  for (const JointRows& rows : joint_rows(bodies)) {
    all.insert(all.end(), rows.theta.begin(), rows.theta.begin() + rows.rows);
  }
  return all;
}

}  // namespace

//  Both sides move; what Theta changes in a short time is J v, and what obstacles add.
TEST_CASE("rows of joints are the rates of what they hold") {
  for (const JointKind kind : {JointKind::ball, JointKind::hinge, JointKind::slider,
                               JointKind::distance, JointKind::spring}) {
    for (const bool to_obstacle : {false, true}) {
      INFO(to_string(kind) << (to_obstacle ? " to the obstacle" : ""));
      Bodies bodies = two_boxes();
      bodies.time = 1;
      Joint joint = joint_of(kind, to_obstacle ? obstacle(0) : body(0), body(1));
      joint.stiffness = 1;
      // Open by some 0.1 m.
      add_joint(bodies, joint, {0.4, 0.2, 0.1}, {0.5, 0.25, 0.05}, {0.2, 0.9, -0.4});
      const double length = bodies.joints[0].length;
      constexpr double h = 1e-6;
      Bodies before = bodies, after = bodies;
      before.time = 1 - h, after.time = 1 - h;
      drift(before, -h);  // its time is 1 - 2 h
      drift(after, h);
      before.time = 1 - h, after.time = 1 + h;
      const std::vector<double> low = all_theta(before), high = all_theta(after);
      StepModel model;
      model.gravity = {};
      const PosedStep posed = pose_step(bodies, {}, velocities_of(bodies), model, 1 - h, 2 * h);
      const std::vector<Vec3> rates = joint_rates(posed, bodies);
      std::size_t at = 0;
      for (std::size_t k = 0; k < rates.size(); ++k) {
        const double rate[3] = {rates[k].x, rates[k].y, rates[k].z};
        for (std::int32_t row = 0; row < posed.problem.equality.rows[k]; ++row, ++at) {
          CHECK(rate[row] == Approx((high[at] - low[at]) / (2 * h)).margin(2e-8));
        }
      }
      CHECK(at == low.size());
      if (kind == JointKind::distance) CHECK(length == Approx(std::sqrt(0.015)));
    }
  }
}

//  |--/\/\--[1 kg]   against the solution with the matrix 1 + h c + h^2 k
TEST_CASE("a spring is a linearly implicit force, in every scheme") {
  constexpr double k = 1e6, c = 1e3, h = 0.05, mass = 2, stretch = 0.01, speed = 0.3;
  for (const char* scheme : {"shake", "relaxation[stabilised=false]", "moreau", "rattle"}) {
    INFO(scheme);
    Bodies bodies;
    bodies.add({"sphere", {0.1}}, BodyKind::non_rotating, mass, {1, 1, 1});
    bodies.position = {1 + stretch, 0, 0};
    bodies.velocity = {speed, 0, 0};
    Joint spring = joint_of(JointKind::spring, {}, body(0));
    spring.length = 1;
    spring.stiffness = k;
    spring.damping = c;
    add_joint(bodies, spring, {}, {1 + stretch, 0, 0});
    StepModel model;
    model.dt = h;
    model.gravity = {};
    const bool midpoint = std::string(scheme) == "moreau";
    // m (v - speed) = -h (k (s + a h v) + c v), where s is the stretch that the scheme looks at.
    const double s = midpoint ? stretch + h / 2 * speed : stretch, a = midpoint ? 0.5 : 1;
    const double v = (mass * speed - h * k * s) / (mass + h * c + a * h * h * k);
    JointSolver solver;
    make_stepper(scheme, model)->step(bodies, solver, {});
    CHECK(bodies.velocity[0] == Approx(v).epsilon(1e-12));
  }
}

TEST_CASE("a motor turns as fast as it is told, and what it takes does not depend on the scheme") {
  for (const char* scheme : {"shake", "moreau", "rattle"}) {
    INFO(scheme);
    Bodies bodies;
    bodies.add({"box", {0.1, 0.2, 0.3}}, BodyKind::rigid, 1, {1, 2, 3});
    add_joint(bodies, joint_of(JointKind::hinge, {}, body(0)), {}, {}, {0, 0, 1});
    Joint motor = joint_of(JointKind::motor, {}, body(0));
    motor.speed = 2;
    add_joint(bodies, motor, {}, {}, {0, 0, 1});
    check_joints(bodies, "test");
    StepModel model;
    model.gravity = {};
    JointSolver solver;
    const auto stepper = make_stepper(scheme, model);
    for (int step = 0; step < 100; ++step) stepper->step(bodies, solver, {});
    CHECK(bodies.angular_velocity[2] == Approx(2));
    CHECK(rotation_vector(bodies.turned(0)).z == Approx(2).epsilon(0.011));
    CHECK(joint_error(bodies) < 1e-9);
  }
}

TEST_CASE("bodies that a joint holds together do not touch, unless they shall") {
  Bodies bodies;
  for (int i = 0; i < 2; ++i) {
    bodies.add({"rod", {0.5}}, BodyKind::planar, 1, {0.1, 0.1, 0.1});  // rods have no pair
    bodies.position[3 * static_cast<std::size_t>(i)] = 0.5 + i;
  }
  CHECK_THROWS_AS(find_body_contacts(bodies, 0.1, 0), InputError);
  add_joint(bodies, joint_of(JointKind::ball, body(0), body(1)), {1, 0, 0}, {1, 0, 0});
  CHECK(find_body_contacts(bodies, 0.1, 0).empty());
  for (Shape& shape : bodies.shape) shape = {"sphere", {0.6}};
  CHECK(find_body_contacts(bodies, 0, 0).empty());
  bodies.joints[0].collide = true;
  CHECK(find_body_contacts(bodies, 0, 0).size() == 1);
}

TEST_CASE("joints that cannot be are refused, with the joint and what is wrong") {
  const auto refusal = [](const std::vector<Joint>& joints, const auto& change) {
    return error_of([&] {
      Bodies bodies = two_boxes();
      for (const Joint& joint : joints) {
        add_joint(bodies, joint, {0.4, 0, 0}, {0.4, 0, 0}, {0, 0, 1});
      }
      change(bodies);
      check_joints(bodies, "scene x");
    });
  };
  const auto as_is = [](Bodies&) {};
  const auto ball = joint_of(JointKind::ball, body(0), body(1));
  check_parts(refusal({joint_of(JointKind::ball, {}, obstacle(0))}, as_is),
              {"scene x", "joint 0 (ball)", "a body that can move", "none"});
  check_parts(refusal({joint_of(JointKind::hinge, body(1), body(1))}, as_is),
              {"joint 0 (hinge)", "two different bodies", "body 1"});
  check_parts(refusal({joint_of(JointKind::hinge, body(1), body(2))}, as_is),
              {"one of 2 bodies", "body 2"});
  check_parts(refusal({ball}, [](Bodies& bodies) { bodies.joints[0].b = obstacle(3); }),
              {"scene x", "joint 0 (ball)", "obstacles", "obstacle 3"});
  check_parts(refusal({ball, joint_of(JointKind::hinge, body(1), body(0))}, as_is),
              {"joint 1 (hinge)", "do not overlap", "joint 0 holds"});
  check_parts(refusal({joint_of(JointKind::slider, body(0), body(1)),
                       joint_of(JointKind::motor, body(0), body(1))},
                      as_is),
              {"joint 1 (motor)", "do not overlap", "joint 0 holds"});
  check_parts(refusal({joint_of(JointKind::hinge, {}, body(0))},
                      [](Bodies& bodies) { bodies.kind[0] = BodyKind::non_rotating; }),
              {"joint 0 (hinge)", "bodies that can turn"});
  check_parts(refusal({joint_of(JointKind::distance, {}, body(0))}, as_is),
              {"joint 0 (distance)", "a length > 0 m", "0 m"});
  check_parts(refusal({ball},
                      [](Bodies& bodies) {
                        bodies.joints[0].b.axis = {0, 0, 2};
                      }),
              {"an axis of length 1", "2"});
  Joint spring = joint_of(JointKind::spring, {}, body(0));
  spring.length = 1;
  check_parts(refusal({spring}, as_is), {"joint 0 (spring)", "a stiffness", "0 N/m"});
  Bodies bodies = two_boxes();
  add_joint(bodies, ball, {0.4, 0, 0}, {0.4, 0, 0});
  add_joint(bodies, joint_of(JointKind::motor, body(0), body(1)), {}, {}, {0, 0, 1});
  CHECK_NOTHROW(check_joints(bodies, "scene x"));
  CHECK_NOTHROW(bodies.check("scene x"));
  bodies.shape[1].size[2] = 0;
  check_parts(error_of([&] { bodies.check("scene x"); }), {"body 1", "box", "a length > 0 m"});
}
