#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "problems/base/hdf5_file.hpp"
#include "problems/base/spilled_array.hpp"

namespace ccp {

/// Version of the file schema of trajectories; see docs/trajectory-format.md.
inline constexpr int trajectory_version = 1;
inline constexpr const char* trajectory_format = "ccpbench-trajectory";

/// A simulation: what every step was like, and where the bodies were after every k-th. Flat arrays,
/// SI units, world axes.
struct Trajectory {
  std::string scene, options;  ///< id; name=value,... of all of its options
  std::string stepper, solver;
  std::vector<std::pair<std::string, std::string>> provenance;

  // [steps], of the step or at its end.
  std::vector<double> time;  ///< s
  std::vector<std::int64_t> contacts, outer, krylov;
  std::vector<std::string> status;  ///< of the solver; the worst one of a step with several solves
  std::vector<double> solver_time;  ///< s, off the clock of everything else
  std::vector<double>
      residual;  ///< of the solver's law by the referee, the worst; 0 without contacts
  std::vector<double> penetration;         ///< m, the deepest at the start of the step
  std::vector<double> kinetic, potential;  ///< J
  std::vector<double> joint_error;  ///< max |Theta| at the end, m, rad or 1; empty without joints
  std::size_t obstacles = 0;
  std::vector<double> obstacle_force;  ///< [steps][obstacles][3] N, mean over the step

  // Residuals by kind of row, one entry for each outer iteration of the steps asked for
  // (problems/model/row_residuals.hpp); empty where nobody asked.
  std::vector<std::int64_t> row_step, row_solve,
      row_outer;  ///< number of the step, of its solve, and iterations made
  std::vector<double> row_normal, row_tangential, row_rolling, row_equality;

  // Frames of m bodies; the first one is the start.
  std::size_t bodies = 0;
  std::vector<std::int64_t> frame_step;  ///< steps made
  std::vector<double> position;          ///< [frames][m][3] m
  std::vector<double> orientation;       ///< [frames][m][4] unit quaternion w, x, y, z
  std::vector<double> velocity;          ///< [frames][m][6] m/s and rad/s
  bool deforms = false;  ///< whether some are pseudo-rigid, of which there is F and its rate
  std::vector<double> deformation;       ///< [frames][m][3][3] F; zero of other bodies
  std::vector<double> deformation_rate;  ///< [frames][m][3][3] dF/dt, 1/s

  // Shapes of bodies and obstacles, as in problems/geometry/shapes.hpp.
  std::vector<std::string> body_shape, obstacle_shape;  ///< kinds
  std::vector<double> body_size, obstacle_size;         ///< [..][3] m

  std::size_t steps() const { return time.size(); }
  std::size_t frames() const { return frame_step.size(); }
  /// Of all steps; NaN if one is, 0 without steps.
  double largest_residual() const;
  double deepest_penetration() const;
  double largest_joint_error() const;
};

/// Where the bodies were in all frames, in place of the arrays of Trajectory: on disk where that is
/// much, so that a simulation takes no more memory the longer it goes on.
struct FrameArrays {
  /// @param folder  of what is on disk; "": the system's
  explicit FrameArrays(const std::string& folder = "")
      : position(folder),
        orientation(folder),
        velocity(folder),
        deformation(folder),
        deformation_rate(folder) {}

  SpilledArray position, orientation, velocity, deformation, deformation_rate;  ///< see Trajectory
};

/// @param more    writes what else the file shall hold; may be empty
/// @param frames  where the frames are; null: in the trajectory
/// @throws InputError if the file exists (and `overwrite` is false) or cannot be written
void write_trajectory(const std::string& path, const Trajectory& trajectory, bool overwrite,
                      const std::function<void(Hdf5File&)>& more = {},
                      const FrameArrays* frames = nullptr);

/// Reads and checks such a file: shapes of all arrays, ascending times and frames, unit
/// quaternions.
/// @param frames  where the frames go, behind what is there; null: into the trajectory
/// @throws InputError naming file, dataset, expected and found
Trajectory read_trajectory(const std::string& path, FrameArrays* frames = nullptr);

}  // namespace ccp
