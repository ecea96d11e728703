#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solvers/batch/batch.hpp"

namespace ccp {

/// The solvers that work in batches: pgs, apgd and vipm.
std::vector<std::string> batch_solvers();

/// @param spec  with the options that the method has in a batch
/// @throws InputError for another solver, and for an option that has another value than the one the
///         batch works with
std::unique_ptr<BatchSolver> make_batch_solver(const SolverSpec& spec);

}  // namespace ccp
