#pragma once

#include <string>
#include <vector>

#include "problems/generators/column.hpp"

namespace ccp {

/// Where a step starts, from "cold", "NAME" or "NAME*FACTOR"; "history[beta=B]" is previous*B, and
/// B = 0.85 where it is not given (seed 003 eq. 7).
/// @param known  names of guesses; @param where  named in the error @throws InputError
StepStart step_start(const std::string& text, const std::string& where,
                     const std::vector<std::string>& known);

}  // namespace ccp
