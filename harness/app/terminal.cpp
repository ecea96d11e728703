#include "harness/app/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ccp::app {
namespace {

/// The first letters of UTF-8 text; a letter is not cut in two.
std::string first_letters(const std::string& text, std::size_t count) {
  std::size_t end = 0;
  for (std::size_t letters = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (begins && ++letters > count) break;
  }
  return text.substr(0, end);
}

std::size_t letters_in(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

ProgressLine::ProgressLine(bool enabled) : enabled_(enabled && isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& label, const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  const std::size_t width = known ? size.ws_col - 1U : 79U;
  const std::size_t needed = letters_in(text), wanted = letters_in(label);
  std::string line = label;
  if (wanted + needed > width) {
    line = first_letters(label, width > needed + 1 ? width - needed - 1 : 0) + "…";
  }
  fmt::print(stderr, "\r\033[K{}", first_letters(line + text, width));
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

std::string grouped(long number) {
  std::string digits = std::to_string(std::labs(number));
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return number < 0 ? "-" + digits : digits;
}

std::string counted(std::size_t number, const std::string& thing) {
  const bool bodies = thing == "body";
  return fmt::format("{} {}", grouped(static_cast<long>(number)),
                     number == 1 ? thing
                     : bodies    ? "bodies"
                                 : thing + "s");
}

std::string memory_text(double bytes) {
  for (const char* unit : {"B", "kB", "MB"}) {
    if (bytes < 999.5) return fmt::format("{:.3g} {}", bytes, unit);
    bytes /= 1000;
  }
  return fmt::format("{:.3g} GB", bytes);
}

std::string duration(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  return fmt::format("{:.3g} min", seconds / 60);
}

std::string rough_duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string scientific(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.2e}", value);
}

}  // namespace ccp::app
