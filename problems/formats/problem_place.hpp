#pragma once

#include <string>
#include <vector>

namespace ccp {

/// Version of the schema of sequence files; see docs/sequence-format.md.
inline constexpr int sequence_schema_version = 1;
/// The root attribute `format` of such files.
inline constexpr const char* sequence_format = "ccpbench-sequence";

/// A problem as users name it: a file or catalogue name, and for a sequence the step or steps of
/// it.
struct ProblemPlace {
  std::string file;   ///< "seq.h5"
  std::string steps;  ///< "" (all of a sequence), "#3" or "#3..10"
};
/// Takes "seq.h5#3" apart; what does not end in #NUMBER or #NUMBER..NUMBER is a file as a whole.
ProblemPlace split_place(const std::string& place);

class Hdf5File;

/// What a message says that it found where the root attribute `format` should be another one.
std::string found_format(const Hdf5File& file);

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

/// A step as users name it: PATH#12.
std::string step_place(const std::string& path, std::size_t step);

}  // namespace ccp
