#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solvers/linear/sparse_matrix.hpp"

namespace ccp {

/// A direct method for A x = b: the structure is analysed once, the values are factored whenever
/// they have changed. On the host.
class DirectSolver {
 public:
  virtual ~DirectSolver() = default;
  /// Factors A as it is now. @return "" or why that failed; solve() must not be called then
  virtual std::string factorize() = 0;
  virtual void solve(const Vector& b, Vector& x) = 0;
  /// Entries of the factor; 0 = not told.
  virtual double factor_entries() const { return 0; }
};

/// cholmod (supernodal Cholesky of SuiteSparse) and, where Trilinos has Amesos2, klu2 (its LU).
const std::vector<std::string>& direct_methods();
bool is_direct_method(const std::string& name);

/// Analyses the matrix, which is symmetric and must outlive the solver. @throws InputError for an
/// unknown name
std::unique_ptr<DirectSolver> make_direct_solver(const std::string& name,
                                                 Teuchos::RCP<const CrsMatrix> a);

}  // namespace ccp
