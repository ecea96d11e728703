#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// A sparse Cholesky factor P A P^T = L L^T in the memory of the device, where A and the vectors
/// are, too: symbolic analysis once, nothing of it on the host afterwards.
class DeviceFactor {
 public:
  virtual ~DeviceFactor() = default;

  /// Numeric factorisation of A with its diagonal times 1 + shift. @param values  of the lower
  /// triangle, as the pattern has it
  /// @return false if that is not positive definite (or has NaN entries); solve() must not be
  ///         called then
  virtual bool factorize(const DeviceArray<const double*>& values, double shift) = 0;
  /// x = A^-1 x.
  virtual void solve(const VectorView& x) = 0;
};

#ifdef KOKKOS_ENABLE_CUDA
inline constexpr bool has_cusolver = true;
#else
inline constexpr bool has_cusolver = false;
#endif

/// That of cuSOLVER (csrchol), in builds that have it only. The pattern is that of SparseCholesky.
/// @param order  the unknown at each place of the elimination
/// @throws InputError for a matrix whose entries, both triangles, 32-bit indices do not count
std::unique_ptr<DeviceFactor> make_cusolver_factor(const std::vector<std::int64_t>& column_offsets,
                                                   const std::vector<int>& rows,
                                                   const std::vector<int>& order);

}  // namespace ccp
