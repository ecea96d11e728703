#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/completion.hpp"

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
    if (option->get_group().empty()) continue;  // for our own use
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

}  // namespace

void add_manual(CLI::App& app) {
  auto* command =
      app.add_subcommand("manual", "Print the manual page, or what shells complete commands with");
  auto shell = std::make_shared<std::string>("bash");
  auto* page = command->add_flag("--page", "The manual page: ccpbench manual --page | man -l -");
  auto* completion =
      command
          ->add_option("--completion", *shell,
                       "For a shell, bash unless said: source <(ccpbench manual --completion zsh)")
          ->expected(0, 1)
          ->check(CLI::Validator(
              [](std::string& word) {
                const bool known = word == "bash" || word == "zsh" || word == "fish";
                return known || word.empty() ? ""
                                             : "expected bash, zsh or fish, found '" + word + "'";
              },
              ""))
          ->type_name("bash|zsh|fish")
          ->excludes(page);
  command->callback([&app, page, completion, shell] {
    if (page->count() > 0) {
      print_page(app);
    } else if (completion->count() > 0) {
      fmt::print("{}", completion_script(shell->empty() ? "bash" : *shell));
    } else {
      throw CLI::RequiredError("--page or --completion");
    }
  });
}

}  // namespace ccp::app
