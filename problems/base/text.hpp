#pragma once

#include <string>

namespace ccp {

/// The text with U+FFFD in the place of every byte that is not part of UTF-8: names and paths of
/// files may hold any bytes, what is printed or stored for others may not.
std::string valid_utf8(const std::string& text);

}  // namespace ccp
