#include "harness/app/json.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ccp::app {

using nlohmann::ordered_json;

std::string json_text(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

void print_json(const ordered_json& value) {
  fmt::print("{}\n", json_text(value, 2));
}

ordered_json number_or_null(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

}  // namespace ccp::app
