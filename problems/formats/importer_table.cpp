#include "problems/formats/importer_table.hpp"

#include <utility>

#include "problems/base/error.hpp"
#include "problems/formats/fclib/import_fclib.hpp"
#include "problems/formats/kleinert.hpp"

namespace ccp {
namespace {

std::vector<ImporterEntry>& table() {
  static std::vector<ImporterEntry> rows = {
      {"kleinert",
       "Particle state of Kleinert's nonsmooth granular benchmarks (ASCII .vtu)",
       {".vtu"},
       kleinert_importer},
      {"fclib",
       "Local or global problem of the Friction Contact Library (HDF5), see docs/fclib.md",
       {".hdf5", ".h5"},
       fclib_importer},
  };
  return rows;
}

}  // namespace

const std::vector<ImporterEntry>& importer_entries() {
  return table();
}

void add_importer(ImporterEntry entry) {
  for (const ImporterEntry& known : table()) {
    if (known.id == entry.id) {
      throw InputError("the importer " + entry.id + " is there already");
    }
  }
  table().push_back(std::move(entry));
}

}  // namespace ccp
