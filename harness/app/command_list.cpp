#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/app/app.hpp"
#include "harness/app/json.hpp"
#include "harness/app/names.hpp"
#include "harness/measure/measures.hpp"
#include "harness/study/study.hpp"
#include "problems/base/error.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/importer_table.hpp"
#include "problems/geometry/pair_table.hpp"
#include "problems/scenes/scene_table.hpp"
#include "solvers/preconditioners/preconditioner.hpp"
#include "solvers/registry.hpp"

namespace ccp::app {
namespace {

using nlohmann::json;

/// What to show of a kind.
struct Listing {
  std::vector<std::string> only;  ///< names; empty: all
  bool as_json;
  bool has(const std::string& name) const {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  }
};

/// The options as text lines, or as the JSON array that comes back.
json list_options(const OptionList& options, bool as_json) {
  json rows = json::array();
  for (const auto& option : options.entries()) {
    if (!as_json) {
      fmt::print("    {:<33} {} ({})\n", option.name + "=" + option.value, option.help,
                 option.allowed == "number any" ? "number" : option.allowed);
    }
    rows.push_back({{"name", option.name},
                    {"default", option.value},
                    {"allowed", option.allowed},
                    {"help", option.help}});
  }
  return rows;
}

void list_solvers(const Listing& listing) {
  const bool as_json = listing.as_json;
  json all = json::array();
  for (const SolverEntry& entry : solver_entries()) {
    if (!listing.has(entry.id)) continue;
    const auto solver = entry.make();
    const std::vector<std::string> laws = texts_of(entry.laws);
    const std::vector<std::string> features = texts_of(entry.features);
    std::vector<std::string> forms = texts_of(entry.forms);
    if (entry.has(Feature::compliant)) forms.push_back(to_string(Feature::compliant));
    if (!as_json) {
      std::vector<std::string> takes = forms;
      for (const Feature feature : {Feature::rolling, Feature::equality}) {
        if (entry.has(feature)) takes.push_back(to_string(feature));
      }
      fmt::print("{}  {}\n    law: {}; forms: {}{}\n", entry.id, entry.summary,
                 fmt::join(laws, " or "), fmt::join(takes, ", "),
                 entry.warm_start ? "; starts from a guess" : "; always starts cold");
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
  if (as_json) print_json(all);
}

void list_preconditioners(const Listing& listing) {
  const bool as_json = listing.as_json;
  json all = json::array();
  for (const PreconditionerEntry& entry : preconditioner_entries()) {
    if (!listing.has(entry.id)) continue;
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
  if (as_json) print_json(all);
}

void list_measures(const Listing& listing) {
  const bool as_json = listing.as_json;
  json all = json::array();
  for (const MeasureEntry& entry : measure_entries()) {
    if (!listing.has(entry.name)) continue;
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
  if (as_json) print_json(all);
}

/// What each scene is and can do, and as JSON its options, too.
void list_scenes(const Listing& listing) {
  const bool as_json = listing.as_json;
  std::size_t width = 0;
  for (const SceneEntry& entry : scene_entries()) width = std::max(width, entry.id.size());
  json all = json::array();
  for (const SceneEntry& entry : scene_entries()) {
    if (!listing.has(entry.id)) continue;
    const std::vector<std::string> abilities = texts_of(entry.abilities);
    if (!as_json) {
      fmt::print("{:<{}}  {} ({})\n", entry.id, width, entry.summary, fmt::join(abilities, ", "));
      if (!listing.only.empty()) list_options(entry.make()->options(), false);
      continue;
    }
    all.push_back({{"name", entry.id},
                   {"summary", entry.summary},
                   {"abilities", abilities},
                   {"step_solver", entry.step_solver},
                   {"options", list_options(entry.make()->options(), true)}});
  }
  if (as_json) print_json(all);
}

void list_importers(const Listing& listing) {
  const bool as_json = listing.as_json;
  json all = json::array();
  for (const ImporterEntry& entry : importer_entries()) {
    if (!listing.has(entry.id)) continue;
    if (!as_json) {
      fmt::print("{}  {} ({})\n", entry.id, entry.summary, fmt::join(entry.extensions, ", "));
    }
    const json options = list_options(entry.make()->options(), as_json);
    all.push_back({{"name", entry.id},
                   {"summary", entry.summary},
                   {"extensions", entry.extensions},
                   {"options", options}});
  }
  if (as_json) print_json(all);
}

void list_rows(const std::vector<std::pair<std::string, std::string>>& rows,
               const Listing& listing) {
  std::size_t width = 0;
  json all = json::array();
  for (const auto& [name, text] : rows) {
    if (!listing.has(name)) continue;
    width = std::max(width, name.size());
    all.push_back({{"name", name}, {"summary", text}});
  }
  if (listing.as_json) return print_json(all);
  for (const auto& [name, text] : rows) {
    if (listing.has(name)) fmt::print("{:<{}}  {}\n", name, width, text);
  }
}

void list(const std::string& kind, const std::vector<std::string>& only, bool as_json) {
  const std::vector<std::string> known = names_of(kind);
  for (const std::string& name : only) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InputError("unknown name '" + name + "' of " + kind + did_you_mean(name, known) +
                       fmt::format(" (there are {})", fmt::join(known, ", ")));
    }
  }
  const Listing listing{only, as_json};
  std::vector<std::pair<std::string, std::string>> rows;
  if (kind == "solvers") return list_solvers(listing);
  if (kind == "preconditioners") return list_preconditioners(listing);
  if (kind == "measures") return list_measures(listing);
  if (kind == "scenes") return list_scenes(listing);
  if (kind == "importers") return list_importers(listing);
  if (kind == "problems") {
    for (const CatalogueEntry& entry : catalogue()) rows.emplace_back(entry.name, entry.summary);
  } else if (kind == "pairs") {
    for (const PairEntry& entry : pair_entries()) {
      rows.emplace_back(entry.a + "-" + entry.b, entry.summary);
    }
  } else {
    rows = study_entries();
  }
  list_rows(rows, listing);
}

}  // namespace

void add_list(CLI::App& app, Context&) {
  struct Arguments {
    std::string kind;
    std::vector<std::string> names;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  const std::string text = fmt::format("{}", fmt::join(kinds(), ", "));
  auto* command = app.add_subcommand("list", "Show what there is: " + text);
  command->add_option("kind", arguments->kind, "One of " + text)
      ->required()
      ->check(CLI::Validator(
          [text](std::string& word) {
            const auto& known = kinds();
            if (std::find(known.begin(), known.end(), word) != known.end()) return std::string();
            return "expected one of " + text + ", found '" + word + "'" + did_you_mean(word, known);
          },
          ""))
      ->type_name("KIND");
  command
      ->add_option("names", arguments->names,
                   "Only those of these names, with all there is of them")
      ->type_name("NAME");
  command->add_flag("--json", arguments->json, "JSON instead of text");
  command->callback([arguments] { list(arguments->kind, arguments->names, arguments->json); });
}

}  // namespace ccp::app
