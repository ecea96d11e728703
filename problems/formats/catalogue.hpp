#pragma once

#include <string>
#include <vector>

namespace ccp {

/// One frozen instance of problems/data/manifest.json.
struct CatalogueEntry {
  std::string name;     ///< what studies and the command line call it
  std::string file;     ///< full path
  std::string sha256;   ///< of the file's bytes
  std::string command;  ///< makes the file again
  std::string summary;
};

/// The instances that come with the project, from the folder in the environment variable
/// CCPBENCH_DATA_DIR or else the source tree's problems/data. @throws InputError
std::vector<CatalogueEntry> catalogue();

/// The file meant by `place`: a catalogue name, or else a path (tried below `folder` first when it
/// is relative and `folder` is not empty); steps of a sequence ("NAME#3") stay at its end.
/// @throws InputError if neither exists
std::string resolve_problem(const std::string& place, const std::string& folder = "");

}  // namespace ccp
