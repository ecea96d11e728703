#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "problems/formats/importer.hpp"

namespace ccp {

/// An importer of the table.
struct ImporterEntry {
  std::string id;
  std::string summary;
  std::vector<std::string> extensions;  ///< that such files usually have, e.g. ".vtu"
  std::function<std::unique_ptr<Importer>()> make;
};

/// All importers. `ccpbench import` builds itself from this table.
const std::vector<ImporterEntry>& importer_entries();

/// Adds a row. @throws InputError if there is one with that id
void add_importer(ImporterEntry entry);

}  // namespace ccp
