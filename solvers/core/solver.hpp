#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "problems/base/options.hpp"
#include "solvers/core/law.hpp"
#include "solvers/core/observer.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/core/status.hpp"

namespace ccp {

/// What a solve says of itself.
struct Info {
  Status status = Status::numerical_error;  ///< how it ended, in the solver's own words
  std::string message;                      ///< one line of detail, may be empty
  Counters counters;
  double own_residual = 0;
  std::string own_residual_name;  ///< what own_residual is, with its unit
  /// Seconds inside the solve, by part: assembly, preconditioner, krylov, projection, ...
  std::map<std::string, double> timers;
};

/// A method for   K_mu ∋ gamma ⊥ u = N gamma + r ∈ K_mu*.
///
/// Life of one: construct, `options().set(...)`, `setup` once per problem, `solve` any number of
/// times.
class Solver {
 public:
  virtual ~Solver() = default;

  /// The options, bound to this object.
  virtual OptionList options() = 0;

  /// Refuses options that contradict each other, before any work. make_solver calls it once the
  /// options are set. @param given  names of the options that were set, not left at their defaults
  /// @throws InputError with the reason
  virtual void check_options(const std::vector<std::string>& given) const { (void)given; }

  /// The law that it solves with its options as they are.
  virtual Law law() const { return Law::convex; }

  /// Why these options do not take the problem, in one sentence, where its row of the registry says
  /// that it does; "" if they do.
  virtual std::string why_unsupported(const ContactProblem& problem) const {
    (void)problem;
    return "";
  }

  /// Whether a solve takes r as it stands when it begins (see setup), and solves for the cones
  /// themselves: what a solver must do to be the inner one of another.
  virtual bool can_be_inner() const { return true; }

  /// Everything that depends on the problem but neither on the iterate nor on r: of the free
  /// velocity, what stands in problem.r() when a solve begins counts. The problem must outlive the
  /// solver. @throws InputError only for options that contradict the problem
  virtual void setup(const Problem& problem) = 0;

  /// @param gamma     in: initial guess (used by solvers that declare warm_start); out: the answer.
  ///                  3n values [N s] on the problem's map, one column
  /// @param observer  called after every outer iteration; see observer.hpp
  virtual Info solve(Vector& gamma, Observer& observer) = 0;
};

}  // namespace ccp
