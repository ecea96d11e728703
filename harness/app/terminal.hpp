#pragma once

#include <chrono>
#include <string>

namespace ccp::app {

/// One line on the terminal that rewrites itself; silent where standard error is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows both parts, at most ten times a second; the first is shortened where it does not fit.
  void show(const std::string& label, const std::string& text = "");
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

/// "8,378"
std::string grouped(long number);
/// "8,378 contacts", "1 contact"
std::string counted(std::size_t number, const std::string& thing);
/// "54.4 kB"
std::string memory_text(double bytes);
/// Three significant digits with a unit that suits: "1.23 ms", "4.56 s", "3.1 min".
std::string duration(double seconds);
/// Whole numbers: "40 s", "41 min", "3.5 h".
std::string rough_duration(double seconds);
/// "3.1e-05", or "-" for NaN.
std::string scientific(double value);

}  // namespace ccp::app
