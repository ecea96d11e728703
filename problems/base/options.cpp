#include "problems/base/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "problems/base/error.hpp"

namespace ccp {
namespace {

std::string range_text(const OptionList::Range& range) {
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  const char* low_sign = range.above ? ">" : ">=";
  const char* high_sign = range.below ? "<" : "<=";
  if (low && high) {
    return fmt::format("{} {} and {} {}", low_sign, range.low, high_sign, range.high);
  }
  if (low) return fmt::format("{} {}", low_sign, range.low);
  if (high) return fmt::format("{} {}", high_sign, range.high);
  return "any";
}

bool inside(const OptionList::Range& range, double value) {
  return std::isfinite(value) && (range.below ? value < range.high : value <= range.high) &&
         (range.above ? value > range.low : value >= range.low);
}

/// Where the item of a list ends that begins at `begin`: at the next comma outside brackets.
std::size_t end_of_item(const std::string& list, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < list.size(); ++i) {
    if (list[i] == '[') ++depth;
    if (list[i] == ']') --depth;
    if (list[i] == ',' && depth <= 0) return i;
  }
  return list.size();
}

bool valid_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-';
  });
}

}  // namespace

std::string number_text(double value) {
  return fmt::format("{}", value);
}

std::string found_value(const std::string& text) {
  constexpr std::size_t most = 40;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool number = !text.empty() && *end == '\0' && std::isdigit(text[text[0] == '-']);
  return fmt::format("'{}'{}", text.size() > most ? text.substr(0, most) + "..." : text,
                     number && std::abs(value) > 0x1p31 ? ", which is too large" : "");
}

OptionList& OptionList::number(const std::string& name, double& field, Range range,
                               const std::string& help) {
  double* target = &field;
  options_.push_back({name, "number " + range_text(range), help,
                      [target] { return number_text(*target); },
                      [target, range](const std::string& text) {
                        double value = 0;
                        if (!parse_number(text, value) || !inside(range, value)) return false;
                        *target = value;
                        return true;
                      }});
  return *this;
}

template <class Integer>
OptionList& OptionList::whole(const std::string& name, Integer& field, Range range,
                              const std::string& help) {
  Integer* target = &field;
  options_.push_back(
      {name, "integer " + range_text(range), help, [target] { return fmt::format("{}", *target); },
       [target, range](const std::string& text) {
         Integer value = 0;
         if (!parse_number(text, value) || !inside(range, static_cast<double>(value))) return false;
         *target = value;
         return true;
       }});
  return *this;
}

OptionList& OptionList::integer(const std::string& name, int& field, Range range,
                                const std::string& help) {
  return whole(name, field, range, help);
}

OptionList& OptionList::integer(const std::string& name, std::uint64_t& field, Range range,
                                const std::string& help) {
  range.low = std::max(range.low, 0.0);
  return whole(name, field, range, help);
}

OptionList& OptionList::text(const std::string& name, std::string& field, const std::string& help) {
  std::string* target = &field;
  options_.push_back({name, "text", help, [target] { return *target; },
                      [target](const std::string& text) {
                        *target = text;
                        return true;
                      }});
  return *this;
}

OptionList& OptionList::flag(const std::string& name, bool& field, const std::string& help) {
  bool* target = &field;
  options_.push_back({name, "true or false", help, [target] { return *target ? "true" : "false"; },
                      [target](const std::string& text) {
                        if (text != "true" && text != "false") return false;
                        *target = text == "true";
                        return true;
                      }});
  return *this;
}

OptionList& OptionList::choice(const std::string& name, std::string& field,
                               const std::vector<std::string>& choices, const std::string& help) {
  std::string* target = &field;
  options_.push_back({name, fmt::format("one of {}", fmt::join(choices, ", ")), help,
                      [target] { return *target; },
                      [target, choices](const std::string& text) {
                        if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
                          return false;
                        }
                        *target = text;
                        return true;
                      }});
  return *this;
}

OptionList& OptionList::include(const OptionList& other) {
  for (const Option& added : other.options_) {
    const auto same = std::find_if(options_.begin(), options_.end(),
                                   [&](const Option& own) { return own.name == added.name; });
    if (same == options_.end()) {
      options_.push_back(added);
    } else {
      same->set = [one = same->set, two = added.set](const std::string& text) {
        return one(text) && two(text);
      };
    }
  }
  return *this;
}

bool OptionList::has(const std::string& name) const {
  return std::any_of(options_.begin(), options_.end(),
                     [&](const Option& option) { return option.name == name; });
}

void OptionList::refuse(const Option& option, const std::string& value) const {
  throw InputError(owner_, fmt::format("option {}", option.name), option.allowed,
                   found_value(value));
}

void OptionList::check() const {
  for (const Option& option : options_) {
    const std::string value = option.get();
    if (!option.set(value)) refuse(option, value);
  }
}

void OptionList::set(const std::string& name, const std::string& text) {
  std::vector<std::string> names;
  for (Option& option : options_) {
    names.push_back(option.name);
    if (option.name != name) continue;
    if (!option.set(text)) refuse(option, text);
    return;
  }
  throw InputError(fmt::format("{}: unknown option '{}'{} (it has {})", owner_, name,
                               did_you_mean(name, names),
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

std::vector<OptionList::Entry> OptionList::entries() const {
  std::vector<Entry> list;
  for (const Option& option : options_) {
    list.push_back({option.name, option.get(), option.allowed, option.help});
  }
  return list;
}

SolverSpec SolverSpec::parse(const std::string& text) {
  const auto fail = [&](const std::string& found) -> InputError {
    return InputError("solver '" + text + "'", "", "id or id[name=value,...]", found);
  };
  SolverSpec spec;
  const std::size_t open = text.find('[');
  spec.id = text.substr(0, open);
  if (!valid_name(spec.id)) throw fail("no solver name");
  if (open == std::string::npos) return spec;
  if (text.back() != ']') throw fail("no closing ]");
  const std::string list = text.substr(open + 1, text.size() - open - 2);
  std::set<std::string> seen;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = end_of_item(list, begin);
    const std::string item = list.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || !valid_name(item.substr(0, equals)) ||
        equals + 1 == item.size()) {
      throw fail("'" + item + "'");
    }
    const std::string name = item.substr(0, equals);
    if (!seen.insert(name).second) throw fail("option " + name + " twice");
    spec.options.emplace_back(name, item.substr(equals + 1));
    if (end + 1 == list.size()) throw fail("a comma before ]");
    begin = end + 1;
  }
  return spec;
}

std::string SolverSpec::text() const {
  if (options.empty()) return id;
  std::string list;
  for (const auto& [name, value] : options) list += (list.empty() ? "" : ",") + name + "=" + value;
  return id + "[" + list + "]";
}

}  // namespace ccp
