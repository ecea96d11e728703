#include "harness/study/study.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "harness/run/start.hpp"
#include "problems/base/error.hpp"
#include "problems/base/root_folder.hpp"
#include "problems/base/yaml_file.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/sequence_file.hpp"
#include "problems/model/descriptors.hpp"
#include "solvers/registry.hpp"

namespace ccp {
namespace fs = std::filesystem;

namespace {

fs::path studies_folder() {
  return fs::path(root_folder()) / "harness" / "studies";
}

/// A study's name. Aliases, until the release after 0.1: the papers' studies were called `paper-`,
/// a number for the paper, and the figure (scripts/python/ccpbench/reproduce/figures.py has those
/// of figures).
std::string present_name(const std::string& name) {
  static const std::map<std::string, std::string> papers = {{"000", "kleinert2017"},
                                                            {"001", "kleinert2014"},
                                                            {"003", "wang2016"},
                                                            {"004", "koziara2019"}};
  const std::string before = "paper-";
  if (name.rfind(before, 0) != 0 || name.size() < 10 || name[9] != '-') return name;
  const auto paper = papers.find(name.substr(before.size(), 3));
  return paper == papers.end() ? name : paper->second + name.substr(9);
}

using Entry = YamlEntry;
using Keys = std::map<std::string, Entry>;

/// The scalars of a list, or the one scalar.
std::vector<Entry> items(const Entry& entry, const std::string& key) {
  std::vector<Entry> list;
  if (entry.node.IsScalar()) {
    list.push_back(entry);
  } else if (entry.node.IsSequence()) {
    for (const auto& item : entry.node) list.push_back({item, entry.file});
  }
  if (list.empty()) entry.fail(key, "at least one entry");
  return list;
}

/// The keys of studies: those that tell its runs apart, and those that all of them have in common.
const std::vector<std::string>& known_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all = {"name",    "description", "include", "problems",
                                    "select",  "starts",      "solvers", "repetitions",
                                    "threads", "ranks",       "seed"};
    for (const RequestField& field : request_fields()) {
      if (field.in_study) all.push_back(field.name);
    }
    return all;
  }();
  return keys;
}

/// The keys of a file and of those it includes. What a file says itself replaces what it includes,
/// and later includes replace earlier ones.
/// @param chain  the files that led here
Keys read_keys(const std::string& path, std::vector<std::string> chain) {
  const Entry root{load_yaml(path, "a study file"), path};
  if (!root.node.IsMap()) throw InputError(path, "", "a map of keys", root.found());
  chain.push_back(fs::weakly_canonical(path).string());

  Keys own;
  for (const auto& item : root.node) {
    const Entry key{item.first, path};
    const std::string name = item.first.IsScalar() ? item.first.Scalar() : "";
    if (std::find(known_keys().begin(), known_keys().end(), name) == known_keys().end()) {
      throw InputError(path + ": " + key.place("key") + ": unknown key '" + name + "'" +
                       did_you_mean(name, known_keys()));
    }
    if (!own.emplace(name, Entry{item.second, path}).second) {
      throw InputError(path, key.place(name), "each key once", "it again");
    }
  }
  Keys all;
  if (const auto include = own.find("include"); include != own.end()) {
    for (const Entry& item : items(include->second, "include")) {
      if (!item.node.IsScalar()) item.fail("include", "a study file");
      const std::string where = path + ": " + item.place("include");
      const fs::path beside = fs::path(item.folder()) / item.node.Scalar();
      std::string included = beside.string();
      try {
        if (!is_regular_file(beside.string())) included = resolve_study(item.node.Scalar());
      } catch (const InputError& error) {
        throw InputError(where + ": " + error.what());
      }
      const std::string target = fs::weakly_canonical(included).string();
      if (std::find(chain.begin(), chain.end(), target) != chain.end()) {
        std::string cycle;
        for (const std::string& file : chain) cycle += fs::path(file).filename().string() + " > ";
        throw InputError(where, "", "files that do not include each other",
                         cycle + fs::path(target).filename().string());
      }
      for (auto& [name, entry] : read_keys(included, chain)) all.insert_or_assign(name, entry);
    }
  }
  for (auto& [name, entry] : own) all.insert_or_assign(name, entry);
  all.erase("include");
  return all;
}

/// Typed access to the keys of a study.
class Reader {
 public:
  Reader(std::string file, Keys keys) : file_(std::move(file)), keys_(std::move(keys)) {}

