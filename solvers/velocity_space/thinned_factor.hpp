#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "solvers/core/solver.hpp"
#include "solvers/linear/cholesky.hpp"
#include "solvers/linear/device_factor.hpp"
#include "solvers/velocity_space/machine_rates.hpp"
#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

/// Whose sparse Cholesky factorises S: cholmod, on the host, or cusolver, on the device.
const std::vector<std::string>& factor_libraries();

/// @throws InputError if this build does not have the library  @param where  as "solver vipm"
void check_factor_library(const std::string& where, const std::string& library);

/// A sparse Cholesky factor of S without the blocks below the diagonal whose Frobenius norm is
/// small (their shares of the diagonal stay). Near a solution most contacts slide or carry nothing,
/// and their blocks are small. One analysis serves until a block grows that it has not, or so many
/// have become small that another one is cheaper than going on without.
class ThinnedFactor {
 public:
  struct Options {
    /// Blocks of S below this norm [no unit, as S] are left out; 0: none.
    double thinning = 0;
    /// Whether a matrix that rounding has left indefinite may be factored with its diagonal times
    /// 1 + 1e-15, 1e-14, ...; solutions are then approximate.
    bool shifts = true;
    MachineRates rates{};
    std::string library = "cholmod";  ///< that factors: one of factor_libraries()
    /// Whether CHOLMOD's is kept in single precision, good for a preconditioner alone.
    bool single = false;
  };

  /// @param info  where factorisations are counted and timed
  ThinnedFactor(const Options& options, VelocitySystem& system, Info& info);

  /// To be called when the matrix has changed.
  void matrix_changed() { surveyed_ = false; }
  /// Of the structure of the matrix as it is now.
  void analyse();
  /// Whether the analysed structure has all blocks that matter by far, and not too many others.
  bool analysis_serves();
  /// Of the analysis that is to come, counted in seconds; 0 once there was one.
  double cost_of_first_analysis() {
    return analysed() ? 0 : options_.rates.analysis(system_.size());
  }
  /// Of one factorisation of the analysed structure, counted in seconds.
  double analysed_cost() const;
  /// The same of the matrix as it is now: that goes with the square of the blocks that are kept,
  /// about.
  double cost();
  /// Analyses where that is needed, and factors. @return false if the matrix is not positive
  /// definite; solve() must not be called then
  bool factorise();
  /// x = A^-1 b, with A what was factored.
  void solve(const ConstVectorView& b, const VectorView& x);

  bool analysed() const { return cholesky_ != nullptr; }
  /// Whether blocks are left out.
  bool is_thinned() const { return !kept_.empty(); }
  /// From now on the whole of S.
  void keep_all() { options_.thinning = 0; }
  /// Of the analysed structure's factor.
  double entries() const { return cholesky_->factor_entries(); }

 private:
  void survey();
  bool factorise_shifted();

  Options options_;
  VelocitySystem& system_;
  Info& info_;
  std::unique_ptr<SparseCholesky> cholesky_;  ///< its analysis at least, which also counts the work
  std::unique_ptr<DeviceFactor> on_device_;   ///< the factor, where it is not CHOLMOD's
  std::vector<char> kept_;       ///< which blocks below the diagonal cholesky_ has; empty = all
  std::size_t kept_blocks_ = 0;  ///< their number
  // Of the matrix as it is now:
  bool surveyed_ = false;
  std::size_t present_blocks_ = 0;      ///< that are not small
  bool lacks_ = false;                  ///< whether one of them by far is not in cholesky_
  std::vector<std::int64_t> diagonal_;  ///< where the diagonal is in values_, and their number
  std::vector<double> values_, host_;
  double shift_ = 0;  ///< of the last factorisation, relative to the diagonal
};

}  // namespace ccp
