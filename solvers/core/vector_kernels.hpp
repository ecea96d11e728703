#pragma once

#include <type_traits>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// The vector work of Krylov methods. Tpetra's own kernels are compiled without vector instructions
/// in Debian's package and take about twice as long where vectors do not fit the second-level
/// cache.
namespace vector_kernels {

inline constexpr bool on_host = std::is_same_v<MemSpace, Kokkos::HostSpace>;

/// z = a x; z may be x. Where a = 0, x is not read.
inline void scale(double a, const ConstVectorView& x, const VectorView& z) {
  if (a == 0) {
    Kokkos::deep_copy(ExecSpace(), z, 0.0);
  } else if (x.data() != z.data() || a != 1) {
    Kokkos::parallel_for(
        "ccp::vector::scale", range(z.extent(0)), KOKKOS_LAMBDA(const int i) { z(i) = a * x(i); });
  }
}

/// z = a x + b y; z may be x or y. What has the coefficient zero is not read, as in the BLAS: Belos
/// adds into vectors that nobody has filled.
inline void add(double a, const ConstVectorView& x, double b, const ConstVectorView& y,
                const VectorView& z) {
  if (b == 0) return scale(a, x, z);
  if (a == 0) return scale(b, y, z);
  const std::size_t size = z.extent(0);
  // A loop over two different arrays vectorises; three of which two are the same do not.
  if (y.data() == z.data()) {
    if (b == 1) {
      Kokkos::parallel_for(
          "ccp::vector::add", range(size), KOKKOS_LAMBDA(const int i) { z(i) += a * x(i); });
    } else {
      Kokkos::parallel_for(
          "ccp::vector::add", range(size),
          KOKKOS_LAMBDA(const int i) { z(i) = a * x(i) + b * z(i); });
    }
  } else if (x.data() == z.data()) {
    Kokkos::parallel_for(
        "ccp::vector::add", range(size),
        KOKKOS_LAMBDA(const int i) { z(i) = a * z(i) + b * y(i); });
  } else {
    Kokkos::parallel_for(
        "ccp::vector::add", range(size),
        KOKKOS_LAMBDA(const int i) { z(i) = a * x(i) + b * y(i); });
  }
}

/// x . y on the host, in blocks with eight running sums each, which vectorise. The result depends
/// on the number of threads only through the order in which blocks are added.
inline double dot_in_blocks(const ConstVectorView& x, const ConstVectorView& y) {
  constexpr std::size_t block = 2048, lanes = 8;
  const std::size_t size = x.extent(0), blocks = (size + block - 1) / block;
  const double* const a = x.data();
  const double* const b = y.data();
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::vector::dot", range(blocks),
      KOKKOS_LAMBDA(const int k, double& total) {
        const std::size_t begin = k * block, end = begin + block < size ? begin + block : size;
        double lane[lanes] = {};
        std::size_t i = begin;
        for (; i + lanes <= end; i += lanes) {
          for (std::size_t l = 0; l < lanes; ++l) lane[l] += a[i + l] * b[i + l];
        }
        for (; i < end; ++i) lane[0] += a[i] * b[i];
        for (std::size_t l = 0; l < lanes; ++l) total += lane[l];
      },
      sum);
  return sum;
}

/// x . y entry by entry, as devices like it.
inline double dot_by_entries(const ConstVectorView& x, const ConstVectorView& y) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::vector::dot", range(x.extent(0)),
      KOKKOS_LAMBDA(const int i, double& total) { total += x(i) * y(i); }, sum);
  return sum;
}

inline double dot(const ConstVectorView& x, const ConstVectorView& y) {
  return on_host ? dot_in_blocks(x, y) : dot_by_entries(x, y);
}

}  // namespace vector_kernels
}  // namespace ccp
