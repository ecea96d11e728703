#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace ccp {

/// The named options of one solver (preconditioner, scene, importer), bound to the fields of its
/// option struct; the help of an option ends in its unit.
/// One list serves the command line, studies, result files, resume keys and the documentation.
///
///     OptionList PgjSolver::options() {
///       return OptionList("pgj").number("omega", options_.omega, {0, 2}, "relaxation factor");
///     }
class OptionList {
 public:
  /// Allowed values: low <= value <= high; strictly above low or below high where that is set.
  struct Range {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool above = false, below = false;
    /// All numbers >= low.
    static Range at_least(double low) {
      return {low, std::numeric_limits<double>::infinity(), false, false};
    }
    /// All numbers > 0.
    static Range positive() { return {0, std::numeric_limits<double>::infinity(), true, false}; }
  };
  struct Entry {
    std::string name, value, allowed, help;
  };

  /// @param owner  whose options they are, for messages: "solver ipm"
  explicit OptionList(std::string owner, std::string kind = "solver")
      : owner_(std::move(kind) + " " + std::move(owner)) {}

  OptionList& number(const std::string& name, double& field, Range range, const std::string& help);
  OptionList& integer(const std::string& name, int& field, Range range, const std::string& help);
  OptionList& integer(const std::string& name, std::uint64_t& field, Range range,
                      const std::string& help);
  OptionList& flag(const std::string& name, bool& field, const std::string& help);
  OptionList& choice(const std::string& name, std::string& field,
                     const std::vector<std::string>& choices, const std::string& help);

  /// Any text.
  OptionList& text(const std::string& name, std::string& field, const std::string& help);

  /// Adds the options of somebody this one works with. A name that is there already is set in both.
  OptionList& include(const OptionList& other);

  /// @throws InputError for an unknown name, text that is not such a value, or one out of range
  void set(const std::string& name, const std::string& text);

  /// Checks the values of the fields as they are, for callers that have set them themselves.
  /// @throws InputError as set() does
  void check() const;

  bool has(const std::string& name) const;
  /// Name, current value, allowed values and help of every option, in declaration order.
  std::vector<Entry> entries() const;

 private:
  struct Option {
    std::string name, allowed, help;
    std::function<std::string()> get;
    std::function<bool(const std::string&)> set;  ///< false: not an allowed value
  };

  template <class Integer>
  OptionList& whole(const std::string& name, Integer& field, Range range, const std::string& help);
  [[noreturn]] void refuse(const Option& option, const std::string& value) const;

  std::string owner_;
  std::vector<Option> options_;
};

/// A solver with some of its options, as written in `id[name=value,...]`.
struct SolverSpec {
  std::string id;
  std::vector<std::pair<std::string, std::string>> options;

  /// @throws InputError if `text` is not of that form or names an option twice
  static SolverSpec parse(const std::string& text);
  std::string text() const;
};

/// Shortest decimal text that reads back as the same double.
std::string number_text(double value);

/// The number `text` is, all of it: for an integer a whole one. @return false if it is none
template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last;
}

/// What a message says that it found where a value should be: the first letters of the text, in
/// quotes, and whether it is a number that is too large to be held.
std::string found_value(const std::string& text);

}  // namespace ccp
