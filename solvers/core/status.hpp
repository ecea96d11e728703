#pragma once

#include "problems/base/enum_text.hpp"

namespace ccp {

/// How a solve ended. The first are a solver's own words, the last four only the harness's, who
/// watches the process. What was reached, only the referee says.
enum class Status {
  converged,            ///< the solver's own stopping rule holds
  max_iterations,       ///< the limit of iterations, its own or the harness's
  time_limit,           ///< ended by the harness at the time limit
  stagnated,            ///< no further progress possible (e.g. step length zero)
  diverged,             ///< iterates grow without bound
  numerical_error,      ///< NaN, breakdown, failed factorisation
  unsupported,          ///< the solver does not do this problem (form, feature or law)
  stopped_by_observer,  ///< the observer asked for it
  running,              ///< of a checkpoint: it has not ended
  crashed,              ///< its process ended without a result: signal, exception, exit code
  killed,               ///< its process still ran long after the time limit
  out_of_memory,        ///< its process held more than the memory limit, or could get no more
};

template <>
struct EnumTable<Status> {
  static constexpr EnumText<Status> rows[] = {
      {Status::converged, "converged"},     {Status::max_iterations, "max_iterations"},
      {Status::time_limit, "time_limit"},   {Status::stagnated, "stagnated"},
      {Status::diverged, "diverged"},       {Status::numerical_error, "numerical_error"},
      {Status::unsupported, "unsupported"}, {Status::stopped_by_observer, "stopped_by_observer"},
      {Status::running, "running"},         {Status::crashed, "crashed"},
      {Status::killed, "killed"},           {Status::out_of_memory, "out_of_memory"},
  };
};

/// Whether a run of that status did not end by itself.
inline bool is_failure(Status status) {
  return status == Status::crashed || status == Status::killed || status == Status::out_of_memory;
}

}  // namespace ccp
