#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ccp::app {

/// Kinds of things that have names: solvers, preconditioners, measures, problems, ...
const std::vector<std::string>& kinds();

/// The names of a kind. @throws InputError if the catalogue is not there
std::vector<std::string> names_of(const std::string& kind);

}  // namespace ccp::app
