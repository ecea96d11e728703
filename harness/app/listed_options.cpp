#include "harness/app/listed_options.hpp"

#include <algorithm>
#include <utility>

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

std::string ListedOptions::flag(const std::string& name) {
  std::string flag = "--" + name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

}  // namespace ccp::app
