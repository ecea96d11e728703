#include "harness/study.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "problems/catalogue.hpp"
#include "problems/error.hpp"
#include "problems/problem_file.hpp"
#include "problems/sha256.hpp"
#include "solvers/core/registry.hpp"

namespace ccp {
namespace fs = std::filesystem;

namespace {

fs::path studies_folder() {
  return fs::path(CCP_SOURCE_DIR) / "harness" / "studies";
}

std::string place(const YAML::Node& node, const std::string& key) {
  return fmt::format("line {}, {}", node.Mark().line + 1, key);
}

std::string type_of(const YAML::Node& node) {
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  if (node.IsNull()) return "nothing";
  return "'" + node.Scalar() + "'";
}

class Reader {
 public:
  Reader(std::string file, YAML::Node root) : file_(std::move(file)), root_(std::move(root)) {
    if (!root_.IsMap()) throw InputError(file_, "", "a map of keys", type_of(root_));
  }

  void only(const std::vector<std::string>& known) const {
    std::set<std::string> seen;
    for (const auto& item : root_) {
      const std::string key = item.first.Scalar();
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        throw InputError(file_ + ": " + place(item.first, "key") + ": unknown key '" + key + "'" +
                         did_you_mean(key, known));
      }
      if (!seen.insert(key).second) {
        throw InputError(file_, place(item.first, key), "each key once", "it again");
      }
    }
  }

  std::string text(const std::string& key, bool required) const {
    const YAML::Node node = root_[key];
    if (!node) {
      if (required) throw InputError(file_, "key " + key, "a value", "no such key");
      return "";
    }
    if (!node.IsScalar() || node.Scalar().empty()) fail(node, key, "a text");
    return node.Scalar();
  }

  double number(const std::string& key, double standard) const {
    const YAML::Node node = root_[key];
    if (!node) return standard;
    double value = 0;
    if (!node.IsScalar() || !parse_number(node.Scalar(), value) || !(value > 0) ||
        !std::isfinite(value)) {
      fail(node, key, "a number > 0");
    }
    return value;
  }

  std::vector<int> integers(const std::string& key, std::vector<int> standard) const {
    const YAML::Node node = root_[key];
    if (!node) return standard;
    std::vector<int> values;
    for (const YAML::Node& item : items(node, key)) {
      values.push_back(integer_of(item, key));
      if (std::count(values.begin(), values.end(), values.back()) > 1) {
        fail(item, key, "each entry once");
      }
    }
    return values;
  }

  int integer(const std::string& key, int standard) const {
    const YAML::Node node = root_[key];
    return node ? integer_of(node, key) : standard;
  }

