#pragma once

#include <string>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// Version of the schema of sequence files; see docs/sequence-format.md.
inline constexpr int sequence_schema_version = 1;

/// A problem as users name it: a file or catalogue name, and for a sequence the step or steps of
/// it.
struct ProblemPlace {
  std::string file;   ///< "seq.h5"
  std::string steps;  ///< "" (all of a sequence), "#3" or "#3..10"
};
/// Takes "seq.h5#3" apart; what does not end in #NUMBER or #NUMBER..NUMBER is a file as a whole.
ProblemPlace split_place(const std::string& place);

/// Writes consecutive time steps of one scene to one file, each laid out like a problem file.
/// @param name  of the sequence; the steps have names of their own
/// @throws InputError for an invalid step, steps that contradict each other (check_sequence), no
///         steps at all, or if the file exists and `overwrite` is false
void write_sequence(const std::string& path, const std::string& name,
                    const std::vector<ContactProblem>& steps, bool overwrite);

/// Whether there is an HDF5 file with a sequence at `path`.
bool is_sequence(const std::string& path);

/// The name of a sequence, and how many steps it has. @throws InputError
struct SequenceSummary {
  std::string name;
  std::size_t steps = 0;
};
SequenceSummary read_sequence_summary(const std::string& path);

/// What read_problem takes, for every problem meant by `place`: the steps of a sequence ("seq.h5",
/// "seq.h5#3", "seq.h5#3..10") one by one, any other file as it is.
/// @throws InputError for steps that the sequence does not have, or steps of a file that is none
std::vector<std::string> steps_of(const std::string& place);

/// The group of a step within the file: /steps/0012.
std::string step_group(std::size_t step);

/// Reads and checks all of a sequence: every step as read_problem does, with identities for its
/// contacts; a number names the same two bodies, the same way round, in all steps; all steps have
/// the same form, number of bodies and time step; no two have the same name.
/// @throws InputError naming file, step, expected and found
SequenceSummary check_sequence(const std::string& path);

}  // namespace ccp
