#pragma once

#include <string>
#include <vector>

#include "problems/formats/trajectory_file.hpp"
#include "problems/formats/vtk.hpp"

namespace ccp {

/// Writes the frames of a trajectory for ParaView: PREFIX.pvd, a time series that refers to
/// PREFIX-0000.vtp, PREFIX-0001.vtp, ... with the surfaces of all bodies where they are; on every
/// point body, velocity and angular_velocity (m/s, rad/s) and speed. Spheres, ellipsoids and
/// ellipses are triangulated as options.detail says (-1: centres only), rods are thin; bodies of
/// other shapes are boxes of their sizes. Obstacles are not drawn.
/// @return the files
/// @throws InputError if a file is there already (unless options.overwrite) or cannot be written
std::vector<std::string> export_vtk_series(const std::string& prefix, const Trajectory& trajectory,
                                           const VtkOptions& options);

}  // namespace ccp
