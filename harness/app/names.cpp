#include "harness/app/names.hpp"

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

using Names = std::vector<std::string>;

template <class Entries, class Name>
Names collect(const Entries& entries, const Name& name) {
  Names names;
  for (const auto& entry : entries) names.push_back(name(entry));
  return names;
}

struct Kind {
  std::string name;
  Names (*names)();
};

const std::vector<Kind>& table() {
  static constexpr auto id = [](const auto& entry) { return entry.id; };
  static const std::vector<Kind> rows = {
      {"solvers", [] { return collect(solver_entries(), id); }},
      {"preconditioners", [] { return collect(preconditioner_entries(), id); }},
      {"measures", [] { return measure_names(); }},
      {"problems",
       [] { return collect(catalogue(), [](const CatalogueEntry& entry) { return entry.name; }); }},
      {"scenes", [] { return collect(scene_entries(), id); }},
      {"studies", [] { return study_names(); }},
      {"importers", [] { return collect(importer_entries(), id); }},
      {"pairs", [] {
         return collect(pair_entries(),
                        [](const PairEntry& entry) { return entry.a + "-" + entry.b; });
       }}};
  return rows;
}

}  // namespace

const Names& kinds() {
  static const Names all = collect(table(), [](const Kind& kind) { return kind.name; });
  return all;
}

Names names_of(const std::string& kind) {
  for (const Kind& row : table()) {
    if (row.name == kind) return row.names();
  }
  return {};
}

}  // namespace ccp::app
