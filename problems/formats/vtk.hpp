#pragma once

#include <string>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// What the spheres look like.
struct VtkOptions {
  /// Subdivisions of the icosahedron that stands for a sphere: 20 * 4^detail triangles, 0 to 4;
  /// -1: centres only, for Point Gaussian or Glyph.
  int detail = 1;
  bool overwrite = false;
  std::vector<std::string> inputs;  ///< files that may not be overwritten
};

/// Writes bodies and force chains for ParaView: PREFIX.vtm, which refers to
///
///     PREFIX-bodies.vtp     triangulated spheres (points where radii are not known); on every
///                           point body, mass [kg], velocity and angular_velocity (m/s, rad/s) at
///                           the end of the step: v + dt g + M^-1 D gamma, and speed
///     PREFIX-contacts.vtp   a line from centre to centre (to the contact point of an immovable
///                           body) for every contact; on it contact, mu, gap [m], gamma [N s] in
///                           contact axes, impulse [N s] in world axes on body B, gamma_norm
///
/// @param gamma  [n][3] N s, contact axes; empty: zero, and velocities are those of the start
/// @throws InputError if positions are not known or a file cannot be written
void export_vtk(const std::string& prefix, const ContactProblem& problem,
                const std::vector<double>& gamma, const VtkOptions& options);

}  // namespace ccp
