#include "harness/app/listed_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "problems/base/error.hpp"

namespace ccp::app {
namespace {

/// Shows what an entry says: "--dt NUMBER=0.01   Time step, s (> 0)".
void describe(CLI::Option& option, const OptionList::Entry& entry) {
  std::string type = "TEXT", range = entry.allowed == "text" ? "" : entry.allowed;
  for (const auto& [kind, name] :
       {std::pair("number ", "NUMBER"), std::pair("integer ", "INTEGER")}) {
    if (range.rfind(kind, 0) != 0) continue;
    type = name;
    range = range.substr(std::string(kind).size());
  }
  if (range == "any") range = "";
  if (range.rfind("one of ", 0) == 0) {  // "one of a, b" is a|b
    type = range.substr(std::string("one of ").size());
    for (std::size_t at = 0; (at = type.find(", ")) != std::string::npos;) type.replace(at, 2, "|");
    range = "";
  }
  option.type_name(type)
      ->default_str(entry.value)
      ->description(entry.help + (range.empty() ? "" : " (" + range + ")"));
}

}  // namespace

ListedOptions::ListedOptions(CLI::App& command, const OptionList& list,
                             const std::string& several) {
  for (const OptionList::Entry& entry : list.entries()) {
    if (entry.name == several) {
      values_ = {entry.value};
      CLI::Option* option = command.add_option(flag(entry.name), values_)->delimiter(',');
      describe(*option, entry);
      option->description(option->get_description() + "; comma-separated");
      continue;
    }
    Given& given = given_.emplace_back(Given{entry.name, "", nullptr});
    given.option = command.add_option(flag(entry.name), given.text);
    describe(*given.option, entry);
  }
}

void ListedOptions::apply(OptionList list) const {
  for (const Given& given : given_) {
    if (given.option->count() > 0) list.set(given.name, given.text);
  }
}

namespace {

/// The list of one option, bound to the field.
OptionList list_of(double& field, OptionList::Range range, const std::string& help) {
  return OptionList("").number("value", field, range, help);
}
OptionList list_of(int& field, OptionList::Range range, const std::string& help) {
  return OptionList("").integer("value", field, range, help);
}

template <class Number>
CLI::Validator checker(OptionList::Range range) {
  return CLI::Validator(
      [range](std::string& word) {
        Number value = 0;
        OptionList list = list_of(value, range, "");
        try {
          list.set("value", word);
        } catch (const InputError&) {
          return "expected " + list.entries().front().allowed + ", found " + found_value(word);
        }
        return std::string();
      },
      "");
}

template <class Number>
CLI::Option* add(CLI::App& command, const std::string& names, Number& field,
                 OptionList::Range range, const std::string& help) {
  CLI::Option* option = command.add_option_function<std::string>(
      names,
      [&field, range](const std::string& text) { list_of(field, range, "").set("value", text); });
  option->check(checker<Number>(range));
  describe(*option, list_of(field, range, help).entries().front());
  return option;
}

}  // namespace

CLI::Option* add_number(CLI::App& command, const std::string& names, double& field,
                        OptionList::Range range, const std::string& help) {
  return add(command, names, field, range, help);
}

CLI::Option* add_integer(CLI::App& command, const std::string& names, int& field,
                         OptionList::Range range, const std::string& help) {
  return add(command, names, field, range, help);
}

CLI::Option* add_integers(CLI::App& command, const std::string& names, std::vector<int>& field,
                          OptionList::Range range, const std::string& help) {
  CLI::Option* option = command.add_option(names, field)->delimiter(',');
  option->check(checker<int>(range));
  int any = 0;
  const OptionList::Entry entry = list_of(any, range, help).entries().front();
  describe(*option, entry);
  return option->default_str(fmt::format("{}", fmt::join(field, ",")))
      ->description(option->get_description() + "; comma-separated");
}

CLI::Option* add_threads(CLI::App& command, int& threads) {
  return add_integer(command, "--threads", threads, OptionList::Range::at_least(1),
                     "Threads of the OpenMP back end");
}

std::string ListedOptions::flag(const std::string& name) {
  std::string flag = "--" + name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

}  // namespace ccp::app
