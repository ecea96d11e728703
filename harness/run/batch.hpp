#pragma once

#include <string>
#include <vector>

#include "harness/run/result.hpp"
#include "problems/formats/fclib/mass_form.hpp"

namespace ccp {

/// A problem of a batch and where it is.
struct BatchProblem {
  std::string place;  ///< as users name it: FILE, FILE#3
  ContactProblem problem;
};

/// The problems of sources, in their order: problem files and catalogue names, sequences with all
/// their steps or some (FILE#3..10), FCLIB files, and folders, of which the files *.h5 and *.hdf5
/// are taken by name.
/// @param factorise  for FCLIB files that give M and H
/// @throws InputError for a source that is none of these, or that has no problem
std::vector<BatchProblem> read_batch(const std::vector<std::string>& sources,
                                     const MassFactoriser& factorise);

/// What came of a batch.
struct BatchResult {
  std::vector<RunRequest> requests;  ///< of each problem, as its result file has it
  std::vector<RunResult> rows;       ///< times are equal shares of the batch's
  double time = 0;                   ///< s, all solves
  double setup_time = 0;             ///< s
  double problem_time = 0;           ///< s, putting the problems on the device
};

/// Why a request does not go with a batch is an InputError: of what can be asked for, a batch knows
/// the solver, one `residual` to stop at (or `coulomb_residual`), the limits of time and
/// iterations, threads and keep_gamma.
void check_batch_request(const RunRequest& request);

/// Solves the problems at once (solvers/batch), those in bodies form and those of which only N is
/// known one after the other, then has the referee judge every answer. Kokkos must be running.
/// @throws InputError naming a problem that is not solved in a batch
BatchResult run_batch(const std::vector<BatchProblem>& problems, const RunRequest& request,
                      const std::string& command_line);

}  // namespace ccp
