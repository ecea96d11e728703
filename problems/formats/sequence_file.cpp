#include "problems/formats/sequence_file.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/problem_place.hpp"

namespace ccp {
namespace {

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

}  // namespace

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
  file.set_attribute("/", "format", sequence_format);
  file.set_attribute("/", "version", static_cast<std::int64_t>(sequence_schema_version));
  file.set_attribute("/", "name", name);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    file.enter(step_group(k), step_place(path, k));
    put_problem(file, steps[k]);
  }
  file.enter("/", path);
  file.commit();
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