  const Entry* find(const std::string& key) const {
    const auto found = keys_.find(key);
    return found == keys_.end() ? nullptr : &found->second;
  }
  const Entry& require(const std::string& key, const std::string& expected) const {
    const Entry* entry = find(key);
    if (!entry) throw InputError(file_, "key " + key, expected, "no such key");
    return *entry;
  }

  std::string text(const std::string& key, bool required) const {
    const Entry* entry = required ? &require(key, "a value") : find(key);
    if (!entry) return "";
    if (!entry->node.IsScalar() || entry->node.Scalar().empty()) entry->fail(key, "a text");
    return entry->node.Scalar();
  }

  std::vector<int> integers(const std::string& key, std::vector<int> standard) const {
    const Entry* entry = find(key);
    if (!entry) return standard;
    std::vector<int> values;
    for (const Entry& item : items(*entry, key)) {
      values.push_back(integer_of(item, key));
      if (std::count(values.begin(), values.end(), values.back()) > 1) {
        item.fail(key, "each entry once");
      }
    }
    return values;
  }

  int integer(const std::string& key, int standard) const {
    const Entry* entry = find(key);
    return entry ? integer_of(*entry, key) : standard;
  }

 private:
  static int integer_of(const Entry& entry, const std::string& key) {
    double value = 0;
    if (!entry.node.IsScalar() || !parse_number(entry.node.Scalar(), value) || !(value >= 1) ||
        value != std::floor(value) || value > 1e6) {
      entry.fail(key, "a whole number from 1 to 1000000");
    }
    return static_cast<int>(value);
  }

  std::string file_;
  Keys keys_;
};

/// What a problem entry names: a catalogue problem, a file, or the files that a pattern matches; of
/// a sequence its steps.
std::vector<std::string> problem_files_of(const Entry& item) {
  const std::string& name = item.node.Scalar();
  if (name.find_first_of("*?[") == std::string::npos) {
    return steps_of(resolve_problem(name, item.folder()));
  }
  const std::string pattern =
      fs::path(name).is_absolute() ? name : (fs::path(item.folder()) / name).string();
  std::vector<std::string> files;
  glob_t matches{};
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
    files.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
  if (files.empty()) throw InputError(name, "", "at least one file of that pattern", "none");
  std::vector<std::string> problems;
  for (const std::string& file : files) {
    for (std::string& step : steps_of(file)) problems.push_back(std::move(step));
  }
  return problems;
}

std::vector<std::string> read_problems(const Reader& reader) {
  std::vector<std::string> result;
  if (!reader.find("problems") && reader.find("select")) {  // out of all there are
    for (const CatalogueEntry& problem : catalogue()) {
      if (!is_sequence(problem.file)) result.push_back(problem.file);
    }
    return result;
  }
  std::set<std::string> names, paths;
  for (const Entry& item : items(reader.require("problems", "a list"), "problems")) {
    if (!item.node.IsScalar()) item.fail("problems", "a text");
    if (!names.insert(item.node.Scalar()).second) item.fail("problems", "each entry once");
    const std::string where = item.file + ": " + item.place("problems");
    std::vector<std::string> files;
    try {
      files = problem_files_of(item);
    } catch (const InputError& error) {
      throw InputError(where + ": " + error.what());
    }
    for (const std::string& file : files) {
      if (!paths.insert(fs::weakly_canonical(file).string()).second) {
        throw InputError(where, "", "each problem once", item.node.Scalar() + " again");
      }
      result.push_back(file);
    }
  }
  return result;
}

/// The solvers of an entry: `id[option=value,...]`, or a map {id: {option: value or values, ...}}
/// that stands for all combinations.
std::vector<SolverSpec> solvers_of(const Entry& item) {
  if (item.node.IsScalar()) return {SolverSpec::parse(item.node.Scalar())};
  if (!item.node.IsMap() || item.node.size() != 1) {
    item.fail("solvers", "a text, or a map of one solver and its options");
  }
  const auto pair = *item.node.begin();
  std::vector<SolverSpec> specs(1);
  specs[0].id = pair.first.Scalar();
  const Entry options{pair.second, item.file};
  if (!options.node.IsMap()) options.fail(specs[0].id, "a map of options");
  for (const auto& option : options.node) {
    const std::string& name = option.first.Scalar();
    const std::vector<Entry> values = items({option.second, item.file}, name);
    std::set<std::string> seen;
    for (const Entry& value : values) {
      if (!value.node.IsScalar()) value.fail(name, "a value");
      if (!seen.insert(value.node.Scalar()).second) value.fail(name, "each value once");
    }
    std::vector<SolverSpec> extended;
    for (const SolverSpec& spec : specs) {
      for (const Entry& value : values) {
        extended.push_back(spec);
        extended.back().options.emplace_back(name, value.node.Scalar());
      }
    }
    specs = std::move(extended);
  }
  return specs;
}

