#pragma once

#include <string>

#include "problems/formats/fclib/mass_form.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp {

/// Writes a problem as an FCLIB file (HDF5), which libfclib reads: bodies form as a global problem
/// with f = 0 and w = r, and with G and b where there are equality constraints; assembled form as a
/// local one, whose W has the compliance of contacts in it; rolling triples of two rows make it a
/// global problem with rolling friction, which libfclib reads in versions after 3.1. A reference
/// becomes the first guess, not the solution: that is of Coulomb's law in FCLIB. See docs/fclib.md.
/// @param local      bodies form as a local problem, too
/// @param factorise  for that
/// @throws InputError if the file exists (and `overwrite` is false), cannot be written, is larger
///         than FCLIB's 32-bit indices, if bodies have no finite mass or inertia, or for what FCLIB
///         cannot say: a moment about the normal, and compliance beside masses
void export_fclib(const std::string& path, const ContactProblem& problem, bool local,
                  const MassFactoriser& factorise, bool overwrite);

}  // namespace ccp
