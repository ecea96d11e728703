#include "problems/base/error.hpp"

#include <fmt/format.h>
#include <filesystem>

#include <algorithm>
#include <vector>

namespace ccp {

InputError::InputError(const std::string& where, const std::string& place,
                       const std::string& expected, const std::string& found)
    : std::runtime_error(
          place.empty()
              ? fmt::format("{}: expected {}, found {}", where, expected, found)
              : fmt::format("{}: {}: expected {}, found {}", where, place, expected, found)) {}

std::string first_line(const std::string& message) {
  return message.substr(0, message.find('\n'));
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return table[i * width + j];
  };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = i + j;
        continue;
      }
      at(i, j) = std::min(
          {at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return table.back();
}

bool path_exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool is_regular_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

}  // namespace ccp
