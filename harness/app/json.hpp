#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ccp::app {

/// As text on one line, or indented; bytes that are not UTF-8 become U+FFFD.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

/// Prints it, indented.
void print_json(const nlohmann::ordered_json& value);

/// JSON has no NaN and no infinities.
nlohmann::ordered_json number_or_null(double value);

}  // namespace ccp::app
