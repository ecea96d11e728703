#include "harness/start.hpp"

#include <algorithm>
#include <cmath>

#include "problems/error.hpp"
#include "solvers/core/options.hpp"

namespace ccp {

StepStart step_start(const std::string& text, const std::string& where,
                     const std::vector<std::string>& known) {
  constexpr double paper = 0.85;  // beta of seed 003
  const std::string begin = "history[beta=";
  const auto fail = [&](const std::string& found) {
    return InputError(where, "", "cold, NAME, NAME*FACTOR, history or history[beta=B]", found);
  };
  if (text == "cold") return {};
  if (text == "history") return {"previous", paper};
  const bool with_beta = text.rfind(begin, 0) == 0 && text.back() == ']';
  const std::size_t star = text.find('*');
  StepStart start;
  start.guess = with_beta ? "previous" : text.substr(0, star);
  std::string factor = "1";
  if (with_beta) {
    factor = text.substr(begin.size(), text.size() - begin.size() - 1);
  } else if (star != std::string::npos) {
    factor = text.substr(star + 1);
  }
  if (!parse_number(factor, start.factor) || !std::isfinite(start.factor) || start.factor < 0) {
    throw fail("'" + text + "'");
  }
  if (std::find(known.begin(), known.end(), start.guess) == known.end()) {
    throw InputError(where + ": unknown guess '" + start.guess + "'" +
                     did_you_mean(start.guess, known));
  }
  return start;
}

}  // namespace ccp
