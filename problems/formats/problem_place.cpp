#include "problems/formats/problem_place.hpp"

#include <fmt/format.h>

#include <regex>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/base/text.hpp"

namespace ccp {

std::string step_group(std::size_t step) {
  return fmt::format("/steps/{:04}", step);
}

std::string step_place(const std::string& path, std::size_t step) {
  return fmt::format("{}#{}", path, step);
}

ProblemPlace split_place(const std::string& place) {
  static const std::regex pattern("(.+)(#[0-9]{1,9}(\\.\\.[0-9]{1,9})?)");
  std::smatch match;
  if (!std::regex_match(place, match, pattern)) return {place, ""};
  return {match[1], match[2]};
}

std::string found_format(const Hdf5File& file) {
  if (const auto format = file.string_attribute("/", "format")) {
    return "'" + valid_utf8(*format) + "'";
  }
  if (file.has("/fclib_local") || file.has("/fclib_global")) {
    return "a problem of the Friction Contact Library; `ccpbench import fclib` makes a problem "
           "file "
           "of it";
  }
  return "nothing";
}

bool is_sequence(const std::string& path) {
  try {
    return Hdf5File::open(path).string_attribute("/", "format") == sequence_format;
  } catch (const InputError&) {
    return false;
  }
}

SequenceSummary read_sequence_summary(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const auto format = file.string_attribute("/", "format");
  if (format != sequence_format) {
    throw InputError(path, "root attribute format", fmt::format("'{}'", sequence_format),
                     found_format(file));
  }
  const auto version = file.number_attribute("/", "version");
  if (!version || version->size() != 1 || version->front() != sequence_schema_version) {
    throw InputError(
        path, "root attribute version", fmt::format("{}", sequence_schema_version),
        version && version->size() == 1 ? fmt::format("{}", version->front()) : "something else");
  }
  const auto name = file.string_attribute("/", "name");
  if (!name) throw InputError(path, "root attribute name", "a string", "nothing");
  const std::vector<std::string> groups = file.names("/steps");
  if (groups.empty()) throw InputError(path, "/steps", "at least one step", "none");
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if ("/steps/" + groups[k] != step_group(k)) {
      throw InputError(path, "/steps", fmt::format("groups 0000 to {:04}", groups.size() - 1),
                       "a member " + groups[k]);
    }
  }
  return {valid_utf8(*name), groups.size()};
}

std::vector<std::string> steps_of(const std::string& place) {
  const ProblemPlace split = split_place(place);
  if (!is_sequence(split.file)) {
    if (split.steps.empty()) return {place};
    throw InputError(place, "", "steps of a sequence", "a file that is none");
  }
  const std::size_t count = read_sequence_summary(split.file).steps;
  std::size_t first = 0, last = count - 1;
  if (!split.steps.empty()) {
    const std::size_t dots = split.steps.find("..");
    first = last = std::stoul(split.steps.substr(1));
    if (dots != std::string::npos) last = std::stoul(split.steps.substr(dots + 2));
    if (first > last || last >= count) {
      throw InputError(place, "", fmt::format("steps from #0 to #{}", count - 1), split.steps);
    }
  }
  std::vector<std::string> steps;
  for (std::size_t k = first; k <= last; ++k) steps.push_back(step_place(split.file, k));
  return steps;
}

}  // namespace ccp
