#pragma once

#include <string>

namespace ccp::app {

/// Prints what a file is that is no problem: a sequence, a result, frozen systems, what precond or
/// a simulation wrote. @return false for any other format
/// @throws InputError for a file that is not as its format says
bool describe_file(const std::string& path, const std::string& format, bool json);

}  // namespace ccp::app
