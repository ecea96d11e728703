#pragma once

#include <cmath>

#include "solvers/core/problem.hpp"
#include "solvers/core/vector_kernels.hpp"

namespace ccp {

/// Root of the mean square of a vector's entries; 0 if it has none.
inline double root_mean_square(const ConstVectorView& z) {
  return z.extent(0) == 0 ? 0
                          : std::sqrt(vector_kernels::dot(z, z) / static_cast<double>(z.extent(0)));
}

/// The same for r of a problem of contacts alone, on all ranks, m/s.
inline double root_mean_square_of_r(const Problem& problem) {
  if (problem.ranks().size() == 1) return root_mean_square(problem.r());
  const double squares = problem.ranks().sum(vector_kernels::dot(problem.r(), problem.r()));
  return std::sqrt(squares / (3.0 * static_cast<double>(problem.all_contacts())));
}

/// The same for r of a problem with triples beside the contacts, in m/s: pools times their length;
/// rows that are not in use do not count.
double root_mean_square_of_all_rows(const Problem& problem);

/// q = rms(r), m/s; 1 where that is zero; over all rows, those of the pools times their
/// Problem::pool_length(). With s = Problem::delassus_scale() it makes options free
/// of units: impulses are of the size q/s [N s], energies of the size q^2/s [J].
inline double velocity_scale(const Problem& problem) {
  const double q = problem.pools().empty() ? root_mean_square_of_r(problem)
                                           : root_mean_square_of_all_rows(problem);
  return q > 0 ? q : 1;
}

}  // namespace ccp
