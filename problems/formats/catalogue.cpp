#include "problems/formats/catalogue.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "problems/base/error.hpp"
#include "problems/base/root_folder.hpp"
#include "problems/formats/problem_place.hpp"

namespace ccp {
namespace fs = std::filesystem;

namespace {

fs::path data_folder() {
  const char* configured = std::getenv("CCPBENCH_DATA_DIR");
  return configured && *configured ? fs::path(configured)
                                   : fs::path(root_folder()) / "problems" / "data";
}

}  // namespace

std::vector<CatalogueEntry> catalogue() {
  const fs::path manifest = data_folder() / "manifest.json";
  std::ifstream stream(manifest);
  if (!stream) {
    throw InputError(manifest.string(), "", "the catalogue of frozen problems",
                     "no readable file (CCPBENCH_DATA_DIR says where it is)");
  }
  std::vector<CatalogueEntry> entries;
  try {
    const auto content = nlohmann::json::parse(stream);
    for (const auto& item : content.at("problems")) {
      entries.push_back({item.at("name"), (data_folder() / item.at("file")).string(),
                         item.at("sha256"), item.at("command"), item.at("summary")});
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError(manifest.string(), "", "a manifest as scripts/freeze-problems writes it",
                     error.what());
  }
  return entries;
}

std::string resolve_problem(const std::string& place, const std::string& folder) {
  const auto [name_or_path, steps] = split_place(place);
  if (!steps.empty()) return resolve_problem(name_or_path, folder) + steps;
  const fs::path path(name_or_path);
  if (path.is_relative() && !folder.empty() && path_exists((fs::path(folder) / path).string())) {
    return (fs::path(folder) / path).string();
  }
  if (path_exists(path.string())) return name_or_path;
  const bool looks_like_a_name =
      !path.has_parent_path() && path.extension() != ".h5" && !name_or_path.empty();
  if (!looks_like_a_name) {
    throw InputError(name_or_path, "", "a problem file or a name of `ccpbench list problems`",
                     "no such file");
  }
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.name == name_or_path) return entry.file;
    names.push_back(entry.name);
  }
  throw InputError("unknown problem '" + name_or_path +
                   "': expected a file or a name of `ccpbench list problems`" +
                   did_you_mean(name_or_path, names));
}

}  // namespace ccp
