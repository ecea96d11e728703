#include "harness/app/listed_options.hpp"

#include <algorithm>

namespace ccp::app {

ListedOptions::ListedOptions(CLI::App& command, const OptionList& list,
                             const std::string& several) {
  for (const OptionList::Entry& entry : list.entries()) {
    if (entry.name == several) {
      values_ = {entry.value};
      command.add_option(flag(entry.name), values_, entry.help + "; comma-separated")
          ->delimiter(',')
          ->type_name(entry.allowed)
          ->default_str(entry.value);
      continue;
    }
    Given& given = given_.emplace_back(Given{entry.name, "", nullptr});
    given.option = command.add_option(flag(entry.name), given.text, entry.help)
                       ->type_name(entry.allowed)
                       ->default_str(entry.value);
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
