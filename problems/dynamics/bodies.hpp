#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "problems/base/quaternion.hpp"
#include "problems/dynamics/joint.hpp"
#include "problems/dynamics/pseudo_rigid.hpp"
#include "problems/geometry/shapes.hpp"
#include "problems/geometry/spheres.hpp"

namespace ccp {

/// How a body may move.
enum class BodyKind {
  rigid,         ///< six degrees of freedom
  non_rotating,  ///< three: impulses do not turn it
  planar,        ///< three: along x and z, and about y
  wall,          ///< one: a servo wall, which slides along an axis; gravity does not act on it
  pseudo_rigid,  ///< twelve: a point Y of its own axes is at x + F Y (pseudo_rigid.hpp)
};

/// An obstacle: no impulse moves it. It is fixed, or its motion is prescribed.
struct Obstacle {
  Shape shape;
  Pose pose;  ///< where it is; of one that moves, at time zero
  /// Where it is at a time, s; empty: fixed
  std::function<Pose(double time)> motion;
  /// m/s, of its surface on top of the motion: a conveyor belt
  Vec3 belt;
  /// Friction coefficient; that of a contact is the smaller one of its two sides
  double mu = std::numeric_limits<double>::infinity();
  /// Coefficient of rolling resistance; that of a contact is the smaller one of its two sides
  double rolling = std::numeric_limits<double>::infinity();

  Pose at(double time) const { return motion ? motion(time) : pose; }
};

/// The state that a time step begins and ends with: bodies that move, obstacles that are moved, and
/// the time. Flat arrays of m bodies, SI units, world axes.
struct Bodies {
  std::vector<double> position;          ///< [m][3] m
  std::vector<double> orientation;       ///< [m][4] unit quaternion w, x, y, z
  std::vector<double> velocity;          ///< [m][3] m/s
  std::vector<double> angular_velocity;  ///< [m][3] rad/s
  std::vector<double> mass;              ///< [m] kg
  std::vector<double> inertia;           ///< [m][3] kg m^2, about the body's own axes
  std::vector<double> mu;                ///< [m] friction coefficients, see Obstacle::mu
  std::vector<double> rolling;           ///< [m] of rolling resistance, see Obstacle::rolling
  std::vector<Shape> shape;              ///< [m]
  std::vector<BodyKind> kind;            ///< [m]
  std::vector<double> axis;              ///< [m][3] unit, of walls; zero for other bodies
  // Of pseudo-rigid bodies; all three are empty where there are none. Their orientation and angular
  // velocity are those of F and dF/dt, see follow_deformation().
  std::vector<double> deformation;       ///< [m][9] F by rows, from own to world axes
  std::vector<double> deformation_rate;  ///< [m][9] 1/s, dF/dt
  std::vector<Elasticity> elastic;       ///< [m]
  std::vector<Obstacle> obstacles;
  std::vector<Joint> joints;  ///< see joint_rows.hpp
  double time = 0;            ///< s

  std::size_t count() const { return mass.size(); }
  /// Whether an impulse can turn one of them.
  bool rotate() const;
  Vec3 placed_at(std::size_t i) const {
    return {position[3 * i], position[3 * i + 1], position[3 * i + 2]};
  }
  Quaternion turned(std::size_t i) const {
    return {orientation[4 * i], orientation[4 * i + 1], orientation[4 * i + 2],
            orientation[4 * i + 3]};
  }
  void turn(std::size_t i, const Quaternion& q);
  bool deforms() const { return !elastic.empty(); }
  bool deforms(std::size_t i) const { return kind[i] == BodyKind::pseudo_rigid; }
  Mat3 deformation_of(std::size_t i) const { return matrix(deformation, i); }
  Mat3 deformation_rate_of(std::size_t i) const { return matrix(deformation_rate, i); }
  /// Matrix i of a flat array [..][9].
  static Mat3 matrix(const std::vector<double>& array, std::size_t i);
  static void set_matrix(std::vector<double>& array, std::size_t i, const Mat3& a);
  /// The shape that body i has at present and how that is turned: its own, or what F makes of it.
  DeformedShape shape_now(std::size_t i) const;
  /// Body i as a shape in the world.
  PlacedShape placed(std::size_t i) const;

  /// Adds a body at rest, at the origin. @param inertia  about its own axes, kg m^2
  /// @return its number
  std::size_t add(const Shape& shape, BodyKind kind, double mass, const Vec3& inertia);
  /// Adds a wall that slides along a unit vector.
  std::size_t add_wall(const Shape& shape, double mass, const Vec3& axis);

  /// Makes body i, which is an ellipsoid or a sphere, pseudo-rigid, without strain where and as it
  /// is: after its mass, orientation and velocities.
  /// @param young, poisson, damping  see elasticity_of()
  /// @throws InputError for another shape, and a material that cannot be
  void make_pseudo_rigid(std::size_t i, double young, double poisson, double damping);
  /// Orientation and angular velocity of body i out of its F and dF/dt: the rotation of the polar
  /// decomposition, and the skew part of dF/dt F^-1.
  /// @throws InputError if F turns the body inside out
  void follow_deformation(std::size_t i);

  /// Bodies that are all spheres, as such. @throws InputError if there is another shape
  Spheres spheres() const;

  /// Checks shapes, signs and quaternions; of joints there is check_joints(). @throws InputError
  /// naming the body or obstacle
  void check(const std::string& where) const;
};

/// Spheres that do not rotate, or do, about any axis (solid: 2/5 m radius^2).
Bodies sphere_bodies(const Spheres& spheres, bool rotate);

/// I^-1 or I of body i in world axes times a vector: of a planar body only what is about y, zero of
/// bodies that do not rotate. @param orientation  it is turned by
Vec3 spin_from(const Bodies& bodies, std::size_t i, const Quaternion& orientation,
               const Vec3& momentum);
Vec3 momentum_from(const Bodies& bodies, std::size_t i, const Quaternion& orientation,
                   const Vec3& spin);

/// How an obstacle moves in a step: the velocity of the point of it that is at x.
struct ObstacleMotion {
  Vec3 centre, velocity, spin;  ///< m, m/s, rad/s
  Vec3 at(const Vec3& x) const { return velocity + cross(spin, x - centre); }
};

/// The mean motion over [from, from + dt]; what it says is where the obstacle is at the end.
/// @throws InputError for a motion that jumps or is not finite, with obstacle and time
ObstacleMotion obstacle_motion(const Bodies& bodies, std::size_t obstacle, double from, double dt);

}  // namespace ccp
