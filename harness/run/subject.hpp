#pragma once

#include <memory>
#include <string>

#include "harness/measure/referee.hpp"
#include "harness/run/result.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/core/ranks.hpp"

namespace ccp {

/// What a run is about: a problem, or this rank's part of one, and who judges its iterates.
class Subject {
 public:
  virtual ~Subject() = default;

  virtual const ContactProblem& host() const = 0;  ///< the part of this rank
  virtual const Problem& problem() const = 0;
  virtual Measures judge(const Vector& gamma) = 0;
  /// A result with all that is known before the solve, of the whole problem.
  virtual RunResult describe(const RunRequest& request, const std::string& command_line) const = 0;
};

/// Reads the problem of a request, with all ranks together. On several ranks the referee has a
/// partition of its own, ranges of contacts and of bodies by number, and reads for itself: a fault
/// in what the solver's ranks believe to share does not pass.
/// @param seconds  set to the time it took to put the problem on the device
/// @throws InputError  on all ranks
std::unique_ptr<Subject> read_subject(const RunRequest& request, const Ranks& ranks,
                                      double& seconds);

}  // namespace ccp
