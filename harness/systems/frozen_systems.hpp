#pragma once

#include <string>
#include <utility>
#include <vector>

#include "problems/base/options.hpp"
#include "problems/model/contact_problem.hpp"
#include "solvers/linear/system_source.hpp"

namespace ccp {

/// Versions of the file schema; see docs/frozen-systems.md. Systems in contact space are written as
/// version 1, those in body space as version 2, and both are read.
inline constexpr int systems_schema_version = 2;

/// One linear system  A x = b  of a solver, as plain host data.
///
/// Contact space: A dgamma = b, A = T P(w) T + N + R in contact axes (n, t1, t2), with T = diag(mu,
/// 1, 1) and P(w) = w w^T - det w diag(1, -1, -1); N is the problem's.
/// Body space: A = S = 1 + E^T K E in world axes, as the blocks of FrozenSystems::pattern.
struct FrozenSystem {
  long outer = 0;           ///< outer iterations done before it
  std::vector<double> rhs;  ///< b, [n][3] or [rows][block size]

  // Contact space.
  double alpha = 0, beta = 0;  ///< of the central path aimed at, and its factor
  double f_cen = 0, s = 0;     ///< centrality and artificial variable of the iterate
  std::vector<double> w, det;  ///< [n][3], [n]; where mu = 0: (0, 0, 0) and y_n / x_n

  // Body space.
  std::vector<double> blocks;  ///< [blocks][block size][block size], HostBlocks::values
};

/// Linear systems of one solve of one problem.
struct FrozenSystems {
  std::string instance, instance_hash;  ///< of the problem
  std::string problem;                  ///< file or catalogue name, as it was given
  std::string solver;                   ///< the spec that made them
  std::size_t contacts = 0;             ///< n, of the problem
  Space space = Space::contact;
  std::vector<FrozenSystem> systems;
  std::vector<std::pair<std::string, std::string>> provenance;

  // Contact space.
  std::vector<double> regularization;  ///< R, [n][2] normal and tangential, 1/kg

  // Body space.
  HostBlocks pattern;              ///< without values; its rows are sorted by level
  std::vector<std::int64_t> body;  ///< [rows] the problem's number of the body of each row

  int block_size() const { return space == Space::contact ? 3 : pattern.block_size; }
};

/// Iteration numbers as "5,10,20", "0:40:2" (first:last:step) or "all" (an empty list).
/// @throws InputError
std::vector<long> parse_iterations(const std::string& text, const std::string& where);

/// Why the solve that gave the systems ended.
struct FreezeOutcome {
  FrozenSystems systems;
  std::string ended;  ///< status and message of a solver that ended by itself; "" if all were met
};

/// Solves the problem with a solver that is a SystemSource and keeps the systems asked for. Kokkos
/// must be running.
/// @param at  outer iterations done before a system; empty: all
/// @throws InputError if the solver is another one, if its systems are no matrices of blocks (only
/// N
///         is known), or none of them is met
FreezeOutcome freeze_systems(const ContactProblem& host, const SolverSpec& solver,
                             const std::vector<long>& at);

/// @throws InputError if the file exists (and `overwrite` is false) or cannot be written
void write_systems(const std::string& path, const FrozenSystems& systems, bool overwrite);

/// Reads and checks a file of systems. @throws InputError naming file, dataset, expected and found
FrozenSystems read_systems(const std::string& path);

/// The problem the systems belong to: the file `problem`, or where that is empty the one they name,
/// as it is or beside their own file. @throws InputError if it is not there or has another hash
ContactProblem problem_of(const FrozenSystems& systems, const std::string& systems_path,
                          const std::string& problem);

}  // namespace ccp
