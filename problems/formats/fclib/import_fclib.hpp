#pragma once

#include <memory>
#include <string>
#include <vector>

#include "problems/formats/fclib/mass_form.hpp"
#include "problems/formats/importer.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp {

/// What form a global problem is given.
enum class FclibForm {
  automatic,  ///< bodies where M and H are those of rigid bodies, else assembled
  bodies,     ///< bodies, or an error that says why not
  assembled,  ///< condensed in any case
};

/// Which problem of a file.
enum class FclibGroup { any, local, global, rolling };

/// Reads a problem from an FCLIB file (HDF5), local or global, in three dimensions, with matrices
/// in compressed columns, compressed rows or triplets. See docs/fclib.md.
///
///     local    u = W r + q                                    N = (W + W^T)/2
///     global   M v = H r + f, u = H^T v + w                   N = H^T M^-1 H, M symmetrised
///
/// Equality constraints of a global problem of bodies become those of the problem; of a local one
/// they are eliminated, N = W - V R^-1 V^T. Rolling friction, a global problem with five unknowns
/// per contact, becomes rolling triples of two rows; it must be of rigid bodies.
///
/// @param factorise  for condensing global problems
/// @throws InputError for a file that is no such problem: planar, global with equality constraints
///         or rolling friction and not of bodies, or damaged; and for one with several problems
///         unless `group` says which
Imported import_fclib(const std::string& path, FclibForm form, const MassFactoriser& factorise,
                      FclibGroup group = FclibGroup::any);

/// The row of the table: import_fclib().
std::unique_ptr<Importer> fclib_importer();

}  // namespace ccp
