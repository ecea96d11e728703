#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

#include "problems/base/error.hpp"
#include "problems/base/options.hpp"
#include "problems/base/vec3.hpp"

namespace ccp {

/// A node of a YAML file that a user wrote, with the file it is in, for messages with line and
/// column.
struct YamlEntry {
  YAML::Node node;
  std::string file;

  /// "line 3, column 5, KEY"
  std::string place(const std::string& key) const;
  /// "FILE: line 3, column 5, KEY"
  std::string where(const std::string& key) const { return file + ": " + place(key); }
  /// What is there, for "found".
  std::string found() const;
  /// The file's folder; "." where it has none.
  std::string folder() const;
  /// @throws InputError: what was expected there
  [[noreturn]] void fail(const std::string& key, const std::string& expected) const;

  std::string text(const std::string& key) const;
  double number(const std::string& key, OptionList::Range range = {}) const;
  bool flag(const std::string& key) const;
  /// A list of so many finite numbers.
  std::vector<double> numbers(const std::string& key, std::size_t count) const;
  Vec3 vector(const std::string& key) const;
  /// The entries of a list. @throws InputError for anything else, and an empty one
  std::vector<YamlEntry> list(const std::string& key) const;
};

/// The one document of a file. @param what  the file is, for messages: "a study file"
/// @throws InputError for a file that is not there, is no YAML (with line and column), or holds two
YAML::Node load_yaml(const std::string& path, const std::string& what);

/// A map with keys that are known: each once.
class YamlMap {
 public:
  /// @param key    what the map is, for messages
  /// @throws InputError for what is no map, and unknown (with the nearest known one) or repeated
  ///     keys
  YamlMap(YamlEntry entry, const std::string& key, const std::vector<std::string>& known);

  const YamlEntry& entry() const { return entry_; }
  bool has(const std::string& key) const;
  /// @throws InputError if there is none
  YamlEntry at(const std::string& key) const;

  /// Sets a value where the key is there.
  void read(const std::string& key, double& value, OptionList::Range range = {}) const;
  void read(const std::string& key, std::string& value) const;
  void read(const std::string& key, bool& value) const;
  void read(const std::string& key, Vec3& value) const;

  /// @throws InputError if more than one of these keys is there
  void at_most_one_of(const std::vector<std::string>& keys) const;

 private:
  YamlEntry entry_;
  std::string name_;
};

}  // namespace ccp
