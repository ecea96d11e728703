#pragma once

#include <stdexcept>
#include <string>

namespace ccp {

/// Bad input: a file, an option or a study that cannot be used. The message reads
/// "WHERE: PLACE: expected X, found Y"; the program prints it and exits with code 1.
///
/// Numerical trouble is never reported this way: it is a Status in a solver's Info.
class InputError : public std::runtime_error {
 public:
  /// @param where    file (or "--option") the fault is in
  /// @param place    dataset, field or line inside it; may be empty
  /// @param expected what would have been right
  /// @param found    what is there instead
  InputError(const std::string& where, const std::string& place, const std::string& expected,
             const std::string& found);
  explicit InputError(const std::string& message) : std::runtime_error(message) {}
};

/// Up to the first line end: other libraries' messages may go on for pages.
std::string first_line(const std::string& message);

/// The element of `known` most like `word` as ", did you mean 'x'?", or "" when none is close.
template <class Strings>
std::string did_you_mean(const std::string& word, const Strings& known);

/// Number of insertions, deletions, substitutions and swaps of neighbours that turn a into b.
std::size_t edit_distance(const std::string& a, const std::string& b);

template <class Strings>
std::string did_you_mean(const std::string& word, const Strings& known) {
  std::string best;
  std::size_t best_distance = word.size() / 2 + 1;
  for (const auto& candidate : known) {
    const std::string name(candidate);
    const std::size_t distance = edit_distance(word, name);
    if (distance < best_distance || (best.empty() && name.rfind(word, 0) == 0 && !word.empty())) {
      best_distance = distance;
      best = name;
    }
  }
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

/// Whether there is a file (or folder) of that name: no, too, where it cannot be a name at all.
bool path_exists(const std::string& path);
bool is_regular_file(const std::string& path);

}  // namespace ccp
