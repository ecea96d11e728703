#pragma once

#include <string>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// The newest version of the file schema that this library reads, all versions from 1 on, and
/// writes; see docs/problem-format.md.
inline constexpr int problem_schema_version = 3;
/// What a problem is written as, so that older readers overlook nothing: 3 where rolling triples
/// say how many rows they have, else 2 with rolling resistance or equality constraints, else 1.
int schema_version_of(const ContactProblem& problem);

class Hdf5File;

/// Reads and fully validates a problem file, or a step of a sequence file ("seq.h5#12").
/// @throws InputError naming file, dataset, expected and found: missing or damaged file, other
///         format or newer version, wrong shape, index out of range, NaN, negative mass or mu,
///         frame not orthonormal, content that does not match its hash
ContactProblem read_problem(const std::string& path);

/// The file of a problem, with the step's group entered for a step of a sequence. @throws
/// InputError
Hdf5File open_problem(const std::string& path);
/// What a problem file says beside its arrays: name, form, time step, gravity, source.
/// @throws InputError if it is no problem file, or of a version that is not known
ContactProblem read_problem_head(const Hdf5File& file);
/// The hash of the content, as the file has it. @throws InputError if it has none
std::string stored_hash(const Hdf5File& file);

/// Whether the problem at `path` has a reference solution. @throws InputError if there is no file
bool has_reference(const std::string& path);

/// Writes a problem (validated first) under its final name only when it is complete.
/// @throws InputError if the problem is invalid, or the file exists and `overwrite` is false
void write_problem(const std::string& path, const ContactProblem& problem, bool overwrite);

/// Writes a valid problem into the open group of a file (Hdf5File::enter), which is made if it is
/// not there.
void put_problem(Hdf5File& file, const ContactProblem& problem);

}  // namespace ccp
