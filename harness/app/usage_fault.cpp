#include "harness/app/usage_fault.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "problems/base/error.hpp"

namespace ccp::app {
namespace {

/// Commands or options that are no secret.
std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_name().empty()) names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// Whether a word that names no command may be a value by its place.
bool takes_words(const CLI::App& app) {
  const std::vector<const CLI::Option*> options = app.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_positional(); });
}

/// -1, -.5: a value, not an option.
bool is_negative_number(const std::string& word) {
  return word.size() > 1 && word.find_first_not_of("-.0123456789e") == std::string::npos;
}

/// A call as far as it can be understood.
struct Call {
  const CLI::App* command;
  std::string name;     ///< of the command: "ccpbench generate pile"
  std::string unknown;  ///< what is wrong with the first word that is not known; or ""
};

Call understand(const CLI::App& app, const std::vector<std::string>& words) {
  Call call{&app, app.get_name(), ""};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") break;
    if (word.size() > 1 && word[0] == '-' && !is_negative_number(word)) {
      const std::size_t equals = word.find('=');
      const bool is_long = word[1] == '-';
      const std::string name = is_long ? word.substr(0, equals) : word.substr(0, 2);
      const CLI::Option* option = call.command->get_option_no_throw(name);
      if (option == nullptr) {
        call.unknown = fmt::format("unknown option '{}'{}", name,
                                   did_you_mean(name, option_names(*call.command)));
        return call;
      }
      const bool value_follows = is_long ? equals == std::string::npos : word.size() == 2;
      if (value_follows && option->get_items_expected_min() > 0) ++i;
      continue;
    }
    const std::vector<std::string> names = command_names(*call.command);
    const bool known = std::find(names.begin(), names.end(), word) != names.end();
    if (!known && (names.empty() || takes_words(*call.command))) continue;
    if (!known) {
      call.unknown = fmt::format("unknown command '{}'{}", word, did_you_mean(word, names));
      return call;
    }
    call.command = call.command->get_subcommand(word);
    call.name += " " + word;
  }
  return call;
}

}  // namespace

std::string usage_fault(const CLI::App& app, const std::vector<std::string>& words,
                        const CLI::ParseError& fault) {
  const Call call = understand(app, words);
  std::string what = call.unknown;
  const std::vector<std::string> names = command_names(*call.command);
  if (what.empty()) {
    what = names.empty() || takes_words(*call.command)
               ? fault.what()
               : fmt::format("expected a command, one of {}", fmt::join(names, ", "));
  }
  return fmt::format("{}: {}\n{} --help says more.", call.name, what, call.name);
}

}  // namespace ccp::app
