#include "solvers/auto/work.hpp"

#include <algorithm>
#include <cmath>

namespace ccp {

Work expected_work(const Problem& problem, double aim) {
  const ContactProblem& host = problem.host();
  const double n = problem.contacts();
  Work work;
  if (host.form == ContactProblem::Form::assembled) {
    const auto blocks = static_cast<double>(host.delassus.columns.size());
    work.iteration = 2.5 + 0.02 * n + 0.0055 * blocks;
    work.solve = 150 + 8 * n + 2.7 * blocks;
  } else {
    const double wide = host.rotates() || !problem.pools().empty() ? 2 : 1;
    work.iteration = 2.5 + 0.022 * n * (1 + wide) / 2;
    work.solve = 150 + 7 * n * wide * (1 + std::pow(n / 4000, 0.75));
  }
  const double powers = aim > 0 ? std::clamp(-std::log10(aim), 3.0, 8.0) : 8;
  work.solve *= 0.75 + 0.05 * (powers - 3);
  return work;
}

}  // namespace ccp
