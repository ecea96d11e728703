#include <fmt/format.h>

#include <algorithm>

#include "harness/app/app.hpp"

namespace ccp::app {
namespace {

using Commands = std::vector<const CLI::App*>;

Commands commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

/// All commands with their whole names, subcommands behind their parents.
void collect(const CLI::App& app, const std::string& name,
             std::vector<std::pair<std::string, const CLI::App*>>& all) {
  for (const CLI::App* command : commands_of(app)) {
    const std::string full = name + " " + command->get_name();
    all.emplace_back(full, command);
    collect(*command, full, all);
  }
}

/// Text for troff: backslashes, hyphens, and no line that begins with a control character.
std::string troff(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = i == 0 || text[i - 1] == '\n';
    if (starts && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '-') {
      out += "\\-";
    } else {
      out += text[i];
    }
  }
  return out;
}

void print_options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const bool positional = option->get_positional();
    const std::string type =
        option->get_items_expected_max() > 0 && !positional ? " " + option->get_type_name() : "";
    const std::string value = option->get_default_str();
    fmt::print(".TP\n\\fB{}\\fR{}\n{}{}\n", troff(option->get_name(positional, true)), troff(type),
               troff(option->get_description()),
               value.empty() ? "" : troff(" (default: " + value + ")"));
  }
}

void print_page(const CLI::App& app) {
  std::vector<std::pair<std::string, const CLI::App*>> all;
  collect(app, "ccpbench", all);
  fmt::print(".TH CCPBENCH 1\n.SH NAME\nccpbench \\- {}\n", troff(app.get_description()));
  fmt::print(".SH SYNOPSIS\n\\fBccpbench\\fR COMMAND [OPTIONS]\n.SH OPTIONS\n");
  print_options(app);
  fmt::print(".SH COMMANDS\n");
  for (const auto& [name, command] : all) {
    fmt::print(".SS {}\n{}\n", troff(name), troff(command->get_description()));
    print_options(*command);
  }
  fmt::print(".SH NOTES\n{}\n", troff(app.get_footer()));
}

/// Words that may follow a command: its subcommands and long options, or all options that have no
/// long name.
std::string words_after(const CLI::App& app) {
  std::string words;
  for (const CLI::App* command : commands_of(app)) words += " " + command->get_name();
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += " --" + name;
    if (option->get_lnames().empty()) {
      for (const std::string& name : option->get_snames()) words += " -" + name;
    }
  }
  return words.empty() ? words : words.substr(1);
}

void print_completion(const CLI::App& app) {
  std::vector<std::pair<std::string, const CLI::App*>> all{{"ccpbench", &app}};
  collect(app, "ccpbench", all);
  fmt::print(
      "# Completion of ccpbench for bash (and zsh after `autoload bashcompinit; bashcompinit`).\n"
      "# Made by `ccpbench manual --completion`.\n"
      "_ccpbench() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} path=ccpbench words i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$path ${{COMP_WORDS[i]}}\" in\n");
  for (const auto& [name, command] : all) {
    if (command != &app) fmt::print("      \"{0}\") path=\"{0}\" ;;\n", name);
  }
  fmt::print("    esac\n  done\n  case $path in\n");
  for (const auto& [name, command] : all) {
    fmt::print("    \"{}\") words=\"{}\" ;;\n", name, words_after(*command));
  }
  fmt::print(
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}}\n"
      "complete -o default -F _ccpbench ccpbench\n");
}

}  // namespace

void add_manual(CLI::App& app) {
  auto* command =
      app.add_subcommand("manual", "Print the manual page, or what shells complete commands with");
  auto* kind = command->add_option_group("kind");
  auto* page =
      kind->add_flag("--page", "The manual page, for man: ccpbench manual --page | man -l -");
  kind->add_flag("--completion", "For bash: source <(ccpbench manual --completion)");
  kind->require_option(1);
  command->callback([&app, page] {
    if (page->count() > 0) {
      print_page(app);
    } else {
      print_completion(app);
    }
  });
}

}  // namespace ccp::app