  /// The scalars of a list (or the one scalar), with their lines, never empty and without repeats.
  std::vector<std::pair<std::string, std::string>> texts(const std::string& key,
                                                         bool required) const {
    std::vector<std::pair<std::string, std::string>> result;
    const YAML::Node node = root_[key];
    if (!node) {
      if (required) throw InputError(file_, "key " + key, "a list", "no such key");
      return result;
    }
    std::set<std::string> seen;
    for (const YAML::Node& item : items(node, key)) {
      if (!item.IsScalar()) fail(item, key, "a text");
      if (!seen.insert(item.Scalar()).second) {
        fail(item, key, "each entry once");
      }
      result.emplace_back(item.Scalar(), file_ + ": " + place(item, key));
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const YAML::Node& node, const std::string& key,
                         const std::string& expected) const {
    throw InputError(file_, place(node, key), expected, type_of(node));
  }

  std::vector<YAML::Node> items(const YAML::Node& node, const std::string& key) const {
    std::vector<YAML::Node> list;
    if (node.IsScalar()) {
      list.push_back(node);
    } else if (node.IsSequence()) {
      for (const auto& item : node) list.push_back(item);
    }
    if (list.empty()) fail(node, key, "at least one entry");
    return list;
  }

  int integer_of(const YAML::Node& node, const std::string& key) const {
    double value = 0;
    if (!node.IsScalar() || !parse_number(node.Scalar(), value) || !(value >= 1) ||
        value != std::floor(value) || value > 1e6) {
      fail(node, key, "a whole number >= 1");
    }
    return static_cast<int>(value);
  }

  std::string file_;
  YAML::Node root_;
};

/// Letters that are safe in file names everywhere.
std::string safe(const std::string& text) {
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

std::string digest(const std::string& text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex();
}

}  // namespace

std::string resolve_study(const std::string& name_or_path) {
  if (fs::exists(name_or_path)) return name_or_path;
  const fs::path named = studies_folder() / (name_or_path + ".yaml");
  if (fs::exists(named)) return named.string();
  throw InputError(name_or_path, "", "a study file or a name of `ccpbench list studies`",
                   "no such file");
}

std::vector<std::pair<std::string, std::string>> study_entries() {
  std::vector<std::pair<std::string, std::string>> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(studies_folder(), error)) {
    if (entry.path().extension() != ".yaml") continue;
    const Study study = read_study(entry.path().string());
    entries.emplace_back(entry.path().stem().string(), study.description);
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

Study read_study(const std::string& path) {
  if (!fs::is_regular_file(path)) throw InputError(path, "", "a study file (YAML)", "no such file");
  YAML::Node root;
  try {
    root = YAML::LoadFile(path);
  } catch (const YAML::ParserException& error) {
    throw InputError(path,
                     fmt::format("line {}, column {}", error.mark.line + 1, error.mark.column + 1),
                     "YAML", error.msg);
  } catch (const YAML::BadFile&) {
    throw InputError(path, "", "a readable study file", "one that cannot be opened");
  }
  const Reader reader(path, root);
  reader.only({"name", "description", "problems", "solvers", "stop", "targets", "time_limit",
               "repetitions", "threads"});
  Study study;
  study.name = reader.text("name", true);
  if (study.name != safe(study.name)) {
    throw InputError(path, "key name", "letters, digits, '-', '_' and '.'", "'" + study.name + "'");
  }
  study.description = reader.text("description", false);
  const std::string folder = fs::path(path).parent_path().string();
  std::set<std::string> files;
  for (const auto& [name, where] : reader.texts("problems", true)) {
    try {
      study.problem_files.push_back(resolve_problem(name, folder.empty() ? "." : folder));
    } catch (const InputError& error) {
      throw InputError(where + ": " + error.what());
    }
    if (!files.insert(fs::weakly_canonical(study.problem_files.back()).string()).second) {
      throw InputError(where, "", "each problem once", name + " again");
    }
  }
  for (const auto& [text, where] : reader.texts("solvers", true)) {
    try {
      study.solvers.push_back(SolverSpec::parse(text));
      make_solver(study.solvers.back());
    } catch (const InputError& error) {
      throw InputError(where + ": " + error.what());
    }
  }
  if (const std::string stop = reader.text("stop", false); !stop.empty()) {
    study.stop = parse_target(stop, path + ": key stop");
  }
  for (const auto& [text, where] : reader.texts("targets", false)) {
    study.targets.push_back(parse_target(text, where));
  }
  study.time_limit = reader.number("time_limit", study.time_limit);
  study.repetitions = reader.integer("repetitions", 1);
  study.threads = reader.integers("threads", {1});
  if (backend_name() == "Serial") {
    for (const int threads : study.threads) {
      if (threads != 1) {
        throw InputError(path, "key threads", "1: this build runs on Kokkos Serial",
                         fmt::format("{}", threads));
      }
    }
  }
  return study;
}

std::vector<PlannedRun> plan(const Study& study) {
  std::vector<PlannedRun> runs;
  const std::string build = build_identity(), machine = machine_identity();
  std::map<std::string, std::string> seen;  // name and content, and the file they came from
  for (const std::string& file : study.problem_files) {
    const ContactProblem problem = read_problem(file);
    const std::string hash = problem.content_hash();
    const auto [first, is_new] = seen.emplace(problem.name + hash, file);
    if (!is_new) {
      throw InputError(file, "", "a problem that the study does not have yet",
                       "the same name and content as " + first->second);
    }
    for (const int threads : study.threads) {
      for (int repetition = 1; repetition <= study.repetitions; ++repetition) {
        for (const SolverSpec& spec : study.solvers) {
          PlannedRun planned;
          RunRequest& request = planned.request;
          request.problem_file = file;
          request.solver = spec;
          request.recorder.stop = study.stop;
          request.recorder.targets = study.targets;
          request.recorder.time_limit = study.time_limit;
          request.threads = threads;
          request.study = study.name;
          request.repetition = repetition;

          std::string options;
          for (const auto& option : make_solver(spec)->options().entries()) {
            options += option.name + "=" + option.value + ";";
          }
          std::string targets = study.stop.text();
          for (const Target& target : study.targets) targets += ";" + target.text();
          planned.key = digest(
              fmt::format("{}|{}|{}|{}|{}|threads {} ranks 1|limit {}|{}|referee {}|repetition {}",
                          hash, spec.id, options, build, machine, threads, study.time_limit,
                          targets, referee_version, repetition));
          // Readable, and unique by the digest of what the readable part may have lost.
          const std::string solver = safe(spec.text()).substr(0, 80);
          planned.file_name =
              fmt::format("{}__{}__t{}__r{}__{}.h5", safe(problem.name), solver, threads,
                          repetition, digest(hash + spec.text()).substr(0, 6));
          runs.push_back(std::move(planned));
        }
      }
    }
  }
  return runs;
}

}  // namespace ccp
