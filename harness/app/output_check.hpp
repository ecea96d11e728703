#pragma once

#include <string>
#include <vector>

namespace ccp::app {

/// The files of places (FILE#3), for check_output_path().
std::vector<std::string> files_of(const std::vector<std::string>& places);

/// check_output_path() for a command that reads `inputs`: places, and any other texts.
/// @throws InputError
void check_output(const std::string& path, bool force, const std::vector<std::string>& inputs);

/// @throws InputError if two outputs of one command are the same file
void check_two_outputs(const std::string& a, const std::string& b);

}  // namespace ccp::app
