#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "problems/base/error.hpp"

namespace ccp {

/// One enumerator and what options, files, JSON and messages call it.
template <class Enum>
struct EnumText {
  Enum value;
  const char* text;
};

/// The texts of an enumeration: its one table, written beside it. Everything that reads or writes
/// an enumerator as text goes through it.
///
///     enum class Law { convex, coulomb };
///     template <>
///     struct EnumTable<Law> {
///       static constexpr EnumText<Law> rows[] = {{Law::convex, "convex"},
///                                                {Law::coulomb, "coulomb"}};
///     };
template <class Enum>
struct EnumTable;

template <class Enum, class = void>
inline constexpr bool has_enum_table = false;
template <class Enum>
inline constexpr bool has_enum_table<Enum, std::void_t<decltype(EnumTable<Enum>::rows)>> = true;

template <class Enum, std::enable_if_t<has_enum_table<Enum>, int> = 0>
std::string to_string(Enum value) {
  for (const auto& row : EnumTable<Enum>::rows) {
    if (row.value == value) return row.text;
  }
  return "unknown";
}

/// All enumerators, in the order of the table.
template <class Enum>
std::vector<Enum> enum_values() {
  std::vector<Enum> values;
  for (const auto& row : EnumTable<Enum>::rows) values.push_back(row.value);
  return values;
}

template <class Enum>
std::vector<std::string> texts_of(const std::vector<Enum>& values) {
  std::vector<std::string> texts;
  for (const Enum value : values) texts.push_back(to_string(value));
  return texts;
}

/// The enumerator that to_string() wrote, or nothing.
template <class Enum>
std::optional<Enum> parse_enum(const std::string& text) {
  for (const auto& row : EnumTable<Enum>::rows) {
    if (text == row.text) return row.value;
  }
  return std::nullopt;
}

/// "convex or coulomb", "one of a, b, c".
template <class Enum>
std::string allowed_texts() {
  const std::vector<std::string> texts = texts_of(enum_values<Enum>());
  if (texts.size() == 2) return texts[0] + " or " + texts[1];
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "one of " : ", ") + text;
  return list;
}

/// The enumerator of a text that must be one.
/// @param where  the file or option it is in @param place  inside it, may be empty
/// @throws InputError with the texts there are, and the nearest one
template <class Enum>
Enum read_enum(const std::string& text, const std::string& where, const std::string& place = "") {
  if (const std::optional<Enum> value = parse_enum<Enum>(text)) return *value;
  throw InputError(where, place, allowed_texts<Enum>(),
                   "'" + text + "'" + did_you_mean(text, texts_of(enum_values<Enum>())));
}

}  // namespace ccp