/// Whether an entry of `solvers` is {external: {...}}.
bool is_external(const Entry& item) {
  return item.node.IsMap() && item.node.size() == 1 &&
         item.node.begin()->first.Scalar() == "external";
}

/// Sets a field of a request from a scalar, or from a list where the field is one.
void set_field(const RequestField& field, const Entry& entry, RunRequest& request) {
  using Shape = RequestField::Shape;
  const bool words = field.shape == Shape::text || field.shape == Shape::list;
  const bool list = field.shape == Shape::list || field.shape == Shape::numbers;
  const auto place = [&](const Entry& item) { return item.file + ": " + item.place(field.name); };
  std::string all;
  std::set<std::string> seen;
  for (const Entry& item : list ? items(entry, field.name) : std::vector<Entry>{entry}) {
    if (!item.node.IsScalar() || (words && item.node.Scalar().empty())) {
      item.fail(field.name, words ? "a text" : field.allowed);
    }
    RunRequest alone = request;
    field.set(alone, item.node.Scalar(), place(item));
    if (field.shape == Shape::list && !seen.insert(field.text(alone)).second) {
      item.fail(field.name, "each entry once");
    }
    all += (all.empty() ? "" : ",") + item.node.Scalar();
  }
  field.set(request, all, place(entry));
}

ExternalSolver read_external(const Entry& item) {
  const Entry map{item.node.begin()->second, item.file};
  if (!map.node.IsMap()) map.fail("external", "a map of name, command, law and tolerances");
  const auto text = [](const Entry& value, const std::string& key) {
    if (!value.node.IsScalar() || value.node.Scalar().empty()) value.fail(key, "a text");
    return value.node.Scalar();
  };
  RunRequest request;
  ExternalSolver& solver = request.external.emplace();
  solver.folder = fs::absolute(map.folder()).string();
  const std::string where = item.file + ": " + item.place("external");
  for (const auto& pair : map.node) {
    const Entry key{pair.first, item.file}, value{pair.second, item.file};
    const std::string name = pair.first.Scalar();
    std::vector<std::string> known = {"name", "command"};
    const RequestField* more = nullptr;
    for (const RequestField& field : request_fields()) {
      if (field.needs != "external") continue;
      known.push_back(field.name);
      if (field.name == name) more = &field;
    }
    if (name == "name") {
      solver.name = text(value, name);
    } else if (name == "command" && value.node.IsSequence()) {
      for (const auto& word : value.node) solver.command.push_back(text({word, item.file}, name));
    } else if (name == "command") {
      solver.command = split_command(text(value, name), where);
    } else if (more) {
      set_field(*more, value, request);
    } else {
      throw InputError(item.file + ": " + key.place("external") + ": unknown key '" + name + "'" +
                       did_you_mean(name, known));
    }
  }
  check_external(solver, where);
  return solver;
}

void read_solvers(const Reader& reader, Study& study) {
  std::map<std::string, std::string> seen;  // by the one spelling, as it is written
  for (const Entry& item : items(reader.require("solvers", "a list"), "solvers")) {
    const std::string where = item.file + ": " + item.place("solvers");
    std::vector<SolverSpec> specs;
    try {
      if (is_external(item)) {
        const ExternalSolver external = read_external(item);
        specs = {{external.name, {}}};
        study.externals.emplace(external.name, external);
      } else {
        specs = solvers_of(item);
        for (const SolverSpec& spec : specs) canonical_solver(spec);  // good ones only
      }
    } catch (const InputError& error) {
      const std::string message = error.what();
      throw InputError(message.rfind(item.file + ": ", 0) == 0 ? message : where + ": " + message);
    }
    for (const SolverSpec& spec : specs) {
      const bool external = study.externals.count(spec.id) > 0;
      study.solvers.push_back(external ? spec : canonical_solver(spec));
      const std::string text = study.solvers.back().text();
      if (const auto [before, is_new] = seen.emplace(text, spec.text()); !is_new) {
        const std::string other =
            before->second == spec.text() ? "" : ", which is " + before->second;
        throw InputError(item.file, item.place("solvers"), "each entry once",
                         "'" + spec.text() + "'" + other);
      }
      if (text != spec.text()) study.written[text] = spec.text();
    }
  }
}

