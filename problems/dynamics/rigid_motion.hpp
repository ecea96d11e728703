#pragma once

#include <functional>
#include <vector>

#include "problems/dynamics/bodies.hpp"

namespace ccp {

/// What acts on bodies without touching them, [m][6] N and N m, world axes, added to what is there.
using Load = std::function<void(const Bodies& bodies, std::vector<double>& load)>;

/// Where bodies would go in a step if nothing touched them, from where they are.
struct FreeMotion {
  double dt = 0;                 ///< s
  std::vector<double> velocity;  ///< [m][6] m/s and rad/s, with which they would move
  std::vector<double> momentum;  ///< [m][3] N m s, about their centres, at the end
};

///     v* = v + h (g + f / m),      L* = I(Q) w + h torque,      w* = I(Q_m)^-1 L*
/// with the orientation Q_m = exp(h w / 2) Q in the middle of the step: gyroscopic terms to second
/// order in h, where v + h I^-1 (torque - w x I w) has first order and drifts off.
FreeMotion free_motion(const Bodies& bodies, const Vec3& gravity, const Load& load, double dt);

/// Ends the step that begins at `bodies`: velocities of the step v = velocity + change,
///     x += h v,      Q <- exp(h w) Q,      w <- I(Q)^-1 (L* + I(Q_before) change)
/// so that angular momentum changes by what acts, to rounding. @param change  [m][6], M^-1 D gamma
void end_motion(Bodies& bodies, const FreeMotion& free, const std::vector<double>& change);

/// Ends the second half of a step, `time` s long, of pseudo-rigid bodies: dF/dt = rates [m][9],
/// and F goes with it. Centres move with end_motion().
void end_deformation(Bodies& bodies, const std::vector<double>& rates, double time);

/// Adds M^-1 D gamma to the velocities, where the bodies are.
void add_change(Bodies& bodies, const std::vector<double>& change);

/// Moves bodies with their velocities for a time; velocities in the world stay, but I(Q) w does for
/// those that have three different moments. F of pseudo-rigid bodies goes with dF/dt.
void drift(Bodies& bodies, double time);

/// Moves bodies by shift [m][6], m and rad; their velocities stay.
void shift(Bodies& bodies, const std::vector<double>& shift);

/// m/s, of the fastest body; NaN if one has it. @param which  its number, if not null
double fastest(const Bodies& bodies, std::size_t* which = nullptr);

}  // namespace ccp
