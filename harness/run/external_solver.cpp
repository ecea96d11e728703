#include "harness/run/external_solver.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "problems/base/error.hpp"
#include "problems/base/options.hpp"
#include "problems/base/sha256.hpp"
#include "solvers/registry.hpp"

namespace ccp {
namespace fs = std::filesystem;

namespace {

const std::vector<std::string>& placeholders() {
  static const std::vector<std::string> names = {"problem", "output", "time_limit", "threads",
                                                 "tolerance"};
  return names;
}

/// `{name}` in words, for the names that are placeholders.
std::set<std::string> used_placeholders(const std::vector<std::string>& words,
                                        const std::string& where) {
  std::set<std::string> used;
  for (const std::string& word : words) {
    for (std::size_t begin = word.find('{'); begin != std::string::npos;
         begin = word.find('{', begin + 1)) {
      const std::size_t end = word.find('}', begin);
      const std::string name =
          end == std::string::npos ? "" : word.substr(begin + 1, end - begin - 1);
      if (std::find(placeholders().begin(), placeholders().end(), name) == placeholders().end()) {
        throw InputError(
            where, "command",
            fmt::format("placeholders out of {{{}}}", fmt::join(placeholders(), "}, {")),
            "'" + word + "'" + did_you_mean(name, placeholders()));
      }
      used.insert(name);
    }
  }
  return used;
}

/// The files of a path or pattern below a folder. @throws InputError if there are none
std::vector<std::string> files_of(const std::string& pattern, const std::string& folder) {
  std::vector<std::string> files;
  glob_t matches{};
  if (glob((fs::path(folder) / pattern).c_str(), 0, nullptr, &matches) == 0) {
    for (std::size_t i = 0; i < matches.gl_pathc; ++i) {
      std::error_code error;
      if (fs::is_regular_file(matches.gl_pathv[i], error)) files.emplace_back(matches.gl_pathv[i]);
    }
  }
  globfree(&matches);
  if (files.empty()) {
    throw InputError((fs::path(folder) / pattern).string(), "",
                     "a file, or files of that pattern, that an external solver depends on",
                     "none");
  }
  return files;
}

}  // namespace

std::vector<std::string> split_command(const std::string& command, const std::string& where) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;  // a word, which may be empty if it was quoted
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == ' ' || c == '\t' || c == '\n') {
      if (inside) words.push_back(word);
      word.clear();
      inside = false;
    } else if (c == '\'' || c == '"') {
      const std::size_t end = command.find(c, i + 1);
      if (end == std::string::npos) {
        throw InputError(where, "command", fmt::format("a second {} for the first", c), command);
      }
      word += command.substr(i + 1, end - i - 1);
      inside = true;
      i = end;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(word);
  return words;
}

std::string join_command(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_of(" \t\n'\"") == std::string::npos) {
      text += word;
      continue;
    }
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? "'\"'\"'" : std::string(1, c);
    text += quoted + "'";
  }
  return text;
}

std::string features_text(const ExternalSolver& solver) {
  std::string text;
  for (const Feature feature : solver.features) {
    text += (text.empty() ? "" : ",") + to_string(feature);
  }
  return text;
}

std::string depends_text(const ExternalSolver& solver) {
  return fmt::format("{}", fmt::join(solver.depends, ","));
}

std::string tolerances_text(const ExternalSolver& solver) {
  std::string text;
  for (const double tolerance : solver.tolerances) {
    text += (text.empty() ? "" : ",") + number_text(tolerance);
  }
  return text;
}

void check_external(ExternalSolver& solver, const std::string& where) {
  const bool plain = std::all_of(solver.name.begin(), solver.name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.';
  });
  if (!plain || solver.name.empty()) {
    throw InputError(where, "name", "letters, digits, '-', '_' and '.'", "'" + solver.name + "'");
  }
  for (const SolverEntry& entry : solver_entries()) {
    if (entry.id == solver.name) {
      throw InputError(where, "name", "one that is none of our solvers'", "'" + solver.name + "'");
    }
  }
  if (solver.command.empty()) throw InputError(where, "command", "a program", "nothing");
  const std::set<std::string> used = used_placeholders(solver.command, where);
  if (used.count("output") == 0) {
    throw InputError(where, "command", "{output}, where the program shall write its answer",
                     join_command(solver.command));
  }
  if (solver.tolerances.empty() == (used.count("tolerance") > 0)) {
    throw InputError(where, "command",
                     solver.tolerances.empty() ? "tolerances for {tolerance}"
                                               : "{tolerance}, for there are tolerances",
                     join_command(solver.command));
  }
  for (const double tolerance : solver.tolerances) {
    if (!(tolerance > 0) || !std::isfinite(tolerance)) {
      throw InputError(where, "tolerances", "numbers > 0", number_text(tolerance));
    }
  }
  for (const Feature feature : solver.features) {
    if (feature == Feature::distributed || feature == Feature::device) {
      throw InputError(where, "features", "what problems have: compliant, rolling, equality",
                       "'" + to_string(feature) + "'");
    }
  }
  std::sort(solver.tolerances.rbegin(), solver.tolerances.rend());
}

std::string external_identity(const ExternalSolver& solver) {
  std::string identity = fmt::format("external {}, {}, {}", join_command(solver.command),
                                     to_string(solver.law), tolerances_text(solver));
  if (!solver.features.empty()) identity += ", takes " + features_text(solver);
  for (const std::string& word : solver.command) {
    const fs::path path = fs::path(solver.folder) / word;
    std::error_code error;
    if (fs::is_regular_file(path, error)) identity += ", " + file_sha256(path.string());
  }
  for (const std::string& pattern : solver.depends) {
    for (const std::string& file : files_of(pattern, solver.folder)) {
      identity += ", " + file_sha256(file);
    }
  }
  return identity;
}

}  // namespace ccp
