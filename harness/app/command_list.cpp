#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "harness/app/app.hpp"
#include "harness/study.hpp"
#include "problems/catalogue.hpp"
#include "problems/generators/scenes.hpp"
#include "solvers/core/registry.hpp"
#include "solvers/ipm/ipm.hpp"

namespace ccp::app {
namespace {

using nlohmann::json;

void list_solvers(bool as_json) {
  json all = json::array();
  for (const SolverEntry& entry : solver_entries()) {
    const auto solver = entry.make();
    json options = json::array();
    if (!as_json) {
      fmt::print("{}  {}\n    law {}, forms {}{}\n", entry.id, entry.summary, entry.law,
                 fmt::join(entry.forms, " and "),
                 entry.warm_start ? ", uses an initial guess" : "");
    }
    for (const auto& option : solver->options().entries()) {
      if (!as_json) {
        fmt::print("    {:<33} {} ({})\n", option.name + "=" + option.value, option.help,
                   option.allowed);
      }
      options.push_back({{"name", option.name},
                         {"default", option.value},
                         {"allowed", option.allowed},
                         {"help", option.help}});
    }
    all.push_back({{"id", entry.id},
                   {"law", entry.law},
                   {"forms", entry.forms},
                   {"warm_start", entry.warm_start},
                   {"summary", entry.summary},
                   {"options", options}});
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

void list_pairs(const std::vector<std::pair<std::string, std::string>>& rows, bool as_json,
                const char* first, const char* second) {
  std::size_t width = 0;
  json all = json::array();
  for (const auto& [name, text] : rows) {
    width = std::max(width, name.size());
    all.push_back({{first, name}, {second, text}});
  }
  if (as_json) {
    fmt::print("{}\n", all.dump(2));
    return;
  }
  for (const auto& [name, text] : rows) fmt::print("{:<{}}  {}\n", name, width, text);
}

}  // namespace

void add_list(CLI::App& app, Context&) {
  auto* command =
      app.add_subcommand("list", "Show the solvers, problems, scenes or studies there are");
  struct Arguments {
    std::string what;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("what", arguments->what, "solvers, preconditioners, problems, scenes or studies")
      ->required()
      ->check(CLI::IsMember({"solvers", "preconditioners", "problems", "scenes", "studies"}));
  command->add_flag("--json", arguments->json, "JSON instead of text");
  command->callback([arguments] {
    std::vector<std::pair<std::string, std::string>> rows;
    if (arguments->what == "solvers") {
      list_solvers(arguments->json);
      return;
    }
    if (arguments->what == "preconditioners") {
      rows = {{"none", "the plain Krylov method"},
              {"block_diagonal", "inverse 3x3 blocks of the Newton matrix (seed 000 Sect. 4.2)"}};
    } else if (arguments->what == "problems") {
      for (const CatalogueEntry& entry : catalogue()) rows.emplace_back(entry.name, entry.summary);
    } else if (arguments->what == "scenes") {
      for (const SceneEntry& entry : scene_entries()) rows.emplace_back(entry.name, entry.summary);
    } else {
      rows = study_entries();
    }
    list_pairs(rows, arguments->json, "name", "summary");
  });
}

}  // namespace ccp::app
