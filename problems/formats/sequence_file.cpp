#include "problems/formats/sequence_file.hpp"

#include <fmt/format.h>

#include <map>
#include <regex>
#include <set>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/problem_file.hpp"

namespace ccp {
namespace {

constexpr const char* format_name = "ccpbench-sequence";

/// Checks steps against each other as they come.
class Consistency {
 public:
  /// @param where  names the step in messages
  void add(const std::string& where, const ContactProblem& step) {
    if (step.contacts() > 0 && step.identity.empty()) {
      throw InputError(where, "/contacts/identity", "a dataset: contacts keep their numbers",
                       "nothing of that name");
    }
    if (!names_.insert(step.name).second) {
      throw InputError(where, "attribute name", "a name of its own",
                       "'" + step.name + "', as an earlier step");
    }
    if (names_.size() == 1) {
      form_ = step.form, bodies_ = step.bodies(), dt_ = step.dt;
    } else if (step.form != form_) {
      throw InputError(where, "attribute form", "that of the steps before", "the other one");
    } else if (step.bodies() != bodies_) {
      throw InputError(where, "/bodies/inverse_mass",
                       fmt::format("{} values, as in the steps before", bodies_),
                       fmt::format("{}", step.bodies()));
    } else if (step.dt != dt_) {
      throw InputError(where, "/ccp attribute dt", fmt::format("{}, as in the steps before", dt_),
                       fmt::format("{}", step.dt));
    }
    for (std::size_t c = 0; c < step.contact_bodies.size() / 2; ++c) {
      const Pair pair{step.contact_bodies[2 * c], step.contact_bodies[2 * c + 1]};
      const auto [known, is_new] = pairs_.emplace(step.identity[c], pair);
      if (!is_new && known->second != pair) {
        throw InputError(where, fmt::format("/contacts/identity[{}]", c),
                         fmt::format("another number than {}, which bodies ({}, {}) had",
                                     step.identity[c], known->second.first, known->second.second),
                         fmt::format("it for ({}, {})", pair.first, pair.second));
      }
    }
  }

 private:
  using Pair = std::pair<std::int32_t, std::int32_t>;
  std::set<std::string> names_;
  std::map<std::int64_t, Pair> pairs_;
  ContactProblem::Form form_ = ContactProblem::Form::bodies;
  std::size_t bodies_ = 0;
  double dt_ = 0;
};

std::string step_place(const std::string& path, std::size_t step) {
  return fmt::format("{}#{}", path, step);
}

}  // namespace

std::string step_group(std::size_t step) {
  return fmt::format("/steps/{:04}", step);
}

ProblemPlace split_place(const std::string& place) {
  static const std::regex pattern("(.+)(#[0-9]{1,9}(\\.\\.[0-9]{1,9})?)");
  std::smatch match;
  if (!std::regex_match(place, match, pattern)) return {place, ""};
  return {match[1], match[2]};
}

void write_sequence(const std::string& path, const std::string& name,
                    const std::vector<ContactProblem>& steps, bool overwrite) {
  constexpr std::size_t most = 10000;  // by the four digits of their groups
  if (steps.empty() || steps.size() > most) {
    throw InputError(path, "", fmt::format("1 to {} steps", most), fmt::format("{}", steps.size()));
  }
  Consistency consistency;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    steps[k].validate(step_place(path, k));
    consistency.add(step_place(path, k), steps[k]);
  }
  Hdf5File file = Hdf5File::create(path, overwrite);
  file.set_attribute("/", "format", format_name);
  file.set_attribute("/", "version", static_cast<std::int64_t>(sequence_schema_version));
  file.set_attribute("/", "name", name);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    file.enter(step_group(k), step_place(path, k));
    put_problem(file, steps[k]);
  }
  file.enter("/", path);
  file.commit();
}

bool is_sequence(const std::string& path) {
  try {
    return Hdf5File::open(path).string_attribute("/", "format") == format_name;
  } catch (const InputError&) {
    return false;
  }
}

SequenceSummary read_sequence_summary(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const auto format = file.string_attribute("/", "format");
  if (format != format_name) {
    throw InputError(path, "root attribute format", fmt::format("'{}'", format_name),
                     format ? fmt::format("'{}'", *format) : "nothing");
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
  return {*name, groups.size()};
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

SequenceSummary check_sequence(const std::string& path) {
  const SequenceSummary summary = read_sequence_summary(path);
  Consistency consistency;
  for (std::size_t k = 0; k < summary.steps; ++k) {
    const std::string place = step_place(path, k);
    consistency.add(place, read_problem(place));
  }
  return summary;
}

}  // namespace ccp
