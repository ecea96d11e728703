#include "harness/run/start.hpp"

#include <fmt/format.h>

#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/base/options.hpp"
#include "problems/base/sha256.hpp"

namespace ccp {
namespace {

bool is_file(const std::string& name) {
  return name.size() > 3 && name.compare(name.size() - 3, 3, ".h5") == 0;
}

std::vector<double> impulses_of(const std::string& file, const ContactProblem& problem) {
  const Hdf5File result = Hdf5File::open(file);
  if (!result.has("/final/gamma")) {
    throw InputError(file, "/final/gamma", "impulses (`ccpbench solve --keep-gamma` stores them)",
                     "nothing of that name");
  }
  std::vector<double> gamma = result.read<double>("/final/gamma").data;
  if (gamma.size() != 3 * problem.triples()) {
    throw InputError(
        file, "/final/gamma",
        fmt::format("{} values, 3 per contact of {}", 3 * problem.triples(), problem.name),
        fmt::format("{}", gamma.size()));
  }
  return gamma;
}

std::vector<double> guess_of(const std::string& name, const ContactProblem& problem) {
  if (name == "reference" && problem.reference) return problem.reference->gamma;
  const auto found = problem.guesses.find(name);
  if (found != problem.guesses.end()) return found->second.gamma;
  std::vector<std::string> known{"cold"};
  if (problem.reference) known.emplace_back("reference");
  for (const auto& guess : problem.guesses) known.push_back(guess.first);
  throw InputError(problem.name, "start", fmt::format("one of {}", fmt::join(known, ", ")),
                   "'" + name + "'" + did_you_mean(name, known));
}

}  // namespace

Start parse_start(const std::string& text, const std::string& where) {
  const std::string history = "history", with_beta = "history[beta=";
  Start start{text};
  std::string factor;
  if (text == history) {
    return {"previous", 0.85};
  } else if (text.rfind(with_beta, 0) == 0 && text.back() == ']') {
    start.name = "previous";
    factor = text.substr(with_beta.size(), text.size() - with_beta.size() - 1);
  } else if (const std::size_t star = text.rfind('*'); star != std::string::npos) {
    start.name = text.substr(0, star);
    factor = text.substr(star + 1);
  } else if (!text.empty()) {
    return start;
  }
  if (start.name.empty()) {
    throw InputError(where, "", "cold, the name of a guess or a result file", "'" + text + "'");
  }
  if (!parse_number(factor, start.factor) || !(start.factor > 0) || !std::isfinite(start.factor)) {
    throw InputError(where, "factor of " + start.name, "a number > 0", "'" + factor + "'");
  }
  return start;
}

std::string canonical_start(const std::string& start, const std::string& where) {
  const Start asked = parse_start(start, where), history = parse_start("history", where);
  if (asked.factor == 1) return asked.name;
  if (asked.name == history.name && asked.factor == history.factor) return "history";
  return asked.name + "*" + number_text(asked.factor);
}

std::vector<double> start_values(const std::string& start, const ContactProblem& problem) {
  if (start == "cold") return {};
  const Start asked = parse_start(start, "start");
  std::vector<double> gamma =
      is_file(asked.name) ? impulses_of(asked.name, problem) : guess_of(asked.name, problem);
  for (double& value : gamma) {
    if (!std::isfinite(value)) {
      throw InputError(asked.name, "impulses of the start", "finite numbers", "others");
    }
    value *= asked.factor;
  }
  return gamma;
}

std::string start_identity(const std::string& start, const ContactProblem& problem) {
  if (start == "cold") return start;
  const std::vector<double> gamma = start_values(start, problem);
  Sha256 hash;
  hash.update(gamma.data(), gamma.size() * sizeof(double));
  return start + " " + hash.hex().substr(0, 16);
}

}  // namespace ccp
