#include "problems/base/yaml_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>

namespace ccp {
namespace {

std::string range_text(const OptionList::Range& range) {
  std::string text = "a finite number";
  if (std::isfinite(range.low)) text += fmt::format(" {} {}", range.above ? ">" : ">=", range.low);
  if (std::isfinite(range.high)) {
    text += fmt::format("{} {} {}", std::isfinite(range.low) ? " and" : "",
                        range.below ? "<" : "<=", range.high);
  }
  return text;
}

}  // namespace

std::string YamlEntry::place(const std::string& key) const {
  return fmt::format("line {}, column {}, {}", node.Mark().line + 1, node.Mark().column + 1, key);
}

std::string YamlEntry::found() const {
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  if (node.IsNull()) return "nothing";
  return found_value(node.Scalar());
}

std::string YamlEntry::folder() const {
  const std::string parent = std::filesystem::path(file).parent_path().string();
  return parent.empty() ? "." : parent;
}

void YamlEntry::fail(const std::string& key, const std::string& expected) const {
  throw InputError(file, place(key), expected, found());
}

std::string YamlEntry::text(const std::string& key) const {
  if (!node.IsScalar() || node.Scalar().empty()) fail(key, "a text");
  return node.Scalar();
}

double YamlEntry::number(const std::string& key, OptionList::Range range) const {
  double value = 0;
  const bool is_number =
      node.IsScalar() && parse_number(node.Scalar(), value) && std::isfinite(value);
  const bool inside = (range.above ? value > range.low : value >= range.low) &&
                      (range.below ? value < range.high : value <= range.high);
  if (!is_number || !inside) fail(key, range_text(range));
  return value;
}

bool YamlEntry::flag(const std::string& key) const {
  if (!node.IsScalar() || (node.Scalar() != "true" && node.Scalar() != "false")) {
    fail(key, "true or false");
  }
  return node.Scalar() == "true";
}

std::vector<double> YamlEntry::numbers(const std::string& key, std::size_t count) const {
  if (!node.IsSequence() || node.size() != count) {
    throw InputError(file, place(key), fmt::format("a list of {} numbers", count),
                     node.IsSequence() ? fmt::format("one of {}", node.size()) : found());
  }
  std::vector<double> values;
  for (const auto& item : node) values.push_back(YamlEntry{item, file}.number(key));
  return values;
}

Vec3 YamlEntry::vector(const std::string& key) const {
  const std::vector<double> v = numbers(key, 3);
  return {v[0], v[1], v[2]};
}

std::vector<YamlEntry> YamlEntry::list(const std::string& key) const {
  if (!node.IsSequence() || node.size() == 0) fail(key, "a list");
  std::vector<YamlEntry> all;
  for (const auto& item : node) all.push_back({item, file});
  return all;
}

YAML::Node load_yaml(const std::string& path, const std::string& what) {
  if (!is_regular_file(path)) throw InputError(path, "", what + " (YAML)", "no such file");
  try {
    std::vector<YAML::Node> documents = YAML::LoadAllFromFile(path);
    if (documents.size() > 1) {
      const YamlEntry second{documents[1], path};
      throw InputError(path, second.place("document"), "one YAML document", "a second one");
    }
    return documents.empty() ? YAML::Node() : documents.front();
  } catch (const YAML::ParserException& error) {
    std::ifstream stream(path);
    std::string line;
    for (int i = 0; i <= error.mark.line; ++i) std::getline(stream, line);
    const bool range = line.find(": >") != std::string::npos;
    throw InputError(path,
                     fmt::format("line {}, column {}", error.mark.line + 1, error.mark.column + 1),
                     "YAML", error.msg + (range ? "; quote what begins with >: '>100'" : ""));
  } catch (const YAML::BadFile&) {
    throw InputError(path, "", what + " that can be read", "one that cannot be opened");
  }
}

YamlMap::YamlMap(YamlEntry entry, const std::string& key, const std::vector<std::string>& known)
    : entry_(std::move(entry)), name_(key) {
  if (!entry_.node.IsMap()) entry_.fail(key, "a map of keys");
  std::vector<std::string> seen;
  for (const auto& item : entry_.node) {
    const YamlEntry name{item.first, entry_.file};
    const std::string text = item.first.IsScalar() ? item.first.Scalar() : "";
    if (std::find(known.begin(), known.end(), text) == known.end()) {
      throw InputError(name.where(key) + ": unknown key '" + text + "'" +
                       did_you_mean(text, known));
    }
    if (std::find(seen.begin(), seen.end(), text) != seen.end()) {
      throw InputError(entry_.file, name.place(text), "each key once", "it again");
    }
    seen.push_back(text);
  }
}

bool YamlMap::has(const std::string& key) const {
  return static_cast<bool>(entry_.node[key]);
}

YamlEntry YamlMap::at(const std::string& key) const {
  if (!has(key)) {
    throw InputError(entry_.file, entry_.place(name_), "a key '" + key + "'", "none");
  }
  return {entry_.node[key], entry_.file};
}

void YamlMap::read(const std::string& key, double& value, OptionList::Range range) const {
  if (has(key)) value = at(key).number(key, range);
}
void YamlMap::read(const std::string& key, std::string& value) const {
  if (has(key)) value = at(key).text(key);
}
void YamlMap::read(const std::string& key, bool& value) const {
  if (has(key)) value = at(key).flag(key);
}
void YamlMap::read(const std::string& key, Vec3& value) const {
  if (has(key)) value = at(key).vector(key);
}

void YamlMap::at_most_one_of(const std::vector<std::string>& keys) const {
  std::string first;
  for (const std::string& key : keys) {
    if (!has(key)) continue;
    if (!first.empty()) {
      throw InputError(entry_.file, at(key).place(key),
                       fmt::format("at most one of {}", fmt::join(keys, ", ")), first + " as well");
    }
    first = key;
  }
}

}  // namespace ccp
