#pragma once

#include <string>
#include <vector>

namespace ccp::app {

/// Prints what a file is that is no problem: a sequence, a result, frozen systems, what precond or
/// a simulation wrote. @return false for any other format
/// @throws InputError for a file that is not as its format says
bool describe_file(const std::string& path, const std::string& format, bool json);

/// Says how a problem in bodies form would be spread over ranks, from who touches whom alone.
/// @param ranks  counts of ranks, a row each  @throws InputError
void describe_ranks(const std::string& path, const std::vector<int>& ranks, bool json);

}  // namespace ccp::app