void read_starts(const Entry& entry, Study& study) {
  study.starts.clear();
  for (const Entry& item : items(entry, "starts")) {
    if (!item.node.IsScalar()) item.fail("starts", "a text");
    const std::string written = item.node.Scalar(),
                      start = canonical_start(written, item.file + ": " + item.place("starts"));
    if (std::count(study.starts.begin(), study.starts.end(), start) > 0) {
      item.fail("starts", "each entry once");
    }
    study.starts.push_back(start);
    if (start != written) study.written[start] = written;
  }
}

void read_selection(const Reader& reader, Study& study) {
  const Entry* entry = reader.find("select");
  if (!entry) return;
  study.select_place = entry->file + ": " + entry->place("select");
  if (!entry->node.IsMap() || entry->node.size() == 0) {
    entry->fail("select", "a map of descriptors and ranges");
  }
  const std::vector<std::string> known = descriptor_names();
  for (const auto& item : entry->node) {
    const Entry key{item.first, entry->file}, value{item.second, entry->file};
    Selection condition;
    condition.descriptor = item.first.Scalar();
    if (std::find(known.begin(), known.end(), condition.descriptor) == known.end()) {
      throw InputError(entry->file + ": " + key.place("select") + ": unknown descriptor '" +
                       condition.descriptor + "'" + did_you_mean(condition.descriptor, known) +
                       fmt::format(" (there are {})", fmt::join(known, ", ")));
    }
    if (!value.node.IsScalar() || !parse_range(value.node.Scalar(), condition)) {
      value.fail(condition.descriptor, "a range: 5, 1e4..1e5, 100.., '>100' or '<=0.5'");
    }
    study.select.push_back(condition);
  }
}

}  // namespace

std::string safe_in_file_names(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_';
    if (plain) {
      result += c;
    } else if (c == '[' || c == ',') {
      result += '_';
    } else if (c == '=') {
      result += '-';
    }
  }
  return result;
}

std::vector<std::string> study_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(studies_folder(), error)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string resolve_study(const std::string& name_or_path) {
  if (is_regular_file(name_or_path)) return name_or_path;
  const fs::path named = studies_folder() / (present_name(name_or_path) + ".yaml");
  if (path_exists(named.string())) return named.string();
  const std::vector<std::string> names = study_names();
  throw InputError(name_or_path, "",
                   fmt::format("a study file or one of {}", fmt::join(names, ", ")),
                   "no such file" + did_you_mean(name_or_path, names));
}

std::vector<std::pair<std::string, std::string>> study_entries() {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const std::string& name : study_names()) {
    entries.emplace_back(name,
                         read_study((studies_folder() / (name + ".yaml")).string()).description);
  }
  return entries;
}

bool parse_range(const std::string& text, Selection& range) {
  const auto number = [](const std::string& word, double& value) {
    return parse_number(word, value) && std::isfinite(value);
  };
  const std::size_t dots = text.find("..");
  if (dots != std::string::npos) {
    const std::string low = text.substr(0, dots), high = text.substr(dots + 2);
    if (low.empty() && high.empty()) return false;
    if (!low.empty() && !number(low, range.low)) return false;
    if (!high.empty() && !number(high, range.high)) return false;
    return range.low <= range.high;
  }
  if (text.empty()) return false;
  const bool equal = text.size() > 1 && text[1] == '=';
  const std::string rest = text.substr(equal ? 2 : 1);
  if (text[0] == '>') {
    range.above = !equal;
    return number(rest, range.low);
  }
  if (text[0] == '<') {
    range.below = !equal;
    return number(rest, range.high);
  }
  if (!number(text, range.low)) return false;
  range.high = range.low;
  return true;
}

Study read_study(const std::string& path) {
  const Reader reader(path, read_keys(path, {}));
  Study study;
  study.name = reader.text("name", true);
  if (study.name != safe_in_file_names(study.name)) {
    throw InputError(path, "key name", "letters, digits, '-', '_' and '.'", "'" + study.name + "'");
  }
  study.description = reader.text("description", false);
  study.problem_files = read_problems(reader);
  read_selection(reader, study);
  read_solvers(reader, study);
  if (const Entry* starts = reader.find("starts")) read_starts(*starts, study);
  study.request.study = study.name;
  study.request.study_description = study.description;
  for (const RequestField& field : request_fields()) {
    if (!field.in_study) continue;
    if (const Entry* entry = reader.find(field.name)) set_field(field, *entry, study.request);
  }
  study.repetitions = reader.integer("repetitions", 1);
  study.threads = reader.integers("threads", {1});
  study.ranks = reader.integers("ranks", {1});
  study.seed = reader.integer("seed", study.seed);
  for (const int threads : study.threads) check_threads(threads, path + ": key threads");
  return study;
}

}  // namespace ccp
