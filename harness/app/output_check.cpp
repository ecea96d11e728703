#include "harness/app/output_check.hpp"

#include <filesystem>

#include "problems/base/error.hpp"
#include "problems/base/output_file.hpp"
#include "problems/formats/sequence_file.hpp"

namespace ccp::app {
namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::vector<std::string>& places) {
  std::vector<std::string> files;
  for (const std::string& place : places) files.push_back(split_place(place).file);
  return files;
}

void check_output(const std::string& path, bool force, const std::vector<std::string>& inputs) {
  check_output_path(path, force, files_of(inputs));
}

void check_two_outputs(const std::string& a, const std::string& b) {
  const auto whole = [](const std::string& path) {  // of files that are not there yet, too
    std::error_code none;
    return fs::weakly_canonical(fs::absolute(path, none), none);
  };
  if (same_file(a, b) || whole(a) == whole(b)) {
    throw InputError(b, "", "a file of its own for the output", "that of the other output, " + a);
  }
}

}  // namespace ccp::app
