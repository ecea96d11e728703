#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/run/provenance.hpp"
#include "harness/systems/frozen_systems.hpp"

namespace ccp {

/// Version of the file schema of precond results; see docs/frozen-systems.md.
inline constexpr int precond_schema_version = 1;

/// Which methods to try on frozen systems.
struct PrecondRequest {
  std::vector<std::string> methods;         ///< of linear_methods(); a direct one is run once
  std::vector<SolverSpec> preconditioners;  ///< id[option=value,...]
  std::string apply = "matrix_free";        ///< one of linear_operators()
  double tolerance = 1e-3;                  ///< on the relative residual, as ipm's default
  int max_iterations = 500;                 ///< as ipm's default
  int restart = 50;                         ///< of gmres
  int eigenvalue_steps = 0;                 ///< Krylov steps of the estimates; 0: none
};

/// One method with one preconditioner on one system.
struct PrecondRow {
  long outer = 0;  ///< of the system
  std::string method, preconditioner;
  /// converged (`residual` is at most 1.5 times the tolerance, whatever the method says),
  /// inaccurate (it is not, though the method says so), max_iterations, breakdown,
  /// no_preconditioner (its computation failed) or refused (a combination that makes no sense)
  std::string status;
  std::string message;
  long iterations = 0;
  double structure = 0;  ///< s, assembly of N and all that is done once per problem
  double assembly = 0;   ///< s, values of A
  double setup = 0;      ///< s, values of the preconditioner, or factorisation
  double solve = 0;      ///< s
  double residual = 0;   ///< |b - A x| / |b| with the solver's own product, NaN if there is no x
  double low = 0, high = 0, imaginary = 0;  ///< ends of the spectrum, NaN if not estimated
  long eigenvalue_steps = 0;
  std::string eigenvalue_method;
  double shift = 0;
  long restarts = 0;
};

/// Checks names, options and combinations. Needs no Kokkos. @throws InputError
void check_request(const PrecondRequest& request);

/// Solves every system with every combination, one after the other. Kokkos must be running.
/// @param done  called after every row; may be empty
std::vector<PrecondRow> run_precond(const PrecondRequest& request, const FrozenSystems& systems,
                                    const ContactProblem& host,
                                    const std::function<void(const PrecondRow&)>& done = {});

/// "a,b[x=1,y=2],c" split at the commas outside brackets. @throws InputError
std::vector<SolverSpec> parse_specs(const std::string& text, const std::string& where);

/// The same of preconditioners, each in its one spelling. @throws InputError, also for one that is
/// named twice
std::vector<SolverSpec> parse_preconditioners(const std::string& text, const std::string& where);

/// @throws InputError if the file exists (and `overwrite` is false) or cannot be written
void write_precond(const std::string& path, const PrecondRequest& request,
                   const FrozenSystems& systems, const std::vector<PrecondRow>& rows,
                   const Provenance& provenance, bool overwrite);

/// Reads and checks a file of results. @throws InputError
std::vector<PrecondRow> read_precond(const std::string& path);

}  // namespace ccp
