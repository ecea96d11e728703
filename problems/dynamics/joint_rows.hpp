#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "problems/dynamics/bodies.hpp"

namespace ccp {

/// Up to three rows of a joint, linearised where its sides are:
///     d/dt Theta = J_A (v_A, w_A) + J_B (v_B, w_B).
struct JointRows {
  std::size_t joint = 0;                              ///< its number
  std::int32_t rows = 0;                              ///< 1 to 3; what is not in use is zero
  std::array<double, 18> jacobian_a{}, jacobian_b{};  ///< [3][6]
  std::array<double, 3> theta{};  ///< m, rad or 1; of a spring its stretch, of a motor 0
  std::array<double, 3> speed{};  ///< what d/dt Theta is to be beside zero: a motor's, rad/s
};

/// The rows of all joints at bodies.time, joint by joint; one or two sets of rows for each.
std::vector<JointRows> joint_rows(const Bodies& bodies);

/// Sets of up to three rows that a joint has.
int row_sets(JointKind kind);

/// Whether Theta of that joint must be zero: all but springs and motors.
bool holds_position(const Joint& joint);

/// max |Theta| over the joints that hold positions, m, rad or 1: how far joints are from closed.
double joint_error(const Bodies& bodies);

/// J, what springs have stored.
double spring_energy(const Bodies& bodies);

/// A joint between points in the world, made for bodies as they are: sides in their own axes, the
/// length of a distance or spring (unless it is > 0 already), and the turn of a slider.
/// @param joint  with kind, sides' bodies or obstacles, and constants
/// @param axis   not zero; of both sides
/// @return its number
/// @throw InputError if a side is a body or an obstacle that there is not
std::size_t add_joint(Bodies& bodies, Joint joint, const Vec3& point_a, const Vec3& point_b,
                      const Vec3& axis = {0, 0, 1});

/// @throws InputError naming the joint: sides that are not there, twice the same or both immovable,
/// servo walls, lengths and constants out of range, rows that nothing can move, and joints of one
/// pair of bodies that hold the same motion twice
void check_joints(const Bodies& bodies, const std::string& where);

}  // namespace ccp
