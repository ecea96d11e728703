#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ccp::app {

/// Why words that do not parse are none of `app`'s: the first command or option that it does not
/// know, with the nearest one that it does, or the commands to choose from where one is missing;
/// else what the parser says.
std::string usage_fault(const CLI::App& app, const std::vector<std::string>& words,
                        const CLI::ParseError& fault);

}  // namespace ccp::app
