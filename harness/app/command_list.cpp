#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "harness/app/app.hpp"
#include "harness/measure/measures.hpp"
#include "harness/study/study.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/importer_table.hpp"
#include "problems/geometry/pair_table.hpp"
#include "problems/scenes/scene_table.hpp"
#include "solvers/preconditioners/preconditioner.hpp"
#include "solvers/registry.hpp"

namespace ccp::app {
namespace {

using nlohmann::json;

/// The options as text lines, or as the JSON array that comes back.
json list_options(const OptionList& options, bool as_json) {
  json rows = json::array();
  for (const auto& option : options.entries()) {
    if (!as_json) {
      fmt::print("    {:<33} {} ({})\n", option.name + "=" + option.value, option.help,
                 option.allowed);
    }
    rows.push_back({{"name", option.name},
                    {"default", option.value},
                    {"allowed", option.allowed},
                    {"help", option.help}});
  }
  return rows;
}

void list_solvers(bool as_json) {
  json all = json::array();
  for (const SolverEntry& entry : solver_entries()) {
    const auto solver = entry.make();
    const std::vector<std::string> laws = texts_of(entry.laws);
    const std::vector<std::string> features = texts_of(entry.features);
    std::vector<std::string> forms = texts_of(entry.forms);
    if (entry.has(Feature::compliant)) forms.push_back(to_string(Feature::compliant));
    if (!as_json) {
      fmt::print("{}  {}\n    law {}, forms {}{}\n", entry.id, entry.summary,
                 fmt::join(laws, " or "), fmt::join(forms, ", "),
                 entry.warm_start ? ", uses an initial guess" : "");
    }
    const json options = list_options(solver->options(), as_json);
    all.push_back({{"id", entry.id},
                   {"law", fmt::format("{}", fmt::join(laws, ", "))},
                   {"forms", forms},
                   {"features", features},
                   {"warm_start", entry.warm_start},
                   {"summary", entry.summary},
                   {"options", options}});
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

void list_preconditioners(bool as_json) {
  json all = json::array();
  for (const PreconditionerEntry& entry : preconditioner_entries()) {
    if (!as_json) {
      fmt::print("{}{}  {}\n    needs {}{}\n    takes {}\n", entry.id,
                 entry.alias.empty() ? "" : ", " + entry.alias, entry.summary,
                 to_string(entry.form),
                 entry.definite    ? ", positive definite"
                 : entry.symmetric ? ", symmetric, may be indefinite"
                                   : ", not symmetric: for bicgstab and gmres",
                 describe_blocks(entry.takes));
    }
    const json options = list_options(entry.make()->options(), as_json);
    all.push_back({{"id", entry.id},
                   {"alias", entry.alias},
                   {"needs", to_string(entry.form)},
                   {"takes", describe_blocks(entry.takes)},
                   {"symmetric", entry.symmetric},
                   {"definite", entry.definite},
                   {"summary", entry.summary},
                   {"options", options}});
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

void list_measures(bool as_json) {
  json all = json::array();
  for (const MeasureEntry& entry : measure_entries()) {
    const std::string unit = entry.unit.empty() ? "no unit" : entry.unit;
    if (!as_json) {
      fmt::print("{}  {}\n    {} ({}), law {}{}{}\n", entry.name, entry.summary, entry.formula,
                 unit, fmt::join(texts_of(entry.laws), " or "),
                 entry.needs_reference ? ", needs a reference" : "",
                 entry.better == Better::nearer_zero ? ", nearer to zero is better" : "");
    }
    all.push_back({{"name", entry.name},
                   {"summary", entry.summary},
                   {"formula", entry.formula},
                   {"unit", entry.unit},
                   {"laws", texts_of(entry.laws)},
                   {"better", to_string(entry.better)},
                   {"under_coulomb", entry.under_coulomb},
                   {"needs_reference", entry.needs_reference},
                   {"in_every_file", entry.in_every_file}});
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

/// What each scene is and can do, and as JSON its options, too.
void list_scenes(bool as_json) {
  std::size_t width = 0;
  for (const SceneEntry& entry : scene_entries()) width = std::max(width, entry.id.size());
  json all = json::array();
  for (const SceneEntry& entry : scene_entries()) {
    const std::vector<std::string> abilities = texts_of(entry.abilities);
    if (!as_json) {
      fmt::print("{:<{}}  {} ({})\n", entry.id, width, entry.summary, fmt::join(abilities, ", "));
      continue;
    }
    all.push_back({{"name", entry.id},
                   {"summary", entry.summary},
                   {"abilities", abilities},
                   {"step_solver", entry.step_solver},
                   {"options", list_options(entry.make()->options(), true)}});
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

void list_importers(bool as_json) {
  json all = json::array();
  for (const ImporterEntry& entry : importer_entries()) {
    if (!as_json) {
      fmt::print("{}  {} ({})\n", entry.id, entry.summary, fmt::join(entry.extensions, ", "));
    }
    const json options = list_options(entry.make()->options(), as_json);
    all.push_back({{"name", entry.id},
                   {"summary", entry.summary},
                   {"extensions", entry.extensions},
                   {"options", options}});
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

void list_rows(const std::vector<std::pair<std::string, std::string>>& rows, bool as_json,
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
  struct Arguments {
    std::string what;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  const std::vector<std::string> subjects = {"solvers", "preconditioners", "measures",  "problems",
                                             "scenes",  "studies",         "importers", "pairs"};
  const std::string text = fmt::format("{}", fmt::join(subjects, ", "));
  auto* command = app.add_subcommand("list", "Show what there is of a kind: " + text);
  command->add_option("what", arguments->what, "One of " + text)
      ->required()
      ->check(CLI::IsMember(subjects));
  command->add_flag("--json", arguments->json, "JSON instead of text");
  command->callback([arguments] {
    const std::string& what = arguments->what;
    const bool as_json = arguments->json;
    std::vector<std::pair<std::string, std::string>> rows;
    if (what == "solvers") return list_solvers(as_json);
    if (what == "preconditioners") return list_preconditioners(as_json);
    if (what == "measures") return list_measures(as_json);
    if (what == "scenes") return list_scenes(as_json);
    if (what == "importers") return list_importers(as_json);
    if (what == "problems") {
      for (const CatalogueEntry& entry : catalogue()) rows.emplace_back(entry.name, entry.summary);
    } else if (what == "pairs") {
      for (const PairEntry& entry : pair_entries()) {
        rows.emplace_back(entry.a + "-" + entry.b, entry.summary);
      }
    } else {
      rows = study_entries();
    }
    list_rows(rows, as_json, "name", "summary");
  });
}

}  // namespace ccp::app
