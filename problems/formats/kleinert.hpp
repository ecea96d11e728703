#pragma once

#include <memory>
#include <string>

#include "problems/formats/importer.hpp"
#include "problems/geometry/sphere_contacts.hpp"

namespace ccp {

/// Particle states of Kleinert's benchmark collection: VTK unstructured grid (.vtu), ASCII, with
/// point arrays `radius` [m] and `mass` [kg]; positions in m; velocities zero where the file has no
/// `velocity` array.
/// @throws InputError naming the file and the element that is missing, of the wrong length or not
///         numeric; also for binary or compressed VTK
Spheres read_kleinert(const std::string& path);

/// The potential contacts of Kleinert 2017 Sect. 5: the `contacts` pairs of smallest gap; 0 = as
/// many as the papers have for 2048, 5040 and 10192 particles (8378, 21050, 43409), and for any
/// other number all pairs closer than 0.666 mean radii, the cutoff those three share.
ContactProblem import_kleinert(const std::string& path, std::size_t contacts,
                               const SphereModel& model, const HeavySpheres& heavy = {});

/// The row of the table: import_kleinert().
std::unique_ptr<Importer> kleinert_importer();

}  // namespace ccp
